"""Our own tools: an await is told by its name, and a call is left exactly where that was asked for."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.cancellation.awaits import parsed, standing_at
from tests.cancellation.stepping import Moment, When, run

HERE = "tests/cancellation/test_awaits.py"


def test_every_kind_of_await_has_a_name_of_its_own() -> None:
    source = """
class Store:
    async def read(self):
        async with self.turn() as turn, self.connection():
            await self.once(
                turn)
            async for row in self.rows():
                await self.once(turn)
        return [await one for one in self.all]
async def outer():
    async def inner():
        await outer()
    def plain():
        return inner
"""
    assert list(parsed(source, "a.py").values()) == [
        "a.py:Store.read: async with self.turn() as turn, self.connect…",
        "a.py:Store.read: await self.once(turn)",
        "a.py:Store.read: async for row in self.rows()",
        "a.py:Store.read: await self.once(turn) #2",
        "a.py:Store.read: await one",
        "a.py:outer.inner: await outer()",
    ]


@asynccontextmanager
async def turn(waits_for: "asyncio.Future[str]") -> AsyncIterator[str]:
    yield await waits_for


async def numbers(waits_for: "asyncio.Future[str]") -> AsyncIterator[str]:
    async with turn(waits_for) as number:
        yield number


async def first(waits_for: "asyncio.Future[str]") -> str:
    async for number in numbers(waits_for):
        return number
    return ""


async def test_a_suspended_call_stands_at_each_await_above_what_it_waits_for() -> None:
    waits_for: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    work = first(waits_for)
    assert work.send(None) is waits_for
    assert standing_at(work) == (
        f"{HERE}:first: async for number in numbers(waits_for)",
        f"{HERE}:numbers: async with turn(waits_for) as number",
        f"{HERE}:turn: await waits_for",
    )
    work.close()


async def two_steps(log: list[str], ready: "asyncio.Future[str]") -> str:
    shielded = asyncio.create_task(one_step(log))
    await asyncio.shield(shielded)
    log.append(await ready)
    return "answer"


async def one_step(log: list[str]) -> None:
    await asyncio.sleep(0)
    log.append("shielded")


async def at(number: int, when: When) -> tuple[list[str], Moment | None, str | None]:
    """What was done, where it was left, and the answer."""
    log: list[str] = []
    ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_soon(ready.set_result, "ready")
    call = await run(lambda: two_steps(log, ready), lambda now, _: now == number, when)
    await asyncio.gather(*asyncio.all_tasks() - {asyncio.current_task()})
    return log, call.left_at, call.answer


async def test_a_caller_goes_at_the_suspension_that_was_asked_for() -> None:
    outer = f"{HERE}:two_steps: await asyncio.shield(shielded)"
    inner = f"{HERE}:one_step: await asyncio.sleep(0)"
    for when in When:
        assert await at(0, when) == (["shielded"], Moment((outer,), True), None)
        assert await at(1, when) == (["shielded"], Moment((inner,), False), None)
        assert await at(2, when) == (["shielded", "ready"], None, "answer")
