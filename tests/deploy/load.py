"""What apps do all the time, through the Python client: each keeps account of what it was told is done."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from stemma.conversation.v1 import (
    floor_service_pb2,
    run_service_pb2,
    session_service_pb2,
    staged_write_service_pb2,
)
from stemma.draft.v1 import draft_service_pb2
from stemma_client import AsyncStemma

from tests.support.client import assistant, user


@dataclass
class Account:
    """What was acknowledged: by session, the texts of its turns in order; the replies that were streamed and
    those that their pages hold; the accepted entries' floors; the feed's positions."""

    turns: dict[str, list[str]] = field(default_factory=dict)
    replies: list[tuple[str, str]] = field(default_factory=list)
    accepted: list[str] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)


class Load:
    """Writers, talkers, a drafter and a watcher, until told to stop. Any error that the client does not
    absorb ends `stop()`."""

    def __init__(self, stemma: AsyncStemma) -> None:
        self._stemma = stemma
        self._stopping = asyncio.Event()
        self._last_session = ""
        self.account = Account()

    async def session(self) -> str:
        answer = await self._stemma.sessions.CreateSession(session_service_pb2.CreateSessionRequest())
        return str(answer.session.session_id)

    async def write(self) -> None:
        session_id = await self.session()
        turns = self.account.turns.setdefault(session_id, [])
        await self._repeatedly(lambda: self._turn(session_id, turns))

    async def _turn(self, session_id: str, turns: list[str]) -> None:
        text = f"turn {len(turns)}"
        request = floor_service_pb2.AppendFloorRequest(session_id=session_id)
        request.input.append(user(text))
        request.output.append(assistant(f"re: {text}"))
        await self._stemma.floors.AppendFloor(request)
        turns.append(text)

    async def talk(self) -> None:
        session_id = await self.session()
        await self._repeatedly(lambda: self._reply(session_id))

    async def _reply(self, session_id: str) -> None:
        request = run_service_pb2.RespondRequest(session_id=session_id)
        request.input.messages.append(user("say it"))
        seen, kept = "", ""
        async for event in self._stemma.respond(request):
            kind = event.WhichOneof("event")
            if kind == "text_delta":
                seen += event.text_delta.text
            elif kind == "reset":
                seen = "".join(_text(page) for page in event.reset.pages)
            elif kind == "floor_committed":
                kept = _text(event.floor_committed.floor.output_page)
        self.account.replies.append((seen, kept))

    async def draft(self) -> None:
        session_id = await self.session()
        self.account.turns[session_id] = turns = []
        await self._turn(session_id, turns)
        await self._repeatedly(lambda: self._draft_life(session_id))

    async def _draft_life(self, session_id: str) -> None:
        stemma = self._stemma
        create = draft_service_pb2.CreateDraftRequest(session_id=session_id, purpose="another reply")
        draft_id = (await stemma.drafts.CreateDraft(create)).draft.draft_id
        said = draft_service_pb2.AppendMessageRequest(draft_id=draft_id, message=assistant("drafted"))
        await stemma.drafts.AppendMessage(said)
        export = draft_service_pb2.ExportDraftRequest(draft_id=draft_id, reason="good", finalize=True)
        export.target.session_id = session_id
        export.target.placement = 2
        export.parts.add().output_page.SetInParent()
        staged_write_id = (await stemma.drafts.ExportDraft(export)).staged_write_id
        accept = staged_write_service_pb2.AcceptStagedWriteRequest(
            staged_write_id=staged_write_id, reason="yes", allow_stale=True
        )
        answer = await stemma.staged_writes.AcceptStagedWrite(accept)
        self.account.accepted.append(answer.floor.floor_id)
        self.account.turns[session_id].append("drafted")

    async def watch(self) -> None:
        """To the end of the feed, once nothing more is written."""
        feed = self._stemma.watch("default")
        try:
            async for event in feed:
                self.account.positions.append(event.position)
                if event.session_id == self._last_session and event.type == "session.created":
                    return
        finally:
            await feed.aclose()

    async def _repeatedly(self, act: Callable[[], Awaitable[None]]) -> None:
        while not self._stopping.is_set():
            await act()

    @asynccontextmanager
    async def running(self, *, writers: int, talkers: int) -> AsyncIterator[Account]:
        """Under load until the block ends; raises what any of them could not absorb."""
        watching = asyncio.create_task(self.watch())
        async with asyncio.TaskGroup() as group:
            for _ in range(writers):
                group.create_task(self.write())
            for _ in range(talkers):
                group.create_task(self.talk())
            group.create_task(self.draft())
            yield self.account
            self._stopping.set()
        self._last_session = await self.session()
        await watching


def _text(page: object) -> str:
    return "".join(part.text.text for message in page.messages for part in message.parts)  # type: ignore[attr-defined]
