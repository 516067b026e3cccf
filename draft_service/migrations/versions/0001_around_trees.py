"""What trees of the kernel stand in: projects, sessions, requests, processes, live values.

Never edited: a change of the schema is a migration of its own.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from kernel.storage.types import Id, Time

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

# On SQLite: `words` is indexed, all else is only kept.
FTS5 = """
CREATE VIRTUAL TABLE search_message USING fts5(
    tenant_id UNINDEXED, project_id UNINDEXED, session_id UNINDEXED, floor_id UNINDEXED, number UNINDEXED,
    page_id UNINDEXED, message UNINDEXED, segment UNINDEXED, depth UNINDEXED, position UNINDEXED, words,
    tokenize = 'ascii', detail = none, columnsize = 0)"""


def upgrade() -> None:
    _config_version()
    _feed()
    _live_layer()
    _process()
    _project()
    _request()
    _search_message()
    _tombstone()
    _event()
    _live_value()
    _member()
    _search_cursor()
    _session()


def _config_version() -> None:
    op.create_table(
        "config_version",
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("target_id", Id(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("title", sa.String(), server_default="", nullable=False),
        sa.Column("config", sa.String(), server_default="", nullable=False),
        sa.Column("principal", sa.String(), server_default="", nullable=False),
        sa.Column("create_time", Time(), nullable=False),
        sa.Column("restored_from", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "target_id", "version", name="config_version_pk"),
    )


def _feed() -> None:
    op.create_table(
        "feed",
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("project_id", Id(), nullable=False),
        sa.Column("last", sa.BigInteger(), nullable=False),
        sa.Column("earliest", sa.BigInteger(), server_default="1", nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "project_id", name="feed_pk"),
    )


def _live_layer() -> None:
    op.create_table(
        "live_layer",
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("owner_id", Id(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "owner_id", name="live_layer_pk"),
    )


def _process() -> None:
    op.create_table(
        "process",
        sa.Column("owner", Id(), nullable=False),
        sa.Column("lease_time", Time(), nullable=False),
        sa.PrimaryKeyConstraint("owner", name="process_pk"),
    )


def _project() -> None:
    op.create_table(
        "project",
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("project_id", Id(), nullable=False),
        sa.Column("title", sa.String(), server_default="", nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("create_time", Time(), nullable=False),
        sa.Column("update_time", Time(), nullable=False),
        sa.Column("config", sa.String(), server_default="", nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "project_id", name="project_pk"),
    )
    op.create_index("project_create_time_ix", "project", ["tenant_id", "create_time", "project_id"])


def _request() -> None:
    op.create_table(
        "request",
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("principal", sa.String(), nullable=False),
        sa.Column("method", sa.String(), nullable=False),
        sa.Column("request_id", Id(), nullable=False),
        sa.Column("fingerprint", sa.LargeBinary(32), nullable=False),
        sa.Column("answer", sa.String(), server_default="", nullable=False),
        sa.Column("create_time", Time(), nullable=False),
        sa.Column("words_of", Id(), nullable=True),
        sa.PrimaryKeyConstraint("tenant_id", "principal", "method", "request_id", name="request_pk"),
    )
    op.create_index(
        "request_words_ix",
        "request",
        ["tenant_id", "words_of"],
        sqlite_where=sa.text("words_of IS NOT NULL"),
        postgresql_where=sa.text("words_of IS NOT NULL"),
    )


def _search_message() -> None:
    if op.get_bind().dialect.name == "sqlite":
        op.execute(FTS5)
        return
    op.create_table(
        "search_message",
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("project_id", Id(), nullable=False),
        sa.Column("session_id", Id(), nullable=False),
        sa.Column("floor_id", Id(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("page_id", Id(), nullable=False),
        sa.Column("message", sa.Integer(), nullable=False),
        sa.Column("segment", sa.Integer(), nullable=False),
        sa.Column("depth", sa.Integer(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("words", postgresql.TSVECTOR(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "session_id", "floor_id", "number", name="search_message_pk"),
    )
    op.create_index("search_message_words_ix", "search_message", ["words"], postgresql_using="gin")


def _tombstone() -> None:
    op.create_table(
        "tombstone",
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("session_id", Id(), nullable=False),
        sa.Column("principal", sa.String(), server_default="", nullable=False),
        sa.Column("delete_time", Time(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "session_id", name="tombstone_pk"),
    )


def _event() -> None:
    op.create_table(
        "event",
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("project_id", Id(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("event_id", Id(), nullable=False),
        sa.Column("type", sa.String(), nullable=False),
        sa.Column("session_id", Id(), nullable=True),
        sa.Column("floor_id", Id(), nullable=True),
        sa.Column("payload", sa.String(), server_default="", nullable=False),
        sa.Column("commit_time", Time(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "project_id"], ["feed.tenant_id", "feed.project_id"], name="event_feed_fk"
        ),
        sa.PrimaryKeyConstraint("tenant_id", "project_id", "position", name="event_pk"),
    )


def _live_value() -> None:
    op.create_table(
        "live_value",
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("owner_id", Id(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("value", sa.String(), server_default="", nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("principal", sa.String(), server_default="", nullable=False),
        sa.Column("update_time", Time(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "owner_id"],
            ["live_layer.tenant_id", "live_layer.owner_id"],
            name="live_value_live_layer_fk",
        ),
        sa.PrimaryKeyConstraint("tenant_id", "owner_id", "key", name="live_value_pk"),
    )


def _member() -> None:
    op.create_table(
        "member",
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("project_id", Id(), nullable=False),
        sa.Column("principal", sa.String(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("create_time", Time(), nullable=False),
        sa.Column("update_time", Time(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "project_id"], ["project.tenant_id", "project.project_id"], name="member_project_fk"
        ),
        sa.PrimaryKeyConstraint("tenant_id", "project_id", "principal", name="member_pk"),
    )


def _search_cursor() -> None:
    op.create_table(
        "search_cursor",
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("project_id", Id(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("segment", sa.Integer(), nullable=True),
        sa.Column("depth", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["tenant_id", "project_id"], ["feed.tenant_id", "feed.project_id"], name="search_cursor_feed_fk"
        ),
        sa.PrimaryKeyConstraint("tenant_id", "project_id", name="search_cursor_pk"),
    )


def _session() -> None:
    op.create_table(
        "session",
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("session_id", Id(), nullable=False),
        sa.Column("project_id", Id(), nullable=False),
        sa.Column("title", sa.String(), server_default="", nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("config", sa.String(), server_default="", nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("root_floor_id", Id(), nullable=False),
        sa.Column("stored_tokens", sa.BigInteger(), nullable=False),
        sa.Column("create_time", Time(), nullable=False),
        sa.Column("update_time", Time(), nullable=False),
        sa.Column("last_activity_time", Time(), nullable=False),
        sa.Column("project_archived", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("forks", sa.BigInteger(), server_default="0", nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "project_id"],
            ["project.tenant_id", "project.project_id"],
            name="session_project_fk",
        ),
        sa.PrimaryKeyConstraint("tenant_id", "session_id", name="session_pk"),
    )
    op.create_index("session_create_time_ix", "session", ["tenant_id", "create_time", "session_id"])
    op.create_index("session_last_activity_ix", "session", ["tenant_id", "last_activity_time", "session_id"])
