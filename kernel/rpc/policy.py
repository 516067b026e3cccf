"""Who may make which call: asked with the parsed request before its handler, and again while a stream
goes on."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol

from google.protobuf.message import Message

from kernel.errors import Forbidden, NotFound, StemmaError, Unauthenticated
from kernel.rpc.call import Identity

# Seconds between two looks at a stream's right to go on.
RECHECK = 30.0


class Policy(Protocol):
    def knows(self, method: str) -> bool:
        """Whether there is a rule for `/package.Service/Method`: one without is not served."""

    async def permit(self, who: Identity, method: str, request: Message) -> frozenset[str]:
        """The roles that the caller has where the request goes, beside those of its identity.

        What the identity has in the whole tenant is decided without waiting for anything. Raises NotFound,
        the same for what is not there and for what the caller may not know of, Forbidden for a role that is
        too low, Invalid for an id that is none, Unavailable when it cannot be said now.
        """


class AllowAll:
    """For servers without rules of their own, as in tests of the plumbing."""

    def knows(self, method: str) -> bool:
        return True

    async def permit(self, who: Identity, method: str, request: Message) -> frozenset[str]:
        return frozenset()


async def while_permitted(
    work: Awaitable[bytes],
    again: Callable[[], Awaitable[object]],
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> bytes:
    """The work's end, unless `again`, asked every RECHECK seconds, refuses: then its refusal. What cannot be
    asked now is asked the next time."""
    task, refusal = asyncio.current_task(), []
    assert task is not None

    async def watch() -> None:
        while True:
            await sleep(RECHECK)
            try:
                await again()
            except (Unauthenticated, Forbidden, NotFound) as error:
                refusal.append(error)
                task.cancel()
                return
            except StemmaError:
                continue

    watching = asyncio.create_task(watch())
    try:
        return await work
    except asyncio.CancelledError:
        if refusal and task.uncancel() == 0:
            raise refusal[0] from None
        raise
    finally:
        watching.cancel()
