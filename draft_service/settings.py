"""The environment's settings, checked before anything starts."""

from datetime import timedelta

from pydantic import Field

from draft_service.domain.draft import Ages
from kernel import service_settings
from kernel.service_settings import Age, BadSettings, ServiceSettings, explained

__all__ = ["BadSettings", "Settings", "check_auth", "explained", "secret_keys"]

_DEFAULT = "127.0.0.1:50052"


class Settings(ServiceSettings):
    """`STEMMA_` variables; see the table in the README."""

    draft: str = _DEFAULT
    draft_database_url: str = ""
    # MCP servers that drafts may use, and none else: what they reach must not be canon (D6).
    draft_mcp_servers: str = Field(default="", repr=False)
    # The conversation service, as dialled.
    conversation: str = "127.0.0.1:50051"
    # How long a draft lives, how long an ended one can be read, and one that is kept for debugging.
    draft_max_age: Age = timedelta(days=7)
    draft_grace: Age = timedelta(hours=1)
    draft_debug_keep: Age = timedelta(days=30)

    @property
    def database_url(self) -> str:
        return self.draft_database_url or f"sqlite:///{self.data / 'draft.db'}"

    @property
    def ages(self) -> Ages:
        return Ages(self.draft_max_age, self.draft_grace, self.draft_debug_keep)


def check_auth(settings: Settings) -> None:
    service_settings.check_auth(settings.auth, "STEMMA_DRAFT", settings.draft, _DEFAULT)


def secret_keys(settings: Settings) -> list[bytes]:
    """The keys that seal page tokens, newest first."""
    return service_settings.secret_keys(settings.secret_key, settings.database_url, settings.data)
