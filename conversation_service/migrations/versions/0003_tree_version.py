"""A number that changes when floors may get other siblings: so positions can be kept beside cached paths.

Never edited: a change of the schema is a migration of its own.
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("session", sa.Column("forks", sa.BigInteger(), server_default="0", nullable=False))
