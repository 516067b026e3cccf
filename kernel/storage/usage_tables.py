"""What a tenant uses of a service."""

from sqlalchemy import Column, MetaData, PrimaryKeyConstraint, SmallInteger, String, Table

from kernel.storage.columns import big_column, int_column, tenant_column, time_column


def usage_table(metadata: MetaData) -> Table:
    """`tenant_usage`."""
    return Table(
        "tenant_usage",
        metadata,
        tenant_column(),
        # `tokens` that models took on a day, `bytes` as they were summed last, `summing`: who is at it.
        Column("kind", String, nullable=False),
        # Its ordinal in UTC; 0 for what is of no day.
        int_column("day"),
        # Runs that end at once count in different rows: none waits for another.
        Column("stripe", SmallInteger, nullable=False),
        big_column("value"),
        time_column("update_time"),
        PrimaryKeyConstraint("tenant_id", "kind", "day", "stripe"),
    )
