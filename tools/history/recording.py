"""One client's calls: written down before they are sent, and again when they are over."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import grpc
from google.protobuf.message import Message
from stemma.kernel.v1 import floor_pb2

from kernel.rpc.fingerprint import fingerprint
from tools.history.content import said
from tools.history.dump import state_of
from tools.history.files import HistoryWriter
from tools.history.model import AMBIGUOUS, Answer, Operation, Outcome
from tools.history.wire import Caller, answer_of, refusal_of

# Seconds.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.02, 1.0


class Stopped(Exception):
    """The clients were told to stop while one waited for the service."""


@dataclass(frozen=True, slots=True)
class Told:
    """How a call ended: as it is recorded, what else its error said, and the answer of an `ok` one."""

    operation: Operation
    metadata: dict[str, str]
    answer: Any = None


class Recorder:
    """Calls of one client over a connection of its own."""

    def __init__(
        self, address: str, name: str, out: HistoryWriter, stop: asyncio.Event, deadline: float
    ) -> None:
        self.name, self.stop = name, stop
        self._caller, self._out, self._deadline = Caller(address), out, deadline

    async def call(self, method: str, request: Any, deadline: float | None = None) -> Told:
        """One call. Does not raise what the service or the transport says: see `operation.outcome`."""
        asked = self._out.invoke(
            client=self.name, method=method, fingerprint=fingerprint(request).hex(), **_asked(request)
        )
        try:
            raw = await self._caller.raw(method, request, deadline or self._deadline)
        except grpc.aio.AioRpcError as error:
            refusal = refusal_of(error)
            certain = refusal.answered and refusal.reason not in AMBIGUOUS
            outcome: Outcome = "fail" if certain else "unknown"
            head = refusal.metadata.get("current_head", "")
            done = self._out.complete(asked, outcome, reason=refusal.reason, current_head=head)
            return Told(done, refusal.metadata)
        answer = answer_of(method, raw)
        done = self._out.complete(asked, "ok", answer=_answer(answer, raw))
        return Told(done, {}, answer)

    async def before_another(self, told: Told, attempt: int) -> None:
        """Waits until a retry makes sense: at once after a deadline; else for a connection and then, longer
        with every attempt, for what is behind the service. Raises Stopped when told to stop meanwhile."""
        if told.operation.reason == "DEADLINE_EXCEEDED":
            return
        await self._or_stopped(self._caller.ready())
        pause = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2**attempt)
        with suppress(TimeoutError):
            await asyncio.wait_for(self.stop.wait(), pause)
            raise Stopped

    async def _or_stopped(self, something: Awaitable[None]) -> None:
        awaited = asyncio.ensure_future(something)
        stopped = asyncio.ensure_future(self.stop.wait())
        try:
            await asyncio.wait((awaited, stopped), return_when=asyncio.FIRST_COMPLETED)
            if not awaited.done():
                raise Stopped
            await awaited
        finally:
            awaited.cancel()
            stopped.cancel()

    async def close(self) -> None:
        await self._caller.close()


def _asked(request: Message) -> dict[str, Any]:
    """The fields of Operation that a request has."""
    values: dict[str, Any] = {}
    for name in ("request_id", "session_id", "branch", "floor_id", "page_id", "expected_head"):
        if value := getattr(request, name, ""):
            values[name] = value
    if name := getattr(request, "name", ""):
        values["branch"] = name
    values["input"] = said(getattr(request, "input", ()))
    values["output"] = said(getattr(request, "output", ()) or getattr(request, "messages", ()))
    values["abandon"] = getattr(request, "on_pending", 0) == floor_pb2.ON_PENDING_ABANDON
    return values


def _answer(answer: Any, raw: bytes) -> Answer:
    """What the answer says; a field that its kind has not is empty."""
    values: dict[str, Any] = {"raw": sha256(raw).hexdigest()}
    if (session := getattr(answer, "session", None)) is not None:
        values["session_id"] = session.session_id
    if (floor := getattr(answer, "floor", None)) is not None:
        for name in ("session_id", "floor_id", "parent_floor_id", "digest", "depth"):
            values[name] = getattr(floor, name)
        values["state"] = state_of(floor)
        values["input"] = said(floor.input_page.messages)
        values["output"] = said(floor.output_page.messages)
    if (page := getattr(answer, "page", None)) is not None:
        values["page_id"] = page.page_id
    if (branch := getattr(answer, "branch", None)) is not None:
        for name in ("head_floor_id", "pending_floor_id", "version"):
            values[name] = getattr(branch, name)
    return Answer(**values)
