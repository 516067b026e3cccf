"""Bytes on disk of all tables in a peer's database."""

import asyncpg


async def table_bytes(url: str) -> int:
    connection = await asyncpg.connect(url)
    try:
        size: int = await connection.fetchval(
            "SELECT sum(pg_total_relation_size(oid)) FROM pg_class"
            " WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
        )
        return int(size)
    finally:
        await connection.close()
