"""What a model was sent.

Never edited: a change of the schema is a migration of its own.
"""

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    pass
