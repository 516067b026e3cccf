"""What a model was sent, with the floor that it wrote: it can be explained when all else has changed.

Never edited: a change of the schema is a migration of its own.
"""

import sqlalchemy as sa
from alembic import op

from kernel.storage.types import Id

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "prompt_block",
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("session_id", Id(), nullable=False),
        sa.Column("digest", sa.LargeBinary(32), nullable=False),
        sa.Column("blob", sa.LargeBinary(), nullable=False),
        sa.Column("facts", sa.LargeBinary(), nullable=False),
        sa.Column("items", sa.String(), server_default="", nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "session_id", "digest", name="prompt_block_pk"),
        sa.ForeignKeyConstraint(
            ["tenant_id", "session_id"],
            ["session.tenant_id", "session.session_id"],
            name="prompt_block_session_fk",
        ),
    )
    op.create_table(
        "prompt",
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("session_id", Id(), nullable=False),
        sa.Column("floor_id", Id(), nullable=False),
        sa.Column("system_digest", sa.LargeBinary(32), nullable=True),
        sa.Column("memory_digest", sa.LargeBinary(32), nullable=True),
        sa.Column("dropped", sa.Integer(), nullable=False),
        sa.Column("missing", sa.String(), server_default="", nullable=False),
        sa.Column("options", sa.String(), server_default="", nullable=False),
        sa.Column("token_counter", sa.String(), server_default="", nullable=False),
        sa.Column("config_version", sa.String(), server_default="", nullable=False),
        sa.Column("live_version", sa.String(), server_default="", nullable=False),
        sa.Column("tokens_abandoned", sa.BigInteger(), nullable=False),
        sa.Column("context_digest", sa.LargeBinary(32), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "session_id", "floor_id", name="prompt_pk"),
        sa.ForeignKeyConstraint(
            ["tenant_id", "floor_id"], ["floor.tenant_id", "floor.floor_id"], name="prompt_floor_fk"
        ),
    )
    op.create_index("prompt_floor_ix", "prompt", ["tenant_id", "floor_id"])
