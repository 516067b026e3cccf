"""Who did what: a chain of entries for each tenant.

Never edited: a change of the schema is a migration of its own.
"""

from kernel.storage.frozen import audit

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    audit.upgrade()
