"""What a read costs, counted by the engine itself: rows and buffers on PostgreSQL, VM steps on SQLite.

Times say nothing on a busy machine; these counts are the same at every run.
"""

import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from sqlalchemy import event, text
from sqlalchemy.ext.asyncio import AsyncConnection

from kernel.storage.engine import Engines

Statement = tuple[str, tuple[Any, ...]]
# By name: "rows" and "buffers", or "steps".
Cost = dict[str, int]


@contextmanager
def statements(engines: Engines) -> Iterator[list[Statement]]:
    """Every statement that SQLAlchemy runs while this lasts, with its parameters as the driver got them."""
    found: list[Statement] = []

    def note(_: Any, __: Any, statement: str, parameters: Any, *___: Any) -> None:
        if not statement.startswith("BEGIN"):
            found.append((statement, tuple(parameters)))

    for pool in engines.hot:
        _listened(pool, found)
    sides = {engine.sync_engine for engine in (engines._reader, engines._writer)}
    for engine in sides:
        event.listen(engine, "before_cursor_execute", note)
    try:
        yield found
    finally:
        for engine in sides:
            event.remove(engine, "before_cursor_execute", note)


async def cost(engines: Engines, read: Callable[[], Awaitable[Any]]) -> Cost:
    """What the statements of one read cost together."""
    with statements(engines) as found:
        await read()
    assert found, "a read without a statement costs nothing"
    total: Cost = {}
    for statement in found:
        of_one = _postgres if engines.dialect == "postgresql" else _sqlite
        for name, count in (await of_one(engines, statement)).items():
            total[name] = total.get(name, 0) + count
    return total


@contextmanager
def sent(engines: Engines) -> Iterator[list[str]]:
    """Every statement as the drivers send it, those of the hot paths too. To be entered before the engines'
    first connection."""
    found: list[str] = []

    def listen(connection: Any, _: Any) -> None:
        driver = connection.driver_connection
        if engines.dialect == "postgresql":
            driver.add_query_logger(lambda record: found.append(record.query))
        else:
            connection.run_async(lambda driver: driver.set_trace_callback(found.append))

    for pool in engines.hot:
        _listened(pool, found)
    sides = {engine.sync_engine for engine in (engines._reader, engines._writer)}
    for engine in sides:
        event.listen(engine, "connect", listen)
    try:
        yield found
    finally:
        for engine in sides:
            event.remove(engine, "connect", listen)


def _listened(pool: Any, found: list[str]) -> None:
    """The pool's connections, from their first use on."""
    taken, known = pool._taken, set()

    async def heard() -> Any:
        connection = await taken()
        if connection not in known:
            known.add(connection)
            connection.add_query_logger(lambda record: found.append(record.query))
        return connection

    pool._taken = heard


# --- PostgreSQL ----------------------------------------------------------------------------------

# A driver's prepared statement is planned for its parameters at first, and once for all of them later on.
PLANS = ("force_custom_plan", "force_generic_plan")


async def _postgres(engines: Engines, statement: Statement) -> Cost:
    sql, parameters = statement
    values = ", ".join(_literal(value) for value in parameters)
    found: Cost = {}
    async with engines.reading() as connection:
        await connection.exec_driver_sql(f"PREPARE counted AS {sql}")
        for plan in PLANS:
            await connection.execute(text(f"SET LOCAL plan_cache_mode = {plan}"))
            # The second run: the first one reads the catalogue, and may set hint bits.
            await _explained(connection, f"EXECUTE counted ({values})")
            top = await _explained(connection, f"EXECUTE counted ({values})")
            short = plan.removeprefix("force_")
            found[f"rows, {short}"] = sum(_rows(node) for node in _nodes(top))
            found[f"buffers, {short}"] = top["Shared Hit Blocks"] + top["Shared Read Blocks"]
        await connection.exec_driver_sql("DEALLOCATE counted")
    return found


async def _explained(connection: AsyncConnection, sql: str) -> dict[str, Any]:
    options = "ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON"
    found = (await connection.exec_driver_sql(f"EXPLAIN ({options}) {sql}")).scalar()
    plan: dict[str, Any] = (json.loads(found) if isinstance(found, str) else found)[0]["Plan"]
    return plan


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for below in plan.get("Plans", []):
        yield from _nodes(below)


def _rows(node: dict[str, Any]) -> int:
    """Rows that a scan of a table touched, those that it threw away too."""
    if "Relation Name" not in node:
        return 0
    removed = node.get("Rows Removed by Filter", 0) + node.get("Rows Removed by Index Recheck", 0)
    return round((node["Actual Rows"] + removed) * node["Actual Loops"])


def _literal(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, list):
        return f"ARRAY[{', '.join(_literal(item) for item in value)}]"
    assert isinstance(value, str | UUID), type(value)
    quoted = str(value).replace("'", "''")
    return f"'{quoted}'"


# --- SQLite --------------------------------------------------------------------------------------


async def _sqlite(engines: Engines, statement: Statement) -> Cost:
    sql, parameters = statement
    steps = 0

    def step() -> int:
        nonlocal steps
        steps += 1
        return 0

    async with engines.reading() as connection:
        driver: Any = (await connection.get_raw_connection()).driver_connection
        await driver.set_progress_handler(step, 1)
        try:
            async with driver.execute(sql, parameters) as cursor:
                await cursor.fetchall()
        finally:
            await driver.set_progress_handler(None, 0)
    return {"steps": steps}
