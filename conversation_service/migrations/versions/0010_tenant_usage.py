"""What a tenant uses, for quotas: tokens of a day, and its stored bytes as they were summed last.

Never edited: a change of the schema is a migration of its own.
"""

from kernel.storage.frozen import tenant_usage

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    tenant_usage.upgrade()
