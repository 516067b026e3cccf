"""The environment's settings, checked before anything starts."""

from datetime import timedelta

from pydantic import Field, field_validator

from draft_service.domain.draft import Ages
from kernel import service_settings
from kernel.rpc.dial import target
from kernel.service_settings import Age, BadSettings, ServiceSettings, explained

__all__ = ["BadSettings", "Settings", "auth_is_on", "explained", "secret_keys"]

_DEFAULT = "127.0.0.1:50052"


class Settings(ServiceSettings):
    """`STEMMA_` variables; see the table in the README."""

    # Where to listen; port 0 picks one.
    draft: str = _DEFAULT
    # `postgresql://…`; empty: a SQLite file in STEMMA_DATA.
    draft_database_url: str = ""
    # Where GET /metrics is answered, for Prometheus; empty: nowhere.
    draft_metrics: str = ""
    # MCP servers that drafts may use, and none else: what they reach must not be canon (D6).
    draft_mcp_servers: str = Field(default="", repr=False)
    # The conversation service, as dialled; several replicas by commas.
    conversation: str = "127.0.0.1:50051"
    # How long a draft lives, how long an ended one can be read, and one that is kept for debugging.
    draft_max_age: Age = timedelta(days=7)
    draft_grace: Age = timedelta(hours=1)
    draft_debug_keep: Age = timedelta(days=30)

    @field_validator("conversation")
    @classmethod
    def _check_replicas(cls, value: str) -> str:
        target(value)
        return value

    @property
    def database_url(self) -> str:
        return self.draft_database_url or f"sqlite:///{self.data / 'draft.db'}"

    @property
    def ages(self) -> Ages:
        return Ages(self.draft_max_age, self.draft_grace, self.draft_debug_keep)


def auth_is_on(settings: Settings) -> bool:
    """Raises BadSettings."""
    return service_settings.auth_is_on(settings.auth, "STEMMA_DRAFT", settings.draft, _DEFAULT)


def secret_keys(settings: Settings) -> list[bytes]:
    """The keys that seal page tokens, newest first."""
    return service_settings.secret_keys(settings.secret_key, settings.database_url, settings.data)
