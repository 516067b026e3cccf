"""Runs that survive their process. Never edited: a change of the schema is a migration of its own."""

import sqlalchemy as sa
from alembic import op

from kernel.storage.types import Id, Time


def upgrade() -> None:
    _run()
    _run_chunk()
    _tool_call()


def _run() -> None:
    op.add_column("run", sa.Column("epoch", sa.BigInteger(), server_default="1", nullable=False))
    op.add_column("run", sa.Column("plan", sa.String(), server_default="", nullable=False))
    op.add_column("run", sa.Column("asked", sa.String(), server_default="", nullable=False))
    op.add_column("run", sa.Column("wait_time", Time(), nullable=True))
    op.add_column("run", sa.Column("logged", sa.Boolean(), server_default=sa.false(), nullable=False))
    waiting, logged = sa.text("state = 'waiting'"), sa.text("logged")
    op.create_index("run_waiting_ix", "run", ["wait_time"], sqlite_where=waiting, postgresql_where=waiting)
    op.create_index("run_logged_ix", "run", ["end_time"], sqlite_where=logged, postgresql_where=logged)


def _run_chunk() -> None:
    op.create_table(
        "run_chunk",
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("run_id", Id(), nullable=False),
        sa.Column("epoch", sa.BigInteger(), nullable=False),
        sa.Column("first_seq", sa.BigInteger(), nullable=False),
        sa.Column("last_seq", sa.BigInteger(), nullable=False),
        sa.Column("session_id", Id(), nullable=False),
        sa.Column("events", sa.String(), server_default="", nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "run_id", "epoch", "first_seq", name="run_chunk_pk"),
        sa.ForeignKeyConstraint(
            ["tenant_id", "run_id"], ["run.tenant_id", "run.run_id"], name="run_chunk_run_fk"
        ),
    )
    op.create_index("run_chunk_session_ix", "run_chunk", ["tenant_id", "session_id"])


def _tool_call() -> None:
    op.create_table(
        "tool_call",
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("run_id", Id(), nullable=False),
        sa.Column("call_id", sa.String(), nullable=False),
        sa.Column("session_id", Id(), nullable=False),
        sa.Column("page_id", Id(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), server_default="", nullable=False),
        sa.Column("arguments", sa.String(), server_default="", nullable=False),
        sa.Column("owner", sa.SmallInteger(), nullable=False),
        sa.Column("server", sa.String(), server_default="", nullable=False),
        sa.Column("side_effect", sa.SmallInteger(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("create_time", Time(), nullable=False),
        sa.Column("end_time", Time(), nullable=True),
        sa.Column("decision", sa.String(), server_default="", nullable=False),
        sa.Column("decided_by", sa.String(), server_default="", nullable=False),
        sa.Column("reason", sa.String(), server_default="", nullable=False),
        sa.Column("content", sa.String(), server_default="", nullable=False),
        sa.Column("is_error", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "run_id", "call_id", name="tool_call_pk"),
        sa.ForeignKeyConstraint(
            ["tenant_id", "run_id"], ["run.tenant_id", "run.run_id"], name="tool_call_run_fk"
        ),
    )
    op.create_index("tool_call_session_ix", "tool_call", ["tenant_id", "session_id"])
