"""Search over messages.

Never edited: a change of the schema is a migration of its own.
"""

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    pass
