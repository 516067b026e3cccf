"""Many callers on a pool of two connections, gone at random times (R3, R1).

In rounds: a crowd of calls at once, most of them given up; then, at rest, every turn is whole or absent and
the pool as it was; then each call is repeated with its request id, and has one effect and its own answer.
"""

import asyncio
import os
import random
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import grpc
import pytest

from kernel.storage import engine as engine_module
from tests.cancellation.base import Base, until, watched
from tests.cancellation.books import agree
from tests.cancellation.conftest import CANCELLATIONS
from tests.cancellation.talk import Ask, Talk
from tests.support.client import METHODS, TIMEOUT, Client, answer_of
from tests.support.service import RunningService, running_service

# The loop that the service runs on.
pytestmark = pytest.mark.asyncio(loop_factories=["uvloop"])

CROWD = 64
CHANNELS = 4
SESSIONS = 12
# Repeats at once: as many as there are connections.
REPEATS = 2
SEED = int(os.environ.get("CANCEL_SEED", "1"))
GONE = ("CANCELLED", "DEADLINE_EXCEEDED")
# A pool of two is empty now and then, and says so.
BUSY = ("UNAVAILABLE", "RESOURCE_EXHAUSTED")


@dataclass
class Storm:
    """`patience`: seconds within which callers go; it follows how long answers take on this machine."""

    running: RunningService
    base: Base
    channels: list[grpc.aio.Channel]
    talk: Talk
    randomly: random.Random
    patience: float = 0.2
    ends: Counter[str] = field(default_factory=Counter)

    async def round(self) -> None:
        asks = [self.talk.ask() for _ in range(CROWD)]
        answers = await asyncio.gather(*(self._impatient(ask) for ask in asks))
        gone = sum(answer is None for answer in answers)
        self.patience *= 1.3 if gone > 0.75 * CROWD else 0.9
        await until(self._calls_end)
        await self.base.reached()
        books = await agree(self.running.service.store._engines)
        for ask, given in zip(asks, answers, strict=True):
            if ask.writes:
                happened = ask.request.request_id in books.request_ids  # type: ignore[attr-defined]
                assert happened or given is None, "what was answered did not happen"
                if given is None:
                    self.ends["whole" if happened else "absent"] += 1
        turns = asyncio.Semaphore(REPEATS)
        await asyncio.gather(*(self._repeated(turns, *pair) for pair in zip(asks, answers, strict=True)))
        await self.base.reached()

    async def _calls_end(self) -> str:
        active = self.running.service.server.active
        return f"{active} calls are still answered" if active else ""

    async def _impatient(self, ask: Ask) -> bytes | None:
        """A call whose caller goes, or whose time is up, at a random moment; the answer if it came before."""
        limit = self.randomly.uniform(0, self.patience)
        by_deadline = self.randomly.random() < 0.5
        call = self._begin(ask, self.randomly.choice(self.channels), limit if by_deadline else None)
        timer = None if by_deadline else asyncio.get_running_loop().call_later(limit, call.cancel)
        answer = None
        with suppress(asyncio.CancelledError, grpc.aio.AioRpcError):
            answer = await call
        if timer is not None:
            timer.cancel()
        code = (await call.code()).name
        self.ends[code] += 1
        assert code in ("OK", *GONE, *BUSY), await call.details()
        assert (code == "OK") == (answer is not None)
        return answer

    async def _repeated(self, turns: asyncio.Semaphore, ask: Ask, given: bytes | None) -> None:
        async with turns:
            answer = await self._answered(ask)
        if ask.writes:
            assert given in (None, answer), "a repeat is answered otherwise"
        elif given is not None:
            ask.check(answer_of(ask.rpc, given))
        ask.check(answer_of(ask.rpc, answer))

    async def _answered(self, ask: Ask) -> bytes:
        """As the contract says: what is UNAVAILABLE is tried again."""
        answer = b""

        async def refused() -> str:
            nonlocal answer
            try:
                answer = await self._begin(ask, self.channels[0], TIMEOUT)
            except grpc.aio.AioRpcError as error:
                if error.code().name not in BUSY:
                    raise
                return f"{ask.rpc} is refused: {error.details()}"
            return ""

        await until(refused)
        return answer

    def _begin(self, ask: Ask, channel: grpc.aio.Channel, timeout: float | None) -> Any:
        path = f"/{METHODS[ask.rpc].containing_service.full_name}/{ask.rpc}"
        raw: Any = ask.request.SerializeToString()
        return channel.unary_unary(path)(raw, timeout=timeout)

    async def audit(self) -> None:
        """Every session verifies, and every floor that was ever answered is still what it was (R2, C5)."""
        client = Client(self.channels[0])
        for session_id, floors in self.talk.floors.items():
            problems = (await client.call("VerifySession", session_id=session_id)).problems
            assert not problems, problems
            tree = await client.everything("GetTree", "floors", session_id=session_id)
            assert {node.floor_id for node in tree} == {floor_id for floor_id, _ in floors}


@asynccontextmanager
async def storm(url: str) -> AsyncIterator[Storm]:
    randomly = random.Random(SEED)
    async with AsyncExitStack() as until_the_end:
        running = await until_the_end.enter_async_context(running_service(url))
        base = await until_the_end.enter_async_context(watched(running.service.store, url))
        # Each with a TCP connection of its own.
        options = [("grpc.use_local_subchannel_pool", 1)]
        channels = [
            await until_the_end.enter_async_context(grpc.aio.insecure_channel(running.address, options))
            for _ in range(CHANNELS)
        ]
        talk = Talk(randomly)
        await talk.begin(Client(channels[0]), SESSIONS)
        yield Storm(running, base, channels, talk, randomly)


async def test_many_callers_gone_at_random_times(
    migrated_url: str,
    monkeypatch: pytest.MonkeyPatch,
    record_property: Callable[[str, object], None],
) -> None:
    # Two connections in all: SQLite's one writer, and one reader.
    monkeypatch.setattr(engine_module, "_POSTGRES_CONNECTIONS", 2)
    monkeypatch.setattr(engine_module, "_SQLITE_READERS", 1)
    async with storm(migrated_url) as on:
        while sum(on.ends[code] for code in GONE) < CANCELLATIONS:
            await on.round()
        await on.audit()
        books = await agree(on.running.service.store._engines)
    record_property("report", f"seed {SEED}: {dict(on.ends)}; {dict(books.counts)}")
    assert all(on.ends[end] > 0 for end in ("OK", *GONE, "whole", "absent"))
