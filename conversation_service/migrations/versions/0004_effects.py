"""Effects of floors, live values and copies of state.

Never edited: a change of the schema is a migration of its own.
"""

import sqlalchemy as sa
from alembic import op

from kernel.storage.types import Id, Time

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # It was never written to: effects are columns of the floor that has them.
    op.drop_table("effects")
    for table in ("floor", "page"):
        op.add_column(table, sa.Column("effects", sa.LargeBinary(), nullable=True))
        op.add_column(table, sa.Column("effects_digest", sa.LargeBinary(length=32), nullable=True))
        op.add_column(table, sa.Column("effects_facts", sa.String(), nullable=True))
    op.add_column("floor", sa.Column("effects_above_id", Id(), nullable=True))
    op.add_column("floor", sa.Column("state_debt", sa.SmallInteger(), server_default="0", nullable=False))
    op.add_column("floor", sa.Column("state_size", sa.Integer(), server_default="0", nullable=False))
    _create_state_copy()
    _create_live_values()


def _create_state_copy() -> None:
    op.create_table(
        "state_copy",
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("session_id", Id(), nullable=False),
        sa.Column("floor_id", Id(), nullable=False),
        sa.Column("state", sa.String(), server_default="", nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "session_id"],
            ["session.tenant_id", "session.session_id"],
            name=op.f("state_copy_session_fk"),
        ),
        sa.PrimaryKeyConstraint("tenant_id", "session_id", "floor_id", name=op.f("state_copy_pk")),
    )


def _create_live_values() -> None:
    op.create_table(
        "live_layer",
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("owner_id", Id(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "owner_id", name=op.f("live_layer_pk")),
    )
    op.create_table(
        "live_value",
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("owner_id", Id(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("value", sa.String(), server_default="", nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("principal", sa.String(), server_default="", nullable=False),
        sa.Column("update_time", Time(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "owner_id"],
            ["live_layer.tenant_id", "live_layer.owner_id"],
            name=op.f("live_value_live_layer_fk"),
        ),
        sa.PrimaryKeyConstraint("tenant_id", "owner_id", "key", name=op.f("live_value_pk")),
    )
