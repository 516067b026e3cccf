"""Sessions, trees, runs, requests and the feed.

Never edited: a change of the schema is a migration of its own.
"""

import sqlalchemy as sa
from alembic import op

from kernel.storage.types import Id, Time

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    _feed()
    _process()
    _project()
    _request()
    _event()
    _session()
    _head_move()
    _segment()
    _floor()
    _branch()
    _effects()
    _page()
    _run()
    _left_leaf()


def _feed() -> None:
    op.create_table(
        "feed",
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("project_id", Id(), nullable=False),
        sa.Column("last", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "project_id", name=op.f("feed_pk")),
    )


def _process() -> None:
    op.create_table(
        "process",
        sa.Column("owner", Id(), nullable=False),
        sa.Column("lease_time", Time(), nullable=False),
        sa.PrimaryKeyConstraint("owner", name=op.f("process_pk")),
    )


def _project() -> None:
    op.create_table(
        "project",
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("project_id", Id(), nullable=False),
        sa.Column("title", sa.String(), server_default="", nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("create_time", Time(), nullable=False),
        sa.Column("update_time", Time(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "project_id", name=op.f("project_pk")),
    )


def _request() -> None:
    op.create_table(
        "request",
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("principal", sa.String(), nullable=False),
        sa.Column("method", sa.String(), nullable=False),
        sa.Column("request_id", Id(), nullable=False),
        sa.Column("fingerprint", sa.LargeBinary(length=32), nullable=False),
        sa.Column("answer", sa.String(), server_default="", nullable=False),
        sa.Column("create_time", Time(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "principal", "method", "request_id", name=op.f("request_pk")),
    )


def _event() -> None:
    op.create_table(
        "event",
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("project_id", Id(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("event_id", Id(), nullable=False),
        sa.Column("type", sa.String(), nullable=False),
        sa.Column("session_id", Id(), nullable=True),
        sa.Column("floor_id", Id(), nullable=True),
        sa.Column("payload", sa.String(), server_default="", nullable=False),
        sa.Column("commit_time", Time(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "project_id"], ["feed.tenant_id", "feed.project_id"], name=op.f("event_feed_fk")
        ),
        sa.PrimaryKeyConstraint("tenant_id", "project_id", "position", name=op.f("event_pk")),
    )


def _session() -> None:
    op.create_table(
        "session",
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("session_id", Id(), nullable=False),
        sa.Column("project_id", Id(), nullable=False),
        sa.Column("title", sa.String(), server_default="", nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("config", sa.String(), server_default="", nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("root_floor_id", Id(), nullable=False),
        sa.Column("stored_tokens", sa.BigInteger(), nullable=False),
        sa.Column("create_time", Time(), nullable=False),
        sa.Column("update_time", Time(), nullable=False),
        sa.Column("last_activity_time", Time(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "project_id"],
            ["project.tenant_id", "project.project_id"],
            name=op.f("session_project_fk"),
        ),
        sa.PrimaryKeyConstraint("tenant_id", "session_id", name=op.f("session_pk")),
    )
    op.create_index(
        "session_create_time_ix", "session", ["tenant_id", "create_time", "session_id"], unique=False
    )
    op.create_index(
        "session_last_activity_ix", "session", ["tenant_id", "last_activity_time", "session_id"], unique=False
    )


def _head_move() -> None:
    op.create_table(
        "head_move",
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("session_id", Id(), nullable=False),
        sa.Column("branch", sa.String(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("from_floor_id", Id(), nullable=False),
        sa.Column("to_floor_id", Id(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("principal", sa.String(), server_default="", nullable=False),
        sa.Column("move_time", Time(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "session_id"],
            ["session.tenant_id", "session.session_id"],
            name=op.f("head_move_session_fk"),
        ),
        sa.PrimaryKeyConstraint("tenant_id", "session_id", "branch", "number", name=op.f("head_move_pk")),
    )


def _segment() -> None:
    op.create_table(
        "segment",
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("session_id", Id(), nullable=False),
        sa.Column("segment", sa.Integer(), nullable=False),
        sa.Column("parent_segment", sa.Integer(), nullable=True),
        sa.Column("parent_depth", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["tenant_id", "session_id"],
            ["session.tenant_id", "session.session_id"],
            name=op.f("segment_session_fk"),
        ),
        sa.PrimaryKeyConstraint("tenant_id", "session_id", "segment", name=op.f("segment_pk")),
    )
    op.create_index(
        "segment_parent_ix",
        "segment",
        ["tenant_id", "session_id", "parent_segment", "parent_depth", "segment"],
        unique=False,
    )


def _floor() -> None:
    op.create_table(
        "floor",
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("session_id", Id(), nullable=False),
        sa.Column("segment", sa.Integer(), nullable=False),
        sa.Column("depth", sa.Integer(), nullable=False),
        sa.Column("floor_id", Id(), nullable=False),
        sa.Column("parent_floor_id", Id(), nullable=True),
        sa.Column("parent_segment", sa.Integer(), nullable=True),
        sa.Column("parent_depth", sa.Integer(), nullable=True),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("input_page_id", Id(), nullable=True),
        sa.Column("input_origin_id", Id(), nullable=True),
        sa.Column("input_blob", sa.LargeBinary(), nullable=True),
        sa.Column("input_facts", sa.LargeBinary(), nullable=True),
        sa.Column("input_digest", sa.LargeBinary(length=32), nullable=True),
        sa.Column("input_tokens", sa.Integer(), nullable=True),
        sa.Column("input_partial", sa.Boolean(), nullable=True),
        sa.Column("input_source", sa.String(), nullable=True),
        sa.Column("input_time", Time(), nullable=True),
        sa.Column("output_page_id", Id(), nullable=True),
        sa.Column("output_origin_id", Id(), nullable=True),
        sa.Column("output_blob", sa.LargeBinary(), nullable=True),
        sa.Column("output_facts", sa.LargeBinary(), nullable=True),
        sa.Column("output_digest", sa.LargeBinary(length=32), nullable=True),
        sa.Column("output_tokens", sa.Integer(), nullable=True),
        sa.Column("output_partial", sa.Boolean(), nullable=True),
        sa.Column("output_source", sa.String(), nullable=True),
        sa.Column("output_time", Time(), nullable=True),
        sa.Column("digest", sa.LargeBinary(length=32), nullable=True),
        sa.Column("path_tokens", sa.BigInteger(), nullable=False),
        sa.Column("usage_in", sa.BigInteger(), nullable=True),
        sa.Column("usage_out", sa.BigInteger(), nullable=True),
        sa.Column("usage_estimated", sa.Boolean(), nullable=True),
        sa.Column("run_id", Id(), nullable=True),
        sa.Column("failure_reason", sa.String(), server_default="", nullable=False),
        sa.Column("principal", sa.String(), server_default="", nullable=False),
        sa.Column("branch", sa.String(), server_default="", nullable=False),
        sa.Column("create_time", Time(), nullable=False),
        sa.Column("commit_time", Time(), nullable=True),
        sa.ForeignKeyConstraint(
            ["tenant_id", "session_id", "parent_segment", "parent_depth"],
            ["floor.tenant_id", "floor.session_id", "floor.segment", "floor.depth"],
            name=op.f("floor_floor_fk"),
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "session_id", "segment"],
            ["segment.tenant_id", "segment.session_id", "segment.segment"],
            name=op.f("floor_segment_fk"),
        ),
        sa.PrimaryKeyConstraint("tenant_id", "session_id", "segment", "depth", name=op.f("floor_pk")),
        sa.UniqueConstraint("tenant_id", "floor_id", name="floor_id_uq"),
    )


def _branch() -> None:
    op.create_table(
        "branch",
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("session_id", Id(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("head_floor_id", Id(), nullable=False),
        sa.Column("pending_floor_id", Id(), nullable=True),
        sa.Column("failed_floor_id", Id(), nullable=True),
        sa.Column("depth", sa.Integer(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("create_time", Time(), nullable=False),
        sa.Column("update_time", Time(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "head_floor_id"], ["floor.tenant_id", "floor.floor_id"], name="branch_head_fk"
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "session_id"],
            ["session.tenant_id", "session.session_id"],
            name=op.f("branch_session_fk"),
        ),
        sa.PrimaryKeyConstraint("tenant_id", "session_id", "name", name=op.f("branch_pk")),
    )


def _effects() -> None:
    op.create_table(
        "effects",
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("session_id", Id(), nullable=False),
        sa.Column("floor_id", Id(), nullable=False),
        sa.Column("blob", sa.LargeBinary(), nullable=False),
        sa.Column("digest", sa.LargeBinary(length=32), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "floor_id"], ["floor.tenant_id", "floor.floor_id"], name=op.f("effects_floor_fk")
        ),
        sa.PrimaryKeyConstraint("tenant_id", "session_id", "floor_id", name=op.f("effects_pk")),
    )


def _page() -> None:
    op.create_table(
        "page",
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("session_id", Id(), nullable=False),
        sa.Column("floor_id", Id(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("page_id", Id(), nullable=False),
        sa.Column("slot", sa.SmallInteger(), nullable=False),
        sa.Column("origin_id", Id(), nullable=True),
        sa.Column("blob", sa.LargeBinary(), nullable=True),
        sa.Column("facts", sa.LargeBinary(), nullable=True),
        sa.Column("digest", sa.LargeBinary(length=32), nullable=True),
        sa.Column("tokens", sa.Integer(), nullable=True),
        sa.Column("partial", sa.Boolean(), nullable=True),
        sa.Column("source", sa.String(), nullable=True),
        sa.Column("time", Time(), nullable=True),
        sa.ForeignKeyConstraint(
            ["tenant_id", "floor_id"], ["floor.tenant_id", "floor.floor_id"], name=op.f("page_floor_fk")
        ),
        sa.PrimaryKeyConstraint("tenant_id", "session_id", "floor_id", "number", name=op.f("page_pk")),
    )
    op.create_index("page_id_ix", "page", ["tenant_id", "page_id"], unique=False)


def _run() -> None:
    op.create_table(
        "run",
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("run_id", Id(), nullable=False),
        sa.Column("session_id", Id(), nullable=False),
        sa.Column("floor_id", Id(), nullable=False),
        sa.Column("page_id", Id(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("failure_reason", sa.String(), server_default="", nullable=False),
        sa.Column("usage_in", sa.BigInteger(), nullable=True),
        sa.Column("usage_out", sa.BigInteger(), nullable=True),
        sa.Column("usage_estimated", sa.Boolean(), nullable=True),
        sa.Column("owner", Id(), nullable=False),
        sa.Column("last_seq", sa.BigInteger(), nullable=False),
        sa.Column("branch", sa.String(), server_default="", nullable=False),
        sa.Column("create_time", Time(), nullable=False),
        sa.Column("end_time", Time(), nullable=True),
        sa.ForeignKeyConstraint(
            ["tenant_id", "floor_id"], ["floor.tenant_id", "floor.floor_id"], name=op.f("run_floor_fk")
        ),
        sa.PrimaryKeyConstraint("tenant_id", "run_id", name=op.f("run_pk")),
    )
    op.create_index(
        "run_running_ix",
        "run",
        ["owner"],
        unique=False,
        sqlite_where=sa.text("state = 'running'"),
        postgresql_where=sa.text("state = 'running'"),
    )


def _left_leaf() -> None:
    op.create_table(
        "left_leaf",
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("session_id", Id(), nullable=False),
        sa.Column("branch", sa.String(), nullable=False),
        sa.Column("segment", sa.Integer(), nullable=False),
        sa.Column("exit_depth", sa.Integer(), nullable=False),
        sa.Column("leaf_floor_id", Id(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "session_id", "branch"],
            ["branch.tenant_id", "branch.session_id", "branch.name"],
            name=op.f("left_leaf_branch_fk"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint(
            "tenant_id", "session_id", "branch", "segment", "exit_depth", name=op.f("left_leaf_pk")
        ),
    )
