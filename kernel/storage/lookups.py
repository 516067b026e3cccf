"""Joins that look rows up from one side, by index, whatever a planner thinks of it."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, FromClause, Select, literal_column, select, true


def looked_up(
    dialect: str,
    outer: FromClause,
    table: FromClause,
    columns: Sequence[ColumnElement[Any]],
    *conditions: ColumnElement[bool],
) -> Select[Any]:
    """`columns` of the rows of `table` that meet the conditions, for each row of `outer`.

    How long a chain is, PostgreSQL can only guess, and for a guess it may read a whole session into a
    hash. A lateral subquery with an offset it cannot turn round, so it looks up each row's range in the
    key: what lies on other branches is never touched. SQLite joins in loops, and finds the key itself.
    """
    if dialect != "postgresql":
        return select(*columns).select_from(outer).join(table, true()).where(*conditions)
    part = select(*columns).where(*conditions).correlate(outer).offset(literal_column("0")).lateral()
    return select(*part.c).select_from(outer).join(part, true())
