"""Runs that survive their process: a log of their frames, their tool calls, and who has them.

Never edited: a change of the schema is a migration of its own.
"""

from kernel.storage.frozen import durable_runs

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    durable_runs.upgrade()
