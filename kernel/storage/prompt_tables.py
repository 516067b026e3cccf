"""What models were sent."""

from sqlalchemy import Column, ForeignKeyConstraint, Index, LargeBinary, MetaData, PrimaryKeyConstraint, Table

from kernel.storage.columns import big_column, id_column, int_column, tenant_column, text_column


def prompt_tables(metadata: MetaData) -> tuple[Table, Table]:
    """`prompt` and `prompt_block`."""
    # What a model was sent, with the floor that it writes: what can not be found again on the floor's path.
    prompt = Table(
        "prompt",
        metadata,
        tenant_column(),
        id_column("session_id"),
        id_column("floor_id"),
        Column("system_digest", LargeBinary(32), nullable=True),
        Column("memory_digest", LargeBinary(32), nullable=True),
        # How many of the oldest turns were left out.
        int_column("dropped"),
        text_column("missing"),
        text_column("options"),
        text_column("token_counter"),
        text_column("config_version"),
        text_column("live_version"),
        big_column("tokens_abandoned"),
        Column("context_digest", LargeBinary(32), nullable=False),
        PrimaryKeyConstraint("tenant_id", "session_id", "floor_id"),
        ForeignKeyConstraint(["tenant_id", "floor_id"], ["floor.tenant_id", "floor.floor_id"]),
        Index("prompt_floor_ix", "tenant_id", "floor_id"),
    )

    # System prompts and memories as they were rendered, each stored once a session.
    prompt_block = Table(
        "prompt_block",
        metadata,
        tenant_column(),
        id_column("session_id"),
        Column("digest", LargeBinary(32), nullable=False),
        Column("blob", LargeBinary, nullable=False),
        Column("facts", LargeBinary, nullable=False),
        text_column("items"),
        PrimaryKeyConstraint("tenant_id", "session_id", "digest"),
        ForeignKeyConstraint(["tenant_id", "session_id"], ["session.tenant_id", "session.session_id"]),
    )
    return prompt, prompt_block
