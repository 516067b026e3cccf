"""Background work goes on after what nobody expected."""

import asyncio
from contextlib import suppress

from kernel.steady import steadily


async def test_it_is_begun_again_after_an_error_and_ends_when_cancelled() -> None:
    begun = 0
    third = asyncio.Event()

    async def work() -> None:
        nonlocal begun
        begun += 1
        if begun < 3:
            raise RuntimeError("nobody expected this")
        third.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(steadily(work, again=0))
    await asyncio.wait_for(third.wait(), 10)
    assert not task.done()
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    assert (begun, task.cancelled()) == (3, True)
