"""The audit's chain, and a mark on each request that is in it. Never edited: a change of the schema is a
migration of its own."""

from typing import Any

import sqlalchemy as sa
from alembic import op

from kernel.storage.types import Id, Time


def upgrade() -> None:
    _request()
    _entry()
    op.create_table(
        "audit_head",
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("digest", sa.LargeBinary(32), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", name="audit_head_pk"),
    )
    op.create_table(
        "audit_principal",
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("alias", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("salt", sa.LargeBinary(16), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "alias", name="audit_principal_pk"),
        sa.UniqueConstraint("tenant_id", "name", name="audit_principal_name_uq"),
    )
    op.create_table(
        "audit_notice",
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("notice_id", Id(), nullable=False),
        sa.Column("due_time", Time(), nullable=False),
        *_act(),
        sa.PrimaryKeyConstraint("tenant_id", "notice_id", name="audit_notice_pk"),
    )
    op.create_index("audit_notice_due_time_ix", "audit_notice", ["due_time"])


def _request() -> None:
    # What is there already has not been audited either: it goes into the chain in the background.
    op.add_column("request", sa.Column("audited", sa.Boolean(), server_default=sa.false(), nullable=False))
    sqlite, postgres = sa.text("audited = 0"), sa.text("NOT audited")
    key = ["tenant_id", "create_time"]
    op.create_index("request_unaudited_ix", "request", key, sqlite_where=sqlite, postgresql_where=postgres)


def _act() -> list[sa.Column[Any]]:
    return [
        sa.Column("time", Time(), nullable=False),
        sa.Column("principal", sa.String(), server_default="", nullable=False),
        sa.Column("on_behalf_of", sa.String(), nullable=True),
        sa.Column("action", sa.String(), server_default="", nullable=False),
        sa.Column("target_kind", sa.String(), server_default="", nullable=False),
        sa.Column("target_id", sa.String(), nullable=True),
        sa.Column("session_id", Id(), nullable=True),
        sa.Column("project_id", Id(), nullable=True),
        sa.Column("request_id", Id(), nullable=True),
        sa.Column("outcome", sa.String(), server_default="", nullable=False),
        sa.Column("reason", sa.String(), server_default="", nullable=False),
        sa.Column("count", sa.BigInteger(), server_default="1", nullable=False),
    ]


def _entry() -> None:
    op.create_table(
        "audit_entry",
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        *_act(),
        sa.Column("digest", sa.LargeBinary(32), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "number", name="audit_entry_pk"),
    )
    op.create_index("audit_entry_principal_ix", "audit_entry", ["tenant_id", "principal", "number"])
    for name in ("on_behalf_of", "target_id", "session_id", "request_id"):
        there = sa.text(f"{name} IS NOT NULL")
        key = ["tenant_id", name, "number"]
        op.create_index(
            f"audit_entry_{name}_ix", "audit_entry", key, sqlite_where=there, postgresql_where=there
        )
