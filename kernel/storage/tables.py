"""The tables of the kernel. The tenant is the first column of every key.

Migrations create them; `tests/conformance/test_migrations.py` proves that both say the same.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    SmallInteger,
    String,
    Table,
    UniqueConstraint,
    false,
)

from kernel.storage.audit_tables import audit_tables
from kernel.storage.columns import big_column as _big
from kernel.storage.columns import id_column as _id
from kernel.storage.columns import int_column as _int
from kernel.storage.columns import tenant_column as _tenant
from kernel.storage.columns import text_column as _text
from kernel.storage.columns import time_column as _time
from kernel.storage.grave_tables import grave_table
from kernel.storage.prompt_tables import prompt_tables
from kernel.storage.request_tables import request_table
from kernel.storage.run_tables import run_tables
from kernel.storage.search_tables import search_tables
from kernel.storage.staged_tables import staged_tables
from kernel.storage.state_tables import state_tables
from kernel.storage.types import Id, Time
from kernel.storage.usage_tables import usage_table

metadata = MetaData(
    naming_convention={
        "pk": "%(table_name)s_pk",
        "fk": "%(table_name)s_%(referred_table_name)s_fk",
        "uq": "%(table_name)s_%(column_0_N_name)s_uq",
        "ix": "%(table_name)s_%(column_0_N_name)s_ix",
    }
)

project = Table(
    "project",
    metadata,
    _tenant(),
    _id("project_id"),
    _text("title"),
    Column("state", String, nullable=False),
    _big("version"),
    _time("create_time"),
    _time("update_time"),
    _text("config"),
    PrimaryKeyConstraint("tenant_id", "project_id"),
    Index("project_create_time_ix", "tenant_id", "create_time", "project_id"),
)

member = Table(
    "member",
    metadata,
    _tenant(),
    _id("project_id"),
    Column("principal", String, nullable=False),
    Column("role", String, nullable=False),
    _time("create_time"),
    _time("update_time"),
    PrimaryKeyConstraint("tenant_id", "project_id", "principal"),
    ForeignKeyConstraint(["tenant_id", "project_id"], ["project.tenant_id", "project.project_id"]),
    Index("member_principal_ix", "tenant_id", "principal", "project_id"),
)

# Every version of a project's or a session's configuration and title, the current one too.
config_version = Table(
    "config_version",
    metadata,
    _tenant(),
    _id("target_id"),
    _big("version"),
    _text("title"),
    _text("config"),
    _text("principal"),
    _time("create_time"),
    _big("restored_from"),
    PrimaryKeyConstraint("tenant_id", "target_id", "version"),
)

session = Table(
    "session",
    metadata,
    _tenant(),
    _id("session_id"),
    _id("project_id"),
    _text("title"),
    Column("state", String, nullable=False),
    _text("config"),
    _big("version"),
    _id("root_floor_id"),
    _big("stored_tokens"),
    _time("create_time"),
    _time("update_time"),
    _time("last_activity_time"),
    # A copy of the project's state, so that the hot write need not look there.
    Column("project_archived", Boolean, nullable=False, server_default=false()),
    # Grows whenever a committed floor may have got a sibling: until then positions stay as they are.
    Column("forks", BigInteger, nullable=False, server_default="0"),
    PrimaryKeyConstraint("tenant_id", "session_id"),
    ForeignKeyConstraint(["tenant_id", "project_id"], ["project.tenant_id", "project.project_id"]),
    Index("session_last_activity_ix", "tenant_id", "last_activity_time", "session_id"),
    Index("session_create_time_ix", "tenant_id", "create_time", "session_id"),
)

# A session that was erased. Its id never comes back.
tombstone = Table(
    "tombstone",
    metadata,
    _tenant(),
    _id("session_id"),
    _text("principal"),
    _time("delete_time"),
    PrimaryKeyConstraint("tenant_id", "session_id"),
)

_SESSION = ["tenant_id", "session_id"]
_SESSION_KEY = ["session.tenant_id", "session.session_id"]

segment = Table(
    "segment",
    metadata,
    _tenant(),
    _id("session_id"),
    _int("segment"),
    # The floor that the segment hangs on; null for the root's.
    _int("parent_segment", nullable=True),
    _int("parent_depth", nullable=True),
    PrimaryKeyConstraint("tenant_id", "session_id", "segment"),
    ForeignKeyConstraint(_SESSION, _SESSION_KEY),
    Index("segment_parent_ix", "tenant_id", "session_id", "parent_segment", "parent_depth", "segment"),
)


def _page_columns(side: str) -> list[Column[object]]:
    return [
        Column(f"{side}_page_id", Id, nullable=True),
        # Where the page was first written; null for this floor itself.
        Column(f"{side}_origin_id", Id, nullable=True),
        Column(f"{side}_blob", LargeBinary, nullable=True),
        # Five bytes a message: role, hidden, tokens; see `rows.py`.
        Column(f"{side}_facts", LargeBinary, nullable=True),
        Column(f"{side}_digest", LargeBinary(32), nullable=True),
        Column(f"{side}_tokens", Integer, nullable=True),
        Column(f"{side}_partial", Boolean, nullable=True),
        Column(f"{side}_source", String, nullable=True),
        Column(f"{side}_time", Time, nullable=True),
    ]


def _effects_columns() -> list[Column[object]]:
    return [
        Column("effects", LargeBinary, nullable=True),
        Column("effects_digest", LargeBinary(32), nullable=True),
        # Who brought them, how many there are, and which floors they name; see `rows.py`.
        Column("effects_facts", String, nullable=True),
    ]


floor = Table(
    "floor",
    metadata,
    _tenant(),
    _id("session_id"),
    _int("segment"),
    _int("depth"),
    _id("floor_id"),
    _id("parent_floor_id", nullable=True),
    _int("parent_segment", nullable=True),
    _int("parent_depth", nullable=True),
    _int("ordinal"),
    Column("state", String, nullable=False),
    *_page_columns("input"),
    *_page_columns("output"),
    Column("digest", LargeBinary(32), nullable=True),
    _big("path_tokens"),
    _big("usage_in", nullable=True),
    _big("usage_out", nullable=True),
    Column("usage_estimated", Boolean, nullable=True),
    _id("run_id", nullable=True),
    _text("failure_reason"),
    _text("principal"),
    # The branch that it was opened for.
    _text("branch"),
    _time("create_time"),
    _time("commit_time", nullable=True),
    *_effects_columns(),
    # Where the path's state is found: derived, so nothing refers by it. See StateMark.
    _id("effects_above_id", nullable=True),
    Column("state_debt", SmallInteger, nullable=False, server_default="0"),
    Column("state_size", Integer, nullable=False, server_default="0"),
    PrimaryKeyConstraint("tenant_id", "session_id", "segment", "depth"),
    UniqueConstraint("tenant_id", "floor_id", name="floor_id_uq"),
    ForeignKeyConstraint(
        ["tenant_id", "session_id", "segment"],
        ["segment.tenant_id", "segment.session_id", "segment.segment"],
    ),
    # By place, not by id: so the parent is in the same session and tenant (T1).
    ForeignKeyConstraint(
        ["tenant_id", "session_id", "parent_segment", "parent_depth"],
        ["floor.tenant_id", "floor.session_id", "floor.segment", "floor.depth"],
    ),
    # An erasure removes floors: without an index, each would be looked for in all that refer to floors.
    # The same goes for `page`, `branch` and `run`.
    Index("floor_parent_ix", "tenant_id", "session_id", "parent_segment", "parent_depth"),
)

page = Table(
    "page",
    metadata,
    _tenant(),
    _id("session_id"),
    _id("floor_id"),
    # In the order written, over both sides of the floor.
    _int("number"),
    _id("page_id"),
    Column("slot", SmallInteger, nullable=False),
    *[Column(c.name.removeprefix("input_"), c.type, nullable=c.nullable) for c in _page_columns("input")[1:]],
    *_effects_columns(),
    PrimaryKeyConstraint("tenant_id", "session_id", "floor_id", "number"),
    ForeignKeyConstraint(["tenant_id", "floor_id"], ["floor.tenant_id", "floor.floor_id"]),
    Index("page_id_ix", "tenant_id", "page_id"),
    Index("page_floor_ix", "tenant_id", "floor_id"),
)

branch = Table(
    "branch",
    metadata,
    _tenant(),
    _id("session_id"),
    Column("name", String, nullable=False),
    _id("head_floor_id"),
    _id("pending_floor_id", nullable=True),
    _id("failed_floor_id", nullable=True),
    _int("depth"),
    _big("version"),
    _time("create_time"),
    _time("update_time"),
    PrimaryKeyConstraint("tenant_id", "session_id", "name"),
    ForeignKeyConstraint(_SESSION, _SESSION_KEY),
    ForeignKeyConstraint(
        ["tenant_id", "head_floor_id"], ["floor.tenant_id", "floor.floor_id"], name="branch_head_fk"
    ),
    Index("branch_head_ix", "tenant_id", "head_floor_id"),
)

# The leaf that a branch last left through this segment at this depth (T6); see tree/places.py.
left_leaf = Table(
    "left_leaf",
    metadata,
    _tenant(),
    _id("session_id"),
    Column("branch", String, nullable=False),
    _int("segment"),
    _int("exit_depth"),
    _id("leaf_floor_id"),
    # The branch's version at the leaving: the newest wins.
    _big("version"),
    PrimaryKeyConstraint("tenant_id", "session_id", "branch", "segment", "exit_depth"),
    ForeignKeyConstraint(
        ["tenant_id", "session_id", "branch"],
        ["branch.tenant_id", "branch.session_id", "branch.name"],
        ondelete="CASCADE",
    ),
)

head_move = Table(
    "head_move",
    metadata,
    _tenant(),
    _id("session_id"),
    Column("branch", String, nullable=False),
    # Counts a session's moves of one branch name, also across its deletion.
    _big("number"),
    _id("from_floor_id"),
    _id("to_floor_id"),
    Column("kind", String, nullable=False),
    _text("principal"),
    _time("move_time"),
    PrimaryKeyConstraint("tenant_id", "session_id", "branch", "number"),
    ForeignKeyConstraint(_SESSION, _SESSION_KEY),
)

run = Table(
    "run",
    metadata,
    _tenant(),
    _id("run_id"),
    _id("session_id"),
    _id("floor_id"),
    _id("page_id"),
    Column("state", String, nullable=False),
    _text("failure_reason"),
    _big("usage_in", nullable=True),
    _big("usage_out", nullable=True),
    Column("usage_estimated", Boolean, nullable=True),
    _id("owner"),
    _big("last_seq"),
    _text("branch"),
    _time("create_time"),
    _time("end_time", nullable=True),
    Column("epoch", BigInteger, nullable=False, server_default="1"),
    _text("plan"),
    _text("asked"),
    _time("wait_time", nullable=True),
    Column("logged", Boolean, nullable=False, server_default=false()),
    PrimaryKeyConstraint("tenant_id", "run_id"),
    ForeignKeyConstraint(["tenant_id", "floor_id"], ["floor.tenant_id", "floor.floor_id"]),
    Index("run_floor_ix", "tenant_id", "floor_id"),
)
Index(
    "run_running_ix",
    run.c.owner,
    sqlite_where=run.c.state == "running",
    postgresql_where=run.c.state == "running",
)
Index(
    "run_waiting_ix",
    run.c.wait_time,
    sqlite_where=run.c.state == "waiting",
    postgresql_where=run.c.state == "waiting",
)
# Ended runs whose log is to be removed.
Index("run_logged_ix", run.c.end_time, sqlite_where=run.c.logged, postgresql_where=run.c.logged)
run_chunk, tool_call = run_tables(metadata)

# Which processes are alive: each renews its own row. No tenant: it holds nobody's data.
process = Table(
    "process",
    metadata,
    _id("owner"),
    _time("lease_time"),
    PrimaryKeyConstraint("owner"),
)

request = request_table(metadata)

feed = Table(
    "feed",
    metadata,
    _tenant(),
    _id("project_id"),
    _big("last"),
    # The oldest position that was not removed (STEMMA_EVENT_RETENTION).
    Column("earliest", BigInteger, nullable=False, server_default="1"),
    PrimaryKeyConstraint("tenant_id", "project_id"),
)

event = Table(
    "event",
    metadata,
    _tenant(),
    _id("project_id"),
    _big("position"),
    _id("event_id"),
    Column("type", String, nullable=False),
    _id("session_id", nullable=True),
    _id("floor_id", nullable=True),
    _text("payload"),
    _time("commit_time"),
    PrimaryKeyConstraint("tenant_id", "project_id", "position"),
    ForeignKeyConstraint(["tenant_id", "project_id"], ["feed.tenant_id", "feed.project_id"]),
)

prompt, prompt_block = prompt_tables(metadata)
state_copy, live_layer, live_value = state_tables(metadata)
search_message, search_cursor = search_tables(metadata)
staged_write = staged_tables(metadata)
tenant_usage = usage_table(metadata)
grave = grave_table(metadata)
audit_entry, audit_head, audit_principal, audit_notice = audit_tables(metadata)
