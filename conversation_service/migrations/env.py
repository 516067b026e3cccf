"""Alembic's way in; see `kernel.storage.migrate`."""

from conversation_service.storage.tables import metadata
from kernel.storage.migrate import run_env

run_env(metadata)
