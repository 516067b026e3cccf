"""A service whose model plays parts: a test writes what it says, and holds it where it likes.

part = stage.part({"deltas": ["Once ", "upon ", "a time."]}, hold_at=2)
watch = stage.watch(session, part)
await watch.until_text("Once upon ")   # the model waits before its third piece
part.go()
frames = await watch.end()
"""

import asyncio
import json
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from google.protobuf.message import Message
from stemma.kernel.v1 import floor_pb2, run_pb2

from kernel.generation.provider import ChatRequest, Chunk
from kernel.generation.script import Script
from kernel.generation.scripted import ScriptedProvider
from kernel.tree.model import Role
from tests.support.client import Client, connect, request_for, user
from tests.support.service import RunningService, running_service

WAIT = 15.0
ENDS = {"floor_committed", "held", "failed", "cancelled"}
PIECES = ["Once ", "upon ", "a time."]
STORY = "".join(PIECES)


class Part:
    """What the model answers to one text of its own. `sent`: what it was sent, oldest first."""

    def __init__(self, replies: Iterable[dict[str, Any]], hold_at: int | None) -> None:
        self.text = f"line {uuid.uuid4()}"
        script = Script.model_validate_json(json.dumps({"replies": list(replies) or [{"deltas": PIECES}]}))
        self.provider = ScriptedProvider(script, gate=self._gate, record=True)
        self._hold_at = hold_at
        self._held = asyncio.Event()
        self._go = asyncio.Event()

    @property
    def sent(self) -> list[ChatRequest]:
        return self.provider.sent

    @property
    def input(self) -> dict[str, Any]:
        """The action that makes the model play this part."""
        return {"messages": [user(self.text)]}

    def go(self) -> None:
        """Lets the model go on, now and in every later run."""
        self._go.set()

    async def held(self) -> None:
        """Until the model waits before piece `hold_at`."""
        async with asyncio.timeout(WAIT):
            await self._held.wait()

    async def _gate(self, index: int) -> None:
        if self._hold_at is not None and index >= self._hold_at:
            self._held.set()
            await self._go.wait()


class Cast:
    """The provider: plays the part whose text was the last user message, else the scripted default."""

    name = "scripted"

    def __init__(self) -> None:
        self._parts: dict[str, Part] = {}
        self._default = ScriptedProvider()

    def add(self, part: Part) -> None:
        self._parts[part.text] = part

    async def stream(self, request: ChatRequest) -> AsyncGenerator[Chunk, None]:
        said = [message.text for message in request.messages if message.role is Role.USER]
        part = self._parts.get(said[-1]) if said else None
        async for chunk in (part.provider if part else self._default).stream(request):
            yield chunk

    async def aclose(self) -> None:
        """Nothing to release."""


class Watch:
    """An open stream of a run, and the frames that it has brought."""

    def __init__(self, call: Any) -> None:
        self._call = call
        self.frames: list[run_pb2.RunEvent] = []

    @property
    def run_id(self) -> str:
        return self.frames[0].run_id

    @property
    def floor_id(self) -> str:
        return self.frames[0].floor_id

    async def next(self) -> run_pb2.RunEvent:
        self.frames.append((await anext(aiter(self._call))).event)
        return self.frames[-1]

    async def started(self) -> "Watch":
        assert (await self.next()).WhichOneof("event") == "started"
        return self

    async def until_text(self, text: str) -> "Watch":
        while text_of_frames(self.frames) != text:
            frame = await self.next()
            assert text.startswith(text_of_frames(self.frames)), frame
        return self

    async def end(self) -> list[run_pb2.RunEvent]:
        """All frames, once the stream has ended, OK, as a run's stream must."""
        assert_in_order(await self.rest())
        return self.frames

    async def rest(self) -> list[run_pb2.RunEvent]:
        """As `end`, for a stream that need not begin at the beginning: a run rebuilt from its floor."""
        async for answer in self._call:
            self.frames.append(answer.event)
        return self.frames

    def leave(self) -> None:
        """The client goes away."""
        self._call.cancel()


