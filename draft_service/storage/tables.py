"""The draft service's tables: the kernel's, and those of drafts beside them."""

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
)

from kernel.storage import tables as kernel
from kernel.storage.columns import big_column as _big
from kernel.storage.columns import id_column as _id
from kernel.storage.columns import int_column as _int
from kernel.storage.columns import tenant_column as _tenant
from kernel.storage.columns import text_column as _text
from kernel.storage.columns import time_column as _time

metadata = MetaData(naming_convention=kernel.metadata.naming_convention)
for _table in kernel.metadata.sorted_tables:
    _table.to_metadata(metadata)
# Which engine an index is for is not copied.
for _index in metadata.tables["search_message"].indexes:
    _index.ddl_if(dialect="postgresql")


def _digest(name: str) -> Column[bytes]:
    return Column(name, LargeBinary(32), nullable=False)


# A frozen copy, kept once for all drafts of a source that found it equal. The ids in it are that source's,
# so sources do not share, however equal they are.
snapshot = Table(
    "snapshot",
    metadata,
    _tenant(),
    _id("source_id"),
    _digest("digest"),
    # How many drafts have it.
    _big("refs"),
    _int("floor_count"),
    # The path's state at its end, as text.
    _text("state"),
    _time("create_time"),
    PrimaryKeyConstraint("tenant_id", "source_id", "digest"),
)

# What of a floor is the same wherever it is copied to, with the ids of the source.
FLOOR_COLUMNS = (
    "floor_id",
    "parent_floor_id",
    *(c.name for c in kernel.floor.c if c.name.startswith(("input_", "output_"))),
    "digest",
    "path_tokens",
    "principal",
    "create_time",
    "commit_time",
    "effects",
    "effects_digest",
    "effects_facts",
)

snapshot_floor = Table(
    "snapshot_floor",
    metadata,
    _tenant(),
    _id("source_id"),
    _digest("snapshot_digest"),
    _int("depth"),
    *(
        Column(name, kernel.floor.c[name].type, nullable=kernel.floor.c[name].nullable)
        for name in FLOOR_COLUMNS
    ),
    PrimaryKeyConstraint("tenant_id", "source_id", "snapshot_digest", "depth"),
    ForeignKeyConstraint(
        ["tenant_id", "source_id", "snapshot_digest"],
        ["snapshot.tenant_id", "snapshot.source_id", "snapshot.digest"],
    ),
)

# The kernel's session of the same id is the draft's tree.
draft = Table(
    "draft",
    metadata,
    _tenant(),
    _id("draft_id"),
    _id("own_project_id"),
    _id("project_id"),
    _id("source_session_id", nullable=True),
    _id("source_floor_id", nullable=True),
    _id("base_floor_id", nullable=True),
    _big("project_version"),
    _big("session_version"),
    _big("project_live_version"),
    _big("session_live_version"),
    # The snapshot's source: its session, or its project.
    _id("source_id"),
    _digest("snapshot_digest"),
    _digest("config_digest"),
    _text("title"),
    _text("purpose"),
    Column("state", String, nullable=False),
    Column("retention", SmallInteger, nullable=False),
    Column("visibility", SmallInteger, nullable=False),
    _text("metadata"),
    _text("origin_run_id"),
    _text("origin_draft_id"),
    _text("created_by"),
    _text("ended_by"),
    _text("end_reason"),
    _time("create_time"),
    # By the database's clock at creation, and never again (D5).
    _time("expire_time"),
    # How long it can be read after its end, in microseconds.
    _big("keep"),
    _time("end_time", nullable=True),
    _time("purge_time", nullable=True),
    PrimaryKeyConstraint("tenant_id", "draft_id"),
    ForeignKeyConstraint(["tenant_id", "draft_id"], ["session.tenant_id", "session.session_id"]),
    ForeignKeyConstraint(
        ["tenant_id", "source_id", "snapshot_digest"],
        ["snapshot.tenant_id", "snapshot.source_id", "snapshot.digest"],
    ),
    Index("draft_create_time_ix", "tenant_id", "create_time", "draft_id"),
    Index("draft_snapshot_ix", "tenant_id", "source_id", "snapshot_digest"),
)
Index(
    "draft_expire_ix",
    draft.c.expire_time,
    sqlite_where=draft.c.state == "active",
    postgresql_where=draft.c.state == "active",
)
Index(
    "draft_purge_ix",
    draft.c.purge_time,
    sqlite_where=draft.c.purge_time.is_not(None),
    postgresql_where=draft.c.purge_time.is_not(None),
)

# What was done, by whom, when: ids, counts and times, never a word. Stays after the purge (D8).
draft_audit = Table(
    "draft_audit",
    metadata,
    _tenant(),
    _id("draft_id"),
    _int("number"),
    Column("action", String, nullable=False),
    _text("principal"),
    _text("details"),
    _time("time"),
    PrimaryKeyConstraint("tenant_id", "draft_id", "number"),
)

# What leaves a draft: written down in the transaction that found the draft active, then staged, then settled.
export = Table(
    "export",
    metadata,
    _tenant(),
    _id("draft_id"),
    # Also the request_id of its StageWrite.
    _id("export_id"),
    Column("state", String, nullable=False),
    _text("principal"),
    Column("payload", LargeBinary, nullable=False),
    _id("source_page_id", nullable=True),
    _id("staged_write_id", nullable=True),
    # A definite refusal, as text.
    _text("failure"),
    Column("finalize", Boolean, nullable=False),
    _time("create_time"),
    _time("settle_time", nullable=True),
    PrimaryKeyConstraint("tenant_id", "draft_id", "export_id"),
    ForeignKeyConstraint(["tenant_id", "draft_id"], ["draft.tenant_id", "draft.draft_id"]),
)
Index(
    "export_pending_ix",
    export.c.create_time,
    sqlite_where=export.c.state == "pending",
    postgresql_where=export.c.state == "pending",
)

# What a model proposed in a draft: kept there until somebody exports it, or gone with the draft.
proposal = Table(
    "proposal",
    metadata,
    _tenant(),
    _id("draft_id"),
    _id("proposal_id"),
    _int("number"),
    _id("floor_id"),
    _id("run_id", nullable=True),
    Column("kind", String, nullable=False),
    # Operations, or effects as floors have them.
    Column("content", LargeBinary, nullable=False),
    # A JSON list: for each memory write of effects, the floor that it covers to, or "".
    Column("covers", String, nullable=False, server_default="[]"),
    _time("create_time"),
    PrimaryKeyConstraint("tenant_id", "draft_id", "proposal_id"),
    ForeignKeyConstraint(["tenant_id", "draft_id"], ["draft.tenant_id", "draft.draft_id"]),
    Index("proposal_number_ix", "tenant_id", "draft_id", "number"),
)
