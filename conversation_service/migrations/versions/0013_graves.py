"""Graves: whose data was erased writes nothing more.

Never edited: a change of the schema is a migration of its own.
"""

from kernel.storage.frozen import graves

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    graves.upgrade()
