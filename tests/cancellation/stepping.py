"""One call of our code, and its caller gone at a moment of choice.

A call's moments are its suspensions, counted over the task of the caller and every task that the call
starts: so they include the moments of a commit that runs where the caller's cancellation cannot reach.
"""

import asyncio
import enum
from collections.abc import Callable, Coroutine, Generator
from contextvars import Context, ContextVar
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from tests.cancellation.awaits import standing_at

T = TypeVar("T")


class When(enum.Enum):
    """The caller goes as the wait begins; or as it is over, when what was waited for is there and nobody
    has taken it yet."""

    BEGINS = "begins"
    OVER = "over"


@dataclass(frozen=True)
class Moment:
    """One suspension: the awaits of ours that were stood at, from the outside in; and whether it was the
    caller that waited, or a task of its call's."""

    awaits: tuple[str, ...]
    callers: bool


# Asked of each suspension, with its number from 0.
Leaves = Callable[[int, Moment], bool]


@dataclass
class Call(Generic[T]):
    """What became of one call. `left_at` is None when its caller stayed, `answer` when it was cancelled."""

    leaves: Leaves
    when: When = When.BEGINS
    noticed: Callable[[Moment], None] = lambda _: None
    moments: list[Moment] = field(default_factory=list)
    left_at: Moment | None = None
    answer: T | None = None
    caller: "asyncio.Task[T] | None" = None

    def suspended(self, work: Any, waits_for: Any) -> None:
        """A task of the call suspends."""
        if self.caller is None or self.caller.done():
            return
        moment = Moment(standing_at(work), asyncio.current_task() is self.caller)
        self.moments.append(moment)
        self.noticed(moment)
        if self.left_at is not None or not self.leaves(len(self.moments) - 1, moment):
            return
        self.left_at = moment
        if self.when is When.BEGINS:
            self.caller.cancel()
        elif waits_for is None:
            asyncio.get_running_loop().call_soon(self._leave)
        else:
            # Before the task itself asks to be told: so its caller is gone when it goes on.
            waits_for.add_done_callback(self._leave)

    def _leave(self, _: object = None) -> None:
        assert self.caller is not None
        self.caller.cancel()


_call: ContextVar[Call[Any] | None] = ContextVar("call", default=None)


class _Stepped(Coroutine[Any, Any, T]):
    """A coroutine whose suspensions are told to its call."""

    def __init__(self, work: Coroutine[Any, Any, T], call: Call[Any]) -> None:
        self._work = work
        self._call = call

    def send(self, value: Any) -> Any:
        return self._told(self._work.send(value))

    def throw(self, *error: Any) -> Any:
        return self._told(self._work.throw(*error))

    def close(self) -> None:
        self._work.close()

    def __await__(self) -> Generator[Any, Any, T]:
        raise TypeError("only a task runs this")

    def _told(self, waits_for: Any) -> Any:
        self._call.suspended(self._work, waits_for)
        return waits_for


def _task(
    loop: asyncio.AbstractEventLoop, work: Any, *, context: Context | None = None, **options: Any
) -> "asyncio.Task[Any]":
    call = _call.get() if context is None else context.get(_call)
    return asyncio.Task(_Stepped(work, call) if call else work, loop=loop, context=context, **options)


async def run(
    work: Callable[[], Coroutine[Any, Any, T]],
    leaves: Leaves,
    when: When = When.BEGINS,
    noticed: Callable[[Moment], None] = lambda _: None,
) -> Call[T]:
    """Runs a call, and cancels its caller at the first suspension that `leaves` says yes to. `noticed` hears
    of each one, before that. Raises what the call raises, except for that cancellation.

    The caller has an end when this returns; what it started may still be under way.
    """
    call: Call[T] = Call(leaves, when, noticed)
    loop = asyncio.get_running_loop()
    before = loop.get_task_factory()
    loop.set_task_factory(_task)
    token = _call.set(call)
    try:
        call.caller = loop.create_task(work())
    finally:
        _call.reset(token)
    try:
        await asyncio.wait([call.caller])
    finally:
        loop.set_task_factory(before)
    if not call.caller.cancelled():
        call.answer = call.caller.result()
    return call
