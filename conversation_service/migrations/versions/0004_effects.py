"""Effects of floors, live values and copies of state.

Never edited: a change of the schema is a migration of its own.
"""

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    pass
