"""Many drafts for the price of one: a draft's rows are copied in PostgreSQL, with ids of their own."""

import uuid
from hashlib import md5

import asyncpg
from sqlalchemy import Table

from draft_service.storage.tables import metadata
from kernel.storage.types import Id

# The first of these columns that a table has says whose a row is: the draft's, or its own project's.
_OWNERS = ("session_id", "draft_id", "own_project_id", "owner_id", "target_id", "project_id")
# What the first has for itself, or shares with the copies.
_NOT_COPIED = {"request", "draft_audit", "tombstone", "process", "snapshot", "snapshot_floor"} | {
    name
    for name, table in metadata.tables.items()
    if name.startswith("audit_") or not set(_OWNERS) & set(table.c.keys())
}
_OF_SOURCE = {"project_id", "source_session_id", "source_floor_id", "base_floor_id", "source_id"}
_HOLD = """
    UPDATE snapshot s SET refs = refs + $2 FROM draft d
    WHERE d.draft_id = $1 AND s.source_id = d.source_id AND s.digest = d.snapshot_digest
"""


async def copies(url: str, draft_id: str, count: int) -> list[str]:
    """So many drafts that are as this one is; their ids. Every id in their rows is new, but for the source's,
    and the same wherever it stands."""
    salt = str(uuid.uuid4())
    connection = await asyncpg.connect(url)
    try:
        async with connection.transaction():
            own = "SELECT own_project_id FROM draft WHERE draft_id = $1"
            project_id = await connection.fetchval(own, draft_id)
            for table in metadata.sorted_tables:
                if table.name not in _NOT_COPIED:
                    await connection.execute(_copying(table), draft_id, project_id, salt, count)
            await connection.execute(_HOLD, draft_id, count)
    finally:
        await connection.close()
    return [str(uuid.UUID(md5(f"{draft_id}{salt}{n}".encode()).hexdigest())) for n in range(1, count + 1)]


def _copying(table: Table) -> str:
    """Its parameters: the ids of the draft and of its project, a salt, how many."""
    names = [column.name for column in table.columns]
    fresh = {column.name for column in table.columns if isinstance(column.type, Id)}
    fresh -= _OF_SOURCE if table.name == "draft" else set()
    values = (f"md5({name}::text || $3 || n)::uuid" if name in fresh else name for name in names)
    owner = next(name for name in _OWNERS if name in names)
    return (
        f'INSERT INTO "{table.name}" ({", ".join(names)}) SELECT {", ".join(values)}'
        f' FROM "{table.name}", generate_series(1, $4::int) n WHERE {owner} IN ($1, $2)'
    )
