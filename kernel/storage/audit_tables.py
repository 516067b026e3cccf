"""Who did what: a chain of entries for each tenant, with ids, times and outcomes, and never a word."""

from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Index,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    UniqueConstraint,
)

from kernel.storage.columns import big_column, id_column, tenant_column, text_column, time_column


def _act_columns() -> list[Column[Any]]:
    """What an entry and a notice both say of an act."""
    return [
        time_column("time"),
        text_column("principal"),
        Column("on_behalf_of", String, nullable=True),
        text_column("action"),
        text_column("target_kind"),
        Column("target_id", String, nullable=True),
        id_column("session_id", nullable=True),
        id_column("project_id", nullable=True),
        id_column("request_id", nullable=True),
        text_column("outcome"),
        text_column("reason"),
        Column("count", BigInteger, nullable=False, server_default="1"),
    ]


def audit_tables(metadata: MetaData) -> tuple[Table, Table, Table, Table]:
    """`audit_entry`, `audit_head`, `audit_principal` and `audit_notice`."""
    # Never changed. The digest is over the entry and the digest of the one before it; principals are aliases.
    entry = Table(
        "audit_entry",
        metadata,
        tenant_column(),
        big_column("number"),
        *_act_columns(),
        Column("digest", LargeBinary(32), nullable=False),
        PrimaryKeyConstraint("tenant_id", "number"),
    )
    Index("audit_entry_principal_ix", entry.c.tenant_id, entry.c.principal, entry.c.number)
    for name in ("on_behalf_of", "target_id", "session_id", "request_id"):
        column = entry.c[name]
        there = column.is_not(None)
        key = entry.c.tenant_id, column, entry.c.number
        Index(f"audit_entry_{name}_ix", *key, sqlite_where=there, postgresql_where=there)
    # The chain's end; its row is the lock of whoever makes it longer.
    head = Table(
        "audit_head",
        metadata,
        tenant_column(),
        big_column("number"),
        Column("digest", LargeBinary(32), nullable=False),
        PrimaryKeyConstraint("tenant_id"),
    )
    # Whose an alias is. An erasure removes the row, and the chain over the aliases stays whole. The alias is
    # a digest of name and salt: with the salt gone, nobody can try names on it.
    principal = Table(
        "audit_principal",
        metadata,
        tenant_column(),
        Column("alias", String, nullable=False),
        Column("name", String, nullable=False),
        Column("salt", LargeBinary(16), nullable=False),
        PrimaryKeyConstraint("tenant_id", "alias"),
        UniqueConstraint("tenant_id", "name", name="audit_principal_name_uq"),
    )
    # What has no request to follow from, until it is in the chain: denials.
    notice = Table(
        "audit_notice",
        metadata,
        tenant_column(),
        id_column("notice_id"),
        # Not sealed before, except for a reader: it may still be counted up.
        time_column("due_time"),
        *_act_columns(),
        PrimaryKeyConstraint("tenant_id", "notice_id"),
        Index("audit_notice_due_time_ix", "due_time"),
    )
    return entry, head, principal, notice
