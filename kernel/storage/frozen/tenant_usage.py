"""What a tenant uses. Never edited: a change of the schema is a migration of its own."""

import sqlalchemy as sa
from alembic import op

from kernel.storage.types import Time


def upgrade() -> None:
    op.create_table(
        "tenant_usage",
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("day", sa.Integer(), nullable=False),
        sa.Column("stripe", sa.SmallInteger(), nullable=False),
        sa.Column("value", sa.BigInteger(), nullable=False),
        sa.Column("update_time", Time(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "kind", "day", "stripe", name="tenant_usage_pk"),
    )
