"""Google ADK's DatabaseSessionService: each message is an event of a session."""

import asyncio

from google.adk.events import Event  # type: ignore[import-untyped]
from google.adk.sessions import DatabaseSessionService, Session  # type: ignore[import-untyped]
from google.genai.types import Content, Part  # type: ignore[import-untyped]

from tools.bench.peers.sizes import table_bytes
from tools.bench.peers.work import Result, Turn, given, in_turns, report

_WHO = {"app_name": "bench", "user_id": "somebody"}


def _event(author: str, role: str, text: str) -> Event:
    return Event(author=author, invocation_id="run", content=Content(role=role, parts=[Part(text=text)]))


async def main() -> None:
    url, work = given()
    service = DatabaseSessionService(url.replace("postgresql://", "postgresql+asyncpg://"))
    texts = work.texts()
    session: Session = await service.create_session(**_WHO)

    async def append(turn: Turn) -> None:
        await service.append_event(session, _event("user", "user", turn[0]))
        await service.append_event(session, _event("agent", "model", turn[1]))

    await append(next(texts))
    first = await table_bytes(url)
    for _ in range(1, work.turns):
        await append(next(texts))
    grown = await table_bytes(url) - first

    async def load() -> int:
        found = await service.get_session(**_WHO, session_id=session.id)
        assert found is not None
        return len(found.events)

    count = await load()
    appending, loading = await in_turns(lambda: append(next(texts)), load, work.times)
    report(Result(appending, loading, work.each(grown), messages=count))


if __name__ == "__main__":
    asyncio.run(main())
