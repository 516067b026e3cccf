"""A new table is analysed as soon as it has rows, and not again."""

import asyncio

from kernel.storage.statistics import Statistics
from tests.conformance.world import new_world, opened


async def test_what_has_rows_is_analysed_once(engine: str, migrated_url: str) -> None:
    async with opened(migrated_url) as (engines, store):
        statistics = Statistics(engines)
        assert await statistics.look() == []
        world = await new_world(store)
        await world.line(world.root, 250)
        if engine == "sqlite":
            assert await statistics.look() == []
            return
        # The server counts rows a little later.
        async with asyncio.timeout(30):
            while not (found := await statistics.look()):
                pass
        assert "floor" in found
        assert "project" not in found
        assert "floor" not in await statistics.look()
        assert await Statistics(engines).look() == []
