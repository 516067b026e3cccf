"""Principals that were erased."""

from sqlalchemy import Column, LargeBinary, MetaData, PrimaryKeyConstraint, Table

from kernel.storage.columns import tenant_column, text_column, time_column


def grave_table(metadata: MetaData) -> Table:
    """`grave`. A principal in it writes nothing more. It is known by a digest: its name is gone as well."""
    return Table(
        "grave",
        metadata,
        tenant_column(),
        Column("digest", LargeBinary(32), nullable=False),
        # What was taken so far, by store: JSON.
        text_column("receipt"),
        time_column("create_time"),
        PrimaryKeyConstraint("tenant_id", "digest"),
    )
