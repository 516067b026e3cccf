"""API keys: who may call, beside tokens of an issuer.

Never edited: a change of the schema is a migration of its own.
"""

import sqlalchemy as sa
from alembic import op

from kernel.storage.types import Id, Time

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "api_key",
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("key_id", Id(), nullable=False),
        sa.Column("digest", sa.LargeBinary(32), nullable=False),
        sa.Column("principal", sa.String(), nullable=False),
        sa.Column("role", sa.String(), server_default="", nullable=False),
        sa.Column("scopes", sa.String(), server_default="", nullable=False),
        sa.Column("title", sa.String(), server_default="", nullable=False),
        sa.Column("created_by", sa.String(), server_default="", nullable=False),
        sa.Column("create_time", Time(), nullable=False),
        sa.Column("expire_time", Time(), nullable=True),
        sa.Column("revoke_time", Time(), nullable=True),
        sa.PrimaryKeyConstraint("tenant_id", "key_id", name="api_key_pk"),
        sa.UniqueConstraint("digest", name="api_key_digest_uq"),
    )
