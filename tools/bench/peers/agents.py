"""OpenAI Agents' SQLAlchemySession: a table of messages in their order. It has no branches."""

import asyncio

from agents.extensions.memory import SQLAlchemySession  # type: ignore[import-not-found]

from tools.bench.peers.sizes import table_bytes
from tools.bench.peers.work import Result, Turn, given, in_turns, report


async def main() -> None:
    url, work = given()
    session = SQLAlchemySession.from_url(
        "bench", url=url.replace("postgresql://", "postgresql+asyncpg://"), create_tables=True
    )
    texts = work.texts()

    async def append(turn: Turn) -> None:
        await session.add_items(
            [{"role": "user", "content": turn[0]}, {"role": "assistant", "content": turn[1]}]
        )

    await append(next(texts))
    first = await table_bytes(url)
    for _ in range(1, work.turns):
        await append(next(texts))
    grown = await table_bytes(url) - first
    count = len(await session.get_items())
    appending, loading = await in_turns(lambda: append(next(texts)), session.get_items, work.times)
    report(Result(appending, loading, work.each(grown), messages=count))


if __name__ == "__main__":
    asyncio.run(main())
