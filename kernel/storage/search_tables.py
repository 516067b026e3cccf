"""The index of words, and how far it has come. Derived from the feed and the floors, and later than they.

On PostgreSQL the words are a `tsvector`, on SQLite the whole table is an FTS5 one: that is all in which
the engines differ. Words are cut by `kernel.tree.words`, so no engine's own parser has a say.
"""

from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
)
from sqlalchemy.dialects.postgresql import TSVECTOR
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.schema import CreateTable

from kernel.storage.types import Id

# `ascii` ends a token at everything in ASCII but letters and digits, and nowhere else: a word that was
# cut by us is one token, as it stands. Without positions and sizes, which nobody asks for.
_FTS5 = ["tokenize = 'ascii'", "detail = none", "columnsize = 0"]


def search_tables(metadata: MetaData) -> tuple[Table, Table]:
    """`search_message` and `search_cursor`."""
    message = Table(
        "search_message",
        metadata,
        Column("tenant_id", String, nullable=False),
        Column("project_id", Id, nullable=False),
        Column("session_id", Id, nullable=False),
        Column("floor_id", Id, nullable=False),
        Column("number", Integer, nullable=False),
        Column("page_id", Id, nullable=False),
        Column("message", Integer, nullable=False),
        Column("segment", Integer, nullable=False),
        Column("depth", Integer, nullable=False),
        Column("position", BigInteger, nullable=False),
        Column("words", Text().with_variant(TSVECTOR(), "postgresql"), nullable=False),
        PrimaryKeyConstraint("tenant_id", "session_id", "floor_id", "number"),
    )
    words = Index("search_message_words_ix", message.c.words, postgresql_using="gin")
    words.ddl_if(dialect="postgresql")
    cursor = Table(
        "search_cursor",
        metadata,
        Column("tenant_id", String, nullable=False),
        Column("project_id", Id, nullable=False),
        Column("position", BigInteger, nullable=False),
        Column("segment", Integer, nullable=True),
        Column("depth", Integer, nullable=True),
        PrimaryKeyConstraint("tenant_id", "project_id"),
        ForeignKeyConstraint(["tenant_id", "project_id"], ["feed.tenant_id", "feed.project_id"]),
    )
    return message, cursor


def fts5(table: Table) -> str:
    """The statement that makes the table on SQLite: `words` is indexed, all else is only kept."""
    columns = [c.name if c.name == "words" else f"{c.name} UNINDEXED" for c in table.columns]
    return f"CREATE VIRTUAL TABLE {table.name} USING fts5({', '.join([*columns, *_FTS5])})"


@compiles(CreateTable, "sqlite")
def _create_table(create: CreateTable, compiler: Any, **options: Any) -> str:
    if create.element.name == "search_message":
        return fts5(create.element)
    return str(compiler.visit_create_table(create, **options))
