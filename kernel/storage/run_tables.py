"""The log of running runs, and their tool calls."""

from sqlalchemy import (
    Boolean,
    Column,
    ForeignKeyConstraint,
    Index,
    MetaData,
    PrimaryKeyConstraint,
    SmallInteger,
    String,
    Table,
    false,
)

from kernel.storage.columns import big_column, id_column, int_column, tenant_column, text_column, time_column

_RUN = ["tenant_id", "run_id"]
_RUN_KEY = ["run.tenant_id", "run.run_id"]


def run_tables(metadata: MetaData) -> tuple[Table, Table]:
    """`run_chunk` and `tool_call`."""
    # Some frames of a run, as many as came in one window. Removed some time after the run's end.
    run_chunk = Table(
        "run_chunk",
        metadata,
        tenant_column(),
        id_column("run_id"),
        big_column("epoch"),
        big_column("first_seq"),
        big_column("last_seq"),
        id_column("session_id"),
        text_column("events"),
        PrimaryKeyConstraint("tenant_id", "run_id", "epoch", "first_seq"),
        ForeignKeyConstraint(_RUN, _RUN_KEY),
        # For the erasure of a session.
        Index("run_chunk_session_ix", "tenant_id", "session_id"),
    )
    tool_call = Table(
        "tool_call",
        metadata,
        tenant_column(),
        id_column("run_id"),
        Column("call_id", String, nullable=False),
        id_column("session_id"),
        id_column("page_id"),
        int_column("number"),
        text_column("name"),
        text_column("arguments"),
        Column("owner", SmallInteger, nullable=False),
        text_column("server"),
        Column("side_effect", SmallInteger, nullable=False),
        Column("state", String, nullable=False),
        time_column("create_time"),
        time_column("end_time", nullable=True),
        text_column("decision"),
        text_column("decided_by"),
        text_column("reason"),
        text_column("content"),
        Column("is_error", Boolean, nullable=False, server_default=false()),
        PrimaryKeyConstraint("tenant_id", "run_id", "call_id"),
        ForeignKeyConstraint(_RUN, _RUN_KEY),
        Index("tool_call_session_ix", "tenant_id", "session_id"),
    )
    return run_chunk, tool_call
