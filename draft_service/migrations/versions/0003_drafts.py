"""Drafts, the frozen copies below them, and what leaves them.

Never edited: a change of the schema is a migration of its own.
"""

import sqlalchemy as sa
from alembic import op

from kernel.storage.types import Id, Time

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _draft_audit()
    _snapshot()
    _snapshot_floor()
    _draft()
    _export()
    _proposal()


def _draft_audit() -> None:
    op.create_table(
        "draft_audit",
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("draft_id", Id(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("action", sa.String(), nullable=False),
        sa.Column("principal", sa.String(), server_default="", nullable=False),
        sa.Column("details", sa.String(), server_default="", nullable=False),
        sa.Column("time", Time(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "draft_id", "number", name="draft_audit_pk"),
    )


def _snapshot() -> None:
    op.create_table(
        "snapshot",
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("source_id", Id(), nullable=False),
        sa.Column("digest", sa.LargeBinary(32), nullable=False),
        sa.Column("refs", sa.BigInteger(), nullable=False),
        sa.Column("floor_count", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(), server_default="", nullable=False),
        sa.Column("create_time", Time(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "source_id", "digest", name="snapshot_pk"),
    )


def _snapshot_floor() -> None:
    op.create_table(
        "snapshot_floor",
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("source_id", Id(), nullable=False),
        sa.Column("snapshot_digest", sa.LargeBinary(32), nullable=False),
        sa.Column("depth", sa.Integer(), nullable=False),
        sa.Column("floor_id", Id(), nullable=False),
        sa.Column("parent_floor_id", Id(), nullable=True),
        sa.Column("input_page_id", Id(), nullable=True),
        sa.Column("input_origin_id", Id(), nullable=True),
        sa.Column("input_blob", sa.LargeBinary(), nullable=True),
        sa.Column("input_facts", sa.LargeBinary(), nullable=True),
        sa.Column("input_digest", sa.LargeBinary(32), nullable=True),
        sa.Column("input_tokens", sa.Integer(), nullable=True),
        sa.Column("input_partial", sa.Boolean(), nullable=True),
        sa.Column("input_source", sa.String(), nullable=True),
        sa.Column("input_time", Time(), nullable=True),
        sa.Column("output_page_id", Id(), nullable=True),
        sa.Column("output_origin_id", Id(), nullable=True),
        sa.Column("output_blob", sa.LargeBinary(), nullable=True),
        sa.Column("output_facts", sa.LargeBinary(), nullable=True),
        sa.Column("output_digest", sa.LargeBinary(32), nullable=True),
        sa.Column("output_tokens", sa.Integer(), nullable=True),
        sa.Column("output_partial", sa.Boolean(), nullable=True),
        sa.Column("output_source", sa.String(), nullable=True),
        sa.Column("output_time", Time(), nullable=True),
        sa.Column("digest", sa.LargeBinary(32), nullable=True),
        sa.Column("path_tokens", sa.BigInteger(), nullable=False),
        sa.Column("principal", sa.String(), nullable=False),
        sa.Column("create_time", Time(), nullable=False),
        sa.Column("commit_time", Time(), nullable=True),
        sa.Column("effects", sa.LargeBinary(), nullable=True),
        sa.Column("effects_digest", sa.LargeBinary(32), nullable=True),
        sa.Column("effects_facts", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(
            ["tenant_id", "source_id", "snapshot_digest"],
            ["snapshot.tenant_id", "snapshot.source_id", "snapshot.digest"],
            name="snapshot_floor_snapshot_fk",
        ),
        sa.PrimaryKeyConstraint(
            "tenant_id", "source_id", "snapshot_digest", "depth", name="snapshot_floor_pk"
        ),
    )


def _draft() -> None:
    op.create_table(
        "draft",
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("draft_id", Id(), nullable=False),
        sa.Column("own_project_id", Id(), nullable=False),
        sa.Column("project_id", Id(), nullable=False),
        sa.Column("source_session_id", Id(), nullable=True),
        sa.Column("source_floor_id", Id(), nullable=True),
        sa.Column("base_floor_id", Id(), nullable=True),
        sa.Column("project_version", sa.BigInteger(), nullable=False),
        sa.Column("session_version", sa.BigInteger(), nullable=False),
        sa.Column("project_live_version", sa.BigInteger(), nullable=False),
        sa.Column("session_live_version", sa.BigInteger(), nullable=False),
        sa.Column("source_id", Id(), nullable=False),
        sa.Column("snapshot_digest", sa.LargeBinary(32), nullable=False),
        sa.Column("config_digest", sa.LargeBinary(32), nullable=False),
        sa.Column("title", sa.String(), server_default="", nullable=False),
        sa.Column("purpose", sa.String(), server_default="", nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("retention", sa.SmallInteger(), nullable=False),
        sa.Column("visibility", sa.SmallInteger(), nullable=False),
        sa.Column("metadata", sa.String(), server_default="", nullable=False),
        sa.Column("origin_run_id", sa.String(), server_default="", nullable=False),
        sa.Column("origin_draft_id", sa.String(), server_default="", nullable=False),
        sa.Column("created_by", sa.String(), server_default="", nullable=False),
        sa.Column("ended_by", sa.String(), server_default="", nullable=False),
        sa.Column("end_reason", sa.String(), server_default="", nullable=False),
        sa.Column("create_time", Time(), nullable=False),
        sa.Column("expire_time", Time(), nullable=False),
        sa.Column("keep", sa.BigInteger(), nullable=False),
        sa.Column("end_time", Time(), nullable=True),
        sa.Column("purge_time", Time(), nullable=True),
        sa.ForeignKeyConstraint(
            ["tenant_id", "draft_id"], ["session.tenant_id", "session.session_id"], name="draft_session_fk"
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "source_id", "snapshot_digest"],
            ["snapshot.tenant_id", "snapshot.source_id", "snapshot.digest"],
            name="draft_snapshot_fk",
        ),
        sa.PrimaryKeyConstraint("tenant_id", "draft_id", name="draft_pk"),
    )
    op.create_index("draft_create_time_ix", "draft", ["tenant_id", "create_time", "draft_id"])
    op.create_index(
        "draft_expire_ix",
        "draft",
        ["expire_time"],
        sqlite_where=sa.text("state = 'active'"),
        postgresql_where=sa.text("state = 'active'"),
    )
    op.create_index(
        "draft_purge_ix",
        "draft",
        ["purge_time"],
        sqlite_where=sa.text("purge_time IS NOT NULL"),
        postgresql_where=sa.text("purge_time IS NOT NULL"),
    )
    op.create_index("draft_snapshot_ix", "draft", ["tenant_id", "source_id", "snapshot_digest"])


def _export() -> None:
    op.create_table(
        "export",
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("draft_id", Id(), nullable=False),
        sa.Column("export_id", Id(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("principal", sa.String(), server_default="", nullable=False),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.Column("source_page_id", Id(), nullable=True),
        sa.Column("staged_write_id", Id(), nullable=True),
        sa.Column("failure", sa.String(), server_default="", nullable=False),
        sa.Column("finalize", sa.Boolean(), nullable=False),
        sa.Column("create_time", Time(), nullable=False),
        sa.Column("settle_time", Time(), nullable=True),
        sa.ForeignKeyConstraint(
            ["tenant_id", "draft_id"], ["draft.tenant_id", "draft.draft_id"], name="export_draft_fk"
        ),
        sa.PrimaryKeyConstraint("tenant_id", "draft_id", "export_id", name="export_pk"),
    )
    op.create_index(
        "export_pending_ix",
        "export",
        ["create_time"],
        sqlite_where=sa.text("state = 'pending'"),
        postgresql_where=sa.text("state = 'pending'"),
    )


def _proposal() -> None:
    op.create_table(
        "proposal",
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("draft_id", Id(), nullable=False),
        sa.Column("proposal_id", Id(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("floor_id", Id(), nullable=False),
        sa.Column("run_id", Id(), nullable=True),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.Column("covers", sa.String(), server_default="[]", nullable=False),
        sa.Column("create_time", Time(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "draft_id"], ["draft.tenant_id", "draft.draft_id"], name="proposal_draft_fk"
        ),
        sa.PrimaryKeyConstraint("tenant_id", "draft_id", "proposal_id", name="proposal_pk"),
    )
    op.create_index("proposal_number_ix", "proposal", ["tenant_id", "draft_id", "number"])
