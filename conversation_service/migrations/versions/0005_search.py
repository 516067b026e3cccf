"""Search over messages, and feeds that may lose their oldest events.

Never edited: a change of the schema is a migration of its own.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from kernel.storage.types import Id

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

# On SQLite: `words` is indexed, all else is only kept.
FTS5 = """
CREATE VIRTUAL TABLE search_message USING fts5(
    tenant_id UNINDEXED, project_id UNINDEXED, session_id UNINDEXED, floor_id UNINDEXED, number UNINDEXED,
    page_id UNINDEXED, message UNINDEXED, segment UNINDEXED, depth UNINDEXED, position UNINDEXED, words,
    tokenize = 'ascii', detail = none, columnsize = 0)"""


def upgrade() -> None:
    op.add_column("feed", sa.Column("earliest", sa.BigInteger(), server_default="1", nullable=False))
    op.create_table(
        "search_cursor",
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("project_id", Id(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("segment", sa.Integer(), nullable=True),
        sa.Column("depth", sa.Integer(), nullable=True),
        sa.PrimaryKeyConstraint("tenant_id", "project_id", name="search_cursor_pk"),
        sa.ForeignKeyConstraint(
            ["tenant_id", "project_id"],
            ["feed.tenant_id", "feed.project_id"],
            name="search_cursor_feed_fk",
        ),
    )
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
