"""Alembic's way in; see `kernel.storage.migrate`."""

from kernel.storage.migrate import run_env
from kernel.storage.tables import metadata

run_env(metadata)
