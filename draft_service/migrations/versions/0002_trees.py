"""Trees: floors and what refers to them.

Never edited: a change of the schema is a migration of its own.
"""

import sqlalchemy as sa
from alembic import op

from kernel.storage.types import Id, Time

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _head_move()
    _prompt_block()
    _segment()
    _staged_write()
    _state_copy()
    _floor()
    _branch()
    _page()
    _prompt()
    _run()
    _left_leaf()


def _effects() -> list[sa.Column[object]]:
    return [
        sa.Column("effects", sa.LargeBinary(), nullable=True),
        sa.Column("effects_digest", sa.LargeBinary(32), nullable=True),
        sa.Column("effects_facts", sa.String(), nullable=True),
    ]


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
            name="head_move_session_fk",
        ),
        sa.PrimaryKeyConstraint("tenant_id", "session_id", "branch", "number", name="head_move_pk"),
    )


def _prompt_block() -> None:
    op.create_table(
        "prompt_block",
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("session_id", Id(), nullable=False),
        sa.Column("digest", sa.LargeBinary(32), nullable=False),
        sa.Column("blob", sa.LargeBinary(), nullable=False),
        sa.Column("facts", sa.LargeBinary(), nullable=False),
        sa.Column("items", sa.String(), server_default="", nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "session_id"],
            ["session.tenant_id", "session.session_id"],
            name="prompt_block_session_fk",
        ),
        sa.PrimaryKeyConstraint("tenant_id", "session_id", "digest", name="prompt_block_pk"),
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
            name="segment_session_fk",
        ),
        sa.PrimaryKeyConstraint("tenant_id", "session_id", "segment", name="segment_pk"),
    )
    op.create_index(
        "segment_parent_ix",
        "segment",
        ["tenant_id", "session_id", "parent_segment", "parent_depth", "segment"],
    )


def _staged_write() -> None:
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
        sa.PrimaryKeyConstraint("tenant_id", "staged_write_id", name="staged_write_pk"),
    )
    _staged_write_indexes()


def _staged_write_indexes() -> None:
    op.create_index(
        "staged_write_create_time_ix", "staged_write", ["tenant_id", "create_time", "staged_write_id"]
    )
    op.create_index(
        "staged_write_expire_ix",
        "staged_write",
        ["expire_time"],
        sqlite_where=sa.text("state = 'staged'"),
        postgresql_where=sa.text("state = 'staged'"),
    )
    op.create_index(
        "staged_write_project_ix",
        "staged_write",
        ["tenant_id", "project_id", "create_time", "staged_write_id"],
    )
    op.create_index(
        "staged_write_session_ix",
        "staged_write",
        ["tenant_id", "session_id", "create_time", "staged_write_id"],
    )


def _state_copy() -> None:
    op.create_table(
        "state_copy",
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("session_id", Id(), nullable=False),
        sa.Column("floor_id", Id(), nullable=False),
        sa.Column("state", sa.String(), server_default="", nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "session_id"],
            ["session.tenant_id", "session.session_id"],
            name="state_copy_session_fk",
        ),
        sa.PrimaryKeyConstraint("tenant_id", "session_id", "floor_id", name="state_copy_pk"),
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
        sa.Column("usage_in", sa.BigInteger(), nullable=True),
        sa.Column("usage_out", sa.BigInteger(), nullable=True),
        sa.Column("usage_estimated", sa.Boolean(), nullable=True),
        sa.Column("run_id", Id(), nullable=True),
        sa.Column("failure_reason", sa.String(), server_default="", nullable=False),
        sa.Column("principal", sa.String(), server_default="", nullable=False),
        sa.Column("branch", sa.String(), server_default="", nullable=False),
        sa.Column("create_time", Time(), nullable=False),
        sa.Column("commit_time", Time(), nullable=True),
        *_effects(),
        sa.Column("effects_above_id", Id(), nullable=True),
        sa.Column("state_debt", sa.SmallInteger(), server_default="0", nullable=False),
        sa.Column("state_size", sa.Integer(), server_default="0", nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "session_id", "parent_segment", "parent_depth"],
            ["floor.tenant_id", "floor.session_id", "floor.segment", "floor.depth"],
            name="floor_floor_fk",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "session_id", "segment"],
            ["segment.tenant_id", "segment.session_id", "segment.segment"],
            name="floor_segment_fk",
        ),
        sa.PrimaryKeyConstraint("tenant_id", "session_id", "segment", "depth", name="floor_pk"),
        sa.UniqueConstraint("tenant_id", "floor_id", name="floor_id_uq"),
    )
    op.create_index("floor_parent_ix", "floor", ["tenant_id", "session_id", "parent_segment", "parent_depth"])


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
            ["tenant_id", "session_id"], ["session.tenant_id", "session.session_id"], name="branch_session_fk"
        ),
        sa.PrimaryKeyConstraint("tenant_id", "session_id", "name", name="branch_pk"),
    )
    op.create_index("branch_head_ix", "branch", ["tenant_id", "head_floor_id"])


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
        sa.Column("digest", sa.LargeBinary(32), nullable=True),
        sa.Column("tokens", sa.Integer(), nullable=True),
        sa.Column("partial", sa.Boolean(), nullable=True),
        sa.Column("source", sa.String(), nullable=True),
        sa.Column("time", Time(), nullable=True),
        *_effects(),
        sa.ForeignKeyConstraint(
            ["tenant_id", "floor_id"], ["floor.tenant_id", "floor.floor_id"], name="page_floor_fk"
        ),
        sa.PrimaryKeyConstraint("tenant_id", "session_id", "floor_id", "number", name="page_pk"),
    )
    op.create_index("page_floor_ix", "page", ["tenant_id", "floor_id"])
    op.create_index("page_id_ix", "page", ["tenant_id", "page_id"])


def _prompt() -> None:
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
        sa.ForeignKeyConstraint(
            ["tenant_id", "floor_id"], ["floor.tenant_id", "floor.floor_id"], name="prompt_floor_fk"
        ),
        sa.PrimaryKeyConstraint("tenant_id", "session_id", "floor_id", name="prompt_pk"),
    )
    op.create_index("prompt_floor_ix", "prompt", ["tenant_id", "floor_id"])


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
            ["tenant_id", "floor_id"], ["floor.tenant_id", "floor.floor_id"], name="run_floor_fk"
        ),
        sa.PrimaryKeyConstraint("tenant_id", "run_id", name="run_pk"),
    )
    op.create_index("run_floor_ix", "run", ["tenant_id", "floor_id"])
    op.create_index(
        "run_running_ix",
        "run",
        ["owner"],
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
            name="left_leaf_branch_fk",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint(
            "tenant_id", "session_id", "branch", "segment", "exit_depth", name="left_leaf_pk"
        ),
    )