def text_of_frames(frames: Iterable[run_pb2.RunEvent]) -> str:
    return "".join(frame.text_delta.text for frame in frames)


def kinds(frames: Iterable[run_pb2.RunEvent]) -> list[str | None]:
    return [frame.WhichOneof("event") for frame in frames]


def as_bytes(frames: Iterable[run_pb2.RunEvent]) -> list[bytes]:
    return [frame.SerializeToString(deterministic=True) for frame in frames]


def assert_in_order(frames: list[run_pb2.RunEvent]) -> None:
    """What holds for every run seen from its beginning."""
    epochs = [[frame.seq for frame in group] for _, group in groupby(frames, lambda frame: frame.epoch)]
    assert epochs == [list(range(1, len(seqs) + 1)) for seqs in epochs], epochs
    assert [frame.epoch for frame in frames] == sorted(frame.epoch for frame in frames)
    assert len({(frame.run_id, frame.floor_id) for frame in frames}) == 1
    seen = kinds(frames)
    assert seen[0] == "started"
    assert seen.count("started") == 1
    assert [kind for kind in seen if kind in ENDS] == [seen[-1]]


def end_of(frames: list[run_pb2.RunEvent]) -> floor_pb2.Floor:
    """The floor that the last frame shows."""
    return getattr(frames[-1], str(frames[-1].WhichOneof("event"))).floor


@dataclass(frozen=True)
class Stage:
    """`client` starts runs; `other` has a connection of its own, to look from elsewhere."""

    service: RunningService
    client: Client
    other: Client
    cast: Cast

    def part(self, *replies: dict[str, Any], hold_at: int | None = None) -> Part:
        """By default it says STORY, in three pieces."""
        part = Part(replies, hold_at)
        self.cast.add(part)
        return part

    def watch(self, session_id: str, part: Part, **fields: Any) -> Watch:
        """Responds with the part's text as a new turn."""
        return self.respond(session_id=session_id, input=part.input, **fields)

    def respond(self, **fields: Any) -> Watch:
        return self.sent(request_for("Respond", **fields))

    def sent(self, request: Message, client: Client | None = None) -> Watch:
        return self.sent_by(client or self.client, request)

    def attach(self, run_id: str, after: run_pb2.RunEvent | None = None) -> Watch:
        """To a run, after a frame of it."""
        position = f"{after.epoch}.{after.seq}" if after is not None else ""
        request = request_for("AttachRun", run_id=run_id, after=position)
        return Watch(self.other.stream("AttachRun", request))

    @staticmethod
    def sent_by(client: Client, request: Message) -> Watch:
        return Watch(client.stream("Respond", request))

    async def play(self, session_id: str, *replies: dict[str, Any]) -> list[run_pb2.RunEvent]:
        """A whole run on a new turn."""
        return await self.watch(session_id, self.part(*replies)).end()

    async def floor(self, floor_id: str) -> floor_pb2.Floor:
        return (await self.other.call("GetFloor", floor_id=floor_id)).floor

    async def run(self, run_id: str) -> run_pb2.Run:
        return (await self.other.call("GetRun", run_id=run_id)).run

    async def branch(self, session_id: str) -> floor_pb2.Branch:
        """`main`."""
        branches = await self.other.everything("ListBranches", "branches", session_id=session_id)
        return next(branch for branch in branches if branch.name == "main")

    async def idle(self) -> None:
        """Until no run is under way. One that does not end is ended, and fails the test."""
        hub = self.service.service.generation.hub
        try:
            async with asyncio.timeout(WAIT):
                await hub.wait_idle()
        except TimeoutError:
            for live, _ in hub._running.values():
                live.cancel(keep=False)
            await hub.wait_idle()
            raise


@asynccontextmanager
async def on_stage(database_url: str, cast: Cast | None = None, **settings: Any) -> AsyncIterator[Stage]:
    """A service of its own on that database."""
    async with running_service(database_url, **settings) as service:
        cast = cast or Cast()
        service.service.generation.providers.use(cast)
        async with connect(service.address) as client, connect(service.address, own_connection=True) as other:
            yield Stage(service, client, other, cast)
