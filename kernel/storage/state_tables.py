"""Copies of state, and live values."""

from sqlalchemy import Column, ForeignKeyConstraint, MetaData, PrimaryKeyConstraint, String, Table

from kernel.storage.columns import big_column, id_column, tenant_column, text_column, time_column


def state_tables(metadata: MetaData) -> tuple[Table, Table, Table]:
    """`state_copy`, `live_layer` and `live_value`."""
    # The state at a floor with effects, folded: derived, and so bound to its session only.
    state_copy = Table(
        "state_copy",
        metadata,
        tenant_column(),
        id_column("session_id"),
        id_column("floor_id"),
        text_column("state"),
        PrimaryKeyConstraint("tenant_id", "session_id", "floor_id"),
        ForeignKeyConstraint(["tenant_id", "session_id"], ["session.tenant_id", "session.session_id"]),
    )

    # The live values of a session or a project, each layer of which has a version.
    live_layer = Table(
        "live_layer",
        metadata,
        tenant_column(),
        # The session or the project.
        id_column("owner_id"),
        big_column("version"),
        PrimaryKeyConstraint("tenant_id", "owner_id"),
    )

    live_value = Table(
        "live_value",
        metadata,
        tenant_column(),
        id_column("owner_id"),
        Column("key", String, nullable=False),
        text_column("value"),
        # The layer's when it was written.
        big_column("version"),
        text_column("principal"),
        time_column("update_time"),
        PrimaryKeyConstraint("tenant_id", "owner_id", "key"),
        ForeignKeyConstraint(["tenant_id", "owner_id"], ["live_layer.tenant_id", "live_layer.owner_id"]),
    )
    return state_copy, live_layer, live_value
