"""FloorService.AppendFloors: many appends up one stream, each answered when it is durable."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, replace

from google.rpc import error_details_pb2, status_pb2
from stemma.conversation.v1 import floor_service_pb2 as pb

from conversation_service.rpc.floor_writes import appended, turn_of
from kernel.errors import Aborted, DeadlineExceeded, Exhausted, StemmaError, invalid
from kernel.rpc.call import Call
from kernel.rpc.interceptors import unexpected
from kernel.rpc.status import to_status
from kernel.verbs.append import append_floor
from kernel.verbs.env import MAIN, Env, Target
from kernel.wire.requests import target_of, write_of
from kernel.wire.trees import maybe_branch_pb

# An id of a request that is none is shown as it came, up to here.
_SHOWN_ID = 64

# The floor that an item made, None when it failed; set when it is answered.
_Done = asyncio.Future[str | None]


@dataclass(frozen=True, slots=True)
class StreamLimits:
    """`items` of one stream; `waiting` items without an answer yet, and `bytes` of them and of answers
    that the client has not taken, beyond which it is not read; `silence`: seconds for which it may send
    nothing."""

    items: int = 500_000
    waiting: int = 512
    bytes: int = 16 * 1024 * 1024
    silence: float = 600.0


class FloorStream:
    def __init__(self, env: Env, limits: StreamLimits | None = None) -> None:
        self._env = env
        self._limits = limits or StreamLimits()

    async def append_floors(
        self, requests: AsyncIterator[pb.AppendFloorsRequest], call: Call
    ) -> AsyncIterator[bytes]:
        stream = _Stream(self._env, call, self._limits)
        reading = asyncio.create_task(stream.read(requests))
        try:
            while (answer := await stream.answers.get()) is not None:
                yield answer
                stream.sent(answer)
            await reading
        finally:
            await stream.close(reading)


class _Stream:
    """One call. `answers` ends with None once everything that was read is answered."""

    def __init__(self, env: Env, call: Call, limits: StreamLimits) -> None:
        self._env, self._call, self._limits = env, call, limits
        self.answers: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._tasks: set[asyncio.Task[None]] = set()
        # The newest item of each session and branch: its floor, None when it failed.
        self._last: dict[tuple[str, str], _Done] = {}
        # Of items without an answer, and of answers that the client has not taken.
        self._bytes = 0
        self._room = asyncio.Event()

    async def read(self, requests: AsyncIterator[pb.AppendFloorsRequest]) -> None:
        """Starts an item for each message. Raises what is wrong with the stream as a whole, after
        what was read before is answered."""
        try:
            count = 0
            messages = aiter(requests)
            while (request := await self._next(messages)) is not None:
                count += 1
                if count > self._limits.items:
                    raise Exhausted(
                        "LIMIT", f"A stream has at most {self._limits.items:,} items: open another."
                    )
                self._start(request)
                await self._until_room()
            if not count:
                raise invalid("request_id", "the stream brought no item")
        finally:
            while self._tasks:
                await asyncio.wait(self._tasks)
            self.answers.put_nowait(None)

    def sent(self, answer: bytes) -> None:
        """The client has taken an answer: there is room for an item."""
        self._bytes -= len(answer)
        self._room.set()

    def _answer(self, answer: bytes) -> None:
        self._bytes += len(answer)
        self.answers.put_nowait(answer)

    async def close(self, reading: "asyncio.Task[None]") -> None:
        """What is under way ends by itself; what has not begun never does."""
        for task in (reading, *self._tasks):
            task.cancel()
        with suppress(asyncio.CancelledError, StemmaError):
            await reading

    async def _next(self, messages: AsyncIterator[pb.AppendFloorsRequest]) -> pb.AppendFloorsRequest | None:
        try:
            async with asyncio.timeout(self._limits.silence):
                return await anext(messages, None)
        except TimeoutError:
            text = f"Nothing came for {self._limits.silence:g} s. Open another stream."
            raise DeadlineExceeded("DEADLINE_EXCEEDED", text) from None

    async def _until_room(self) -> None:
        while len(self._tasks) >= self._limits.waiting or self._bytes > self._limits.bytes:
            self._room.clear()
            await self._room.wait()

    def _start(self, request: pb.AppendFloorsRequest) -> None:
        key = (request.session_id.lower(), request.branch or MAIN)
        previous, done = self._last.get(key), asyncio.get_running_loop().create_future()
        self._last[key] = done
        size = request.ByteSize()
        self._bytes += size
        task = asyncio.create_task(self._item(request, previous, done))
        self._tasks.add(task)

        def ended(task: "asyncio.Task[None]") -> None:
            self._tasks.discard(task)
            self._bytes -= size
            self._room.set()

        task.add_done_callback(ended)

    async def _item(self, request: pb.AppendFloorsRequest, previous: _Done | None, done: _Done) -> None:
        before = None if previous is None else await previous
        request_id = request.request_id[:_SHOWN_ID]
        try:
            await self._call.permit(request)
            write = write_of(request, self._call)
            target = _target(request, previous is not None, before)
            made = await append_floor(self._env, write, target, turn_of(request))
            rest = pb.AppendFloorsResponse(request_id=request_id, branch=maybe_branch_pb(made.branch))
            answer = appended(made, rest)
            done.set_result(made.floor.floor_id)
        except StemmaError as error:
            answer = _refused(request_id, to_status(error))
        except Exception as error:
            answer = _refused(request_id, unexpected(error))
        finally:
            if not done.done():
                done.set_result(None)
        self._answer(answer)


def _target(request: pb.AppendFloorsRequest, has_previous: bool, before: str | None) -> Target:
    target = target_of(request)
    if not request.after_previous:
        return target
    if target.expected_head is not None:
        raise invalid("after_previous", "not together with expected_head")
    if not has_previous:
        raise invalid("after_previous", "no item of this session and branch came before on this stream")
    if before is None:
        raise Aborted("PREVIOUS_FAILED", "The item before it failed: nothing was appended. Send both again.")
    return replace(target, expected_head=before)


def _refused(request_id: str, status: status_pb2.Status) -> bytes:
    info = error_details_pb2.ErrorInfo()
    status.details[0].Unpack(info)
    error = pb.AppendFloorsError(
        code=status.code, reason=info.reason, message=status.message, metadata=info.metadata
    )
    return pb.AppendFloorsResponse(request_id=request_id, error=error).SerializeToString()
