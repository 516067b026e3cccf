"""What was asked for under which request id, and answered (R1)."""

from sqlalchemy import (
    Boolean,
    Column,
    Index,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    false,
)

from kernel.storage.columns import id_column, tenant_column, text_column, time_column


def request_table(metadata: MetaData) -> Table:
    """`request`."""
    request = Table(
        "request",
        metadata,
        tenant_column(),
        Column("principal", String, nullable=False),
        Column("method", String, nullable=False),
        id_column("request_id"),
        Column("fingerprint", LargeBinary(32), nullable=False),
        text_column("answer"),
        time_column("create_time"),
        # Where the answer holds somebody's words: the session that they are erased with.
        id_column("words_of", nullable=True),
        # Whether the audit has it. Whatever removes old requests leaves those that it has not.
        Column("audited", Boolean, nullable=False, server_default=false()),
        PrimaryKeyConstraint("tenant_id", "principal", "method", "request_id"),
    )
    worded = request.c.words_of.is_not(None)
    Index(
        "request_words_ix",
        request.c.tenant_id,
        request.c.words_of,
        sqlite_where=worded,
        postgresql_where=worded,
    )
    # A second's writes, and nothing more: the write pays for a small index, not for a line in the audit.
    Index(
        "request_unaudited_ix",
        request.c.tenant_id,
        request.c.create_time,
        sqlite_where=~request.c.audited,
        postgresql_where=~request.c.audited,
    )
    return request
