"""The environment's settings, checked before anything starts."""

from pydantic import Field

from kernel import service_settings
from kernel.service_settings import (
    AgeOrEver,
    BadSettings,
    ServiceSettings,
    explained,
    guard,
    mcp_servers,
)

__all__ = [
    "BadSettings",
    "Settings",
    "auth_is_on",
    "check_processes",
    "explained",
    "guard",
    "mcp_servers",
    "secret_keys",
]

_DEFAULT = "127.0.0.1:50051"


class Settings(ServiceSettings):
    """`STEMMA_` variables; see the table in the README."""

    # Where to listen; port 0 picks one.
    conversation: str = _DEFAULT
    # `postgresql://…`; empty: a SQLite file in STEMMA_DATA.
    conversation_database_url: str = ""
    # How many processes share the address; more than one is for PostgreSQL.
    processes: int = Field(default=1, ge=1, le=64)
    # Where GET /metrics is answered, for Prometheus; empty: nowhere. With several processes each has a port
    # of its own, from this one on.
    conversation_metrics: str = ""
    # How long events are kept: 30d, 12h, 90m; empty: for ever.
    event_retention: AgeOrEver = None
    # MCP servers of the operator's, as JSON or a file's path; see kernel/tools/mcp_settings.py.
    mcp_servers: str = Field(default="", repr=False)

    @property
    def database_url(self) -> str:
        return self.conversation_database_url or f"sqlite:///{self.data / 'conversation.db'}"


def auth_is_on(settings: Settings) -> bool:
    """Raises BadSettings."""
    return service_settings.auth_is_on(settings.auth, "STEMMA_CONVERSATION", settings.conversation, _DEFAULT)


def check_processes(settings: Settings) -> None:
    """A SQLite file belongs to one process."""
    if settings.processes > 1 and settings.database_url.startswith("sqlite"):
        raise BadSettings("STEMMA_PROCESSES is for PostgreSQL: a SQLite file belongs to one process.")


def secret_keys(settings: Settings) -> list[bytes]:
    """The keys that seal page tokens, newest first."""
    return service_settings.secret_keys(settings.secret_key, settings.database_url, settings.data)
