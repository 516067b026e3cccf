"""Bringing a database to the newest schema, with a service's own numbered migrations."""

from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text

from kernel.errors import FailedPrecondition
from kernel.storage.engine import Engines

# One migration at a time, however many replicas start together. Any fixed number will do.
_ADVISORY_LOCK = 7205759403792794


async def migrate(engines: Engines, scripts: Path) -> str:
    """Applies what is missing, in one transaction; nothing when there is nothing. -> revision"""
    async with engines.writing() as connection:
        return await connection.run_sync(_upgrade, scripts)


def _upgrade(connection: Connection, scripts: Path) -> str:
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _ADVISORY_LOCK})
    config = Config()
    config.set_main_option("script_location", str(scripts))
    config.attributes["connection"] = connection
    known = ScriptDirectory.from_config(config)
    newest = known.get_current_head() or ""
    current = MigrationContext.configure(connection).get_current_revision()
    if current is not None and current not in {script.revision for script in known.walk_revisions()}:
        raise FailedPrecondition(
            "INVALID",
            f"The database has schema {current}, which this version does not know: start the version that"
            " made it, or a newer one.",
        )
    if current != newest:
        command.upgrade(config, "head")
    return newest


def run_env(target_metadata: Any) -> None:
    """The body of a service's `migrations/env.py`: alembic calls it inside `command.upgrade`."""
    from alembic import context

    connection = context.config.attributes["connection"]
    context.configure(connection=connection, target_metadata=target_metadata)
    context.run_migrations()
