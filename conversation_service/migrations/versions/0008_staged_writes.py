"""The ledger: what waits for somebody's decision before it becomes canon.

Never edited: a change of the schema is a migration of its own.
"""

import sqlalchemy as sa
from alembic import op

from kernel.storage.types import Id, Time

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "staged_write",
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("staged_write_id", Id(), nullable=False),
        sa.Column("project_id", Id(), nullable=False),
        sa.Column("session_id", Id(), nullable=True),
        sa.Column("branch", sa.String(), server_default="", nullable=False),
        sa.Column("floor_id", Id(), nullable=True),
        sa.Column("placement", sa.SmallInteger(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("kinds", sa.String(), server_default="", nullable=False),
        sa.Column("input_blob", sa.LargeBinary(), nullable=True),
        sa.Column("input_facts", sa.LargeBinary(), nullable=True),
        sa.Column("output_blob", sa.LargeBinary(), nullable=True),
        sa.Column("output_facts", sa.LargeBinary(), nullable=True),
        sa.Column("operations", sa.String(), nullable=True),
        sa.Column("effects", sa.LargeBinary(), nullable=True),
        sa.Column("covers", sa.String(), nullable=True),
        sa.Column("draft_id", Id(), nullable=True),
        sa.Column("page_id", Id(), nullable=True),
        sa.Column("snapshot_digest", sa.String(), server_default="", nullable=False),
        sa.Column("base_floor_id", Id(), nullable=True),
        sa.Column("base_version", sa.BigInteger(), nullable=False),
        sa.Column("reason", sa.String(), server_default="", nullable=False),
        sa.Column("staged_by", sa.String(), server_default="", nullable=False),
        sa.Column("decided_by", sa.String(), server_default="", nullable=False),
        sa.Column("decision_reason", sa.String(), server_default="", nullable=False),
        sa.Column("result_floor_id", Id(), nullable=True),
        sa.Column("stale", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("create_time", Time(), nullable=False),
        sa.Column("decide_time", Time(), nullable=True),
        sa.Column("expire_time", Time(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "staged_write_id", name="staged_write_pk"),
        sa.ForeignKeyConstraint(
            ["tenant_id", "project_id"],
            ["project.tenant_id", "project.project_id"],
            name="staged_write_project_fk",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "session_id"],
            ["session.tenant_id", "session.session_id"],
            name="staged_write_session_fk",
        ),
    )
    order = ["create_time", "staged_write_id"]
    op.create_index("staged_write_create_time_ix", "staged_write", ["tenant_id", *order])
    op.create_index("staged_write_project_ix", "staged_write", ["tenant_id", "project_id", *order])
    op.create_index("staged_write_session_ix", "staged_write", ["tenant_id", "session_id", *order])
    undecided = sa.text("state = 'staged'")
    op.create_index(
        "staged_write_expire_ix",
        "staged_write",
        ["expire_time"],
        sqlite_where=undecided,
        postgresql_where=undecided,
    )
