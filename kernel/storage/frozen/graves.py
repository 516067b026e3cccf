"""Principals that were erased. Never edited: a change of the schema is a migration of its own."""

import sqlalchemy as sa
from alembic import op

from kernel.storage.types import Time


def upgrade() -> None:
    op.create_table(
        "grave",
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("digest", sa.LargeBinary(32), nullable=False),
        sa.Column("receipt", sa.String(), server_default="", nullable=False),
        sa.Column("create_time", Time(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "digest", name="grave_pk"),
    )
