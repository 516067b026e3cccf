"""The ledger."""

from sqlalchemy import (
    Boolean,
    Column,
    ForeignKeyConstraint,
    Index,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    SmallInteger,
    String,
    Table,
    false,
)

from kernel.storage.columns import big_column, id_column, tenant_column, text_column, time_column


def staged_tables(metadata: MetaData) -> Table:
    """`staged_write`."""
    staged_write = Table(
        "staged_write",
        metadata,
        tenant_column(),
        id_column("staged_write_id"),
        id_column("project_id"),
        # Null for an entry of a project.
        id_column("session_id", nullable=True),
        text_column("branch"),
        id_column("floor_id", nullable=True),
        Column("placement", SmallInteger, nullable=False),
        Column("state", String, nullable=False),
        # The kinds of its parts in their order.
        text_column("kinds"),
        Column("input_blob", LargeBinary, nullable=True),
        Column("input_facts", LargeBinary, nullable=True),
        Column("output_blob", LargeBinary, nullable=True),
        Column("output_facts", LargeBinary, nullable=True),
        Column("operations", String, nullable=True),
        Column("effects", LargeBinary, nullable=True),
        # The floors that its memory writes cover to, one each.
        Column("covers", String, nullable=True),
        id_column("draft_id", nullable=True),
        id_column("page_id", nullable=True),
        text_column("snapshot_digest"),
        id_column("base_floor_id", nullable=True),
        big_column("base_version"),
        text_column("reason"),
        text_column("staged_by"),
        text_column("decided_by"),
        text_column("decision_reason"),
        id_column("result_floor_id", nullable=True),
        Column("stale", Boolean, nullable=False, server_default=false()),
        time_column("create_time"),
        time_column("decide_time", nullable=True),
        time_column("expire_time"),
        PrimaryKeyConstraint("tenant_id", "staged_write_id"),
        ForeignKeyConstraint(["tenant_id", "project_id"], ["project.tenant_id", "project.project_id"]),
        ForeignKeyConstraint(["tenant_id", "session_id"], ["session.tenant_id", "session.session_id"]),
        Index("staged_write_create_time_ix", "tenant_id", "create_time", "staged_write_id"),
        Index("staged_write_project_ix", "tenant_id", "project_id", "create_time", "staged_write_id"),
        Index("staged_write_session_ix", "tenant_id", "session_id", "create_time", "staged_write_id"),
    )
    Index(
        "staged_write_expire_ix",
        staged_write.c.expire_time,
        sqlite_where=staged_write.c.state == "staged",
        postgresql_where=staged_write.c.state == "staged",
    )
    return staged_write
