"""Who watches feeds in this process, and when there is something new for them.

One statement asks for the newest position of every watched feed, at once after a commit of this process,
and otherwise each interval, for those of other replicas. What is new each watcher reads from the database:
so a watcher's place is one number, and nothing that happens to this process can lose an event.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import structlog

from kernel.errors import StemmaError, Unavailable

log = structlog.get_logger(__name__)

Page = TypeVar("Page")
FeedKey = tuple[str, str]
Newest = Callable[[Collection[FeedKey]], Awaitable[Mapping[FeedKey, int]]]

# Seconds: between looks for commits of other replicas, and at least between any two.
INTERVAL, _APART = 0.25, 0.02


@dataclass(eq=False)
class Watched:
    """One feed. `last`: the newest position that is known here."""

    last: int = 0
    closed: bool = False
    watchers: int = 0
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    async def beyond(self, position: int) -> None:
        """Returns when there is something after the position. Raises Unavailable once the hub closes."""
        while self.last <= position and not self.closed:
            await self._changed.wait()
        if self.closed:
            raise Unavailable("UNAVAILABLE", "The server is stopping. Resume after the last position seen.")

    def advance(self, last: int) -> None:
        if last > self.last:
            self.last = last
            self._wake()

    def close(self) -> None:
        self.closed = True
        self._wake()

    def _wake(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()


def _seen(reading: "asyncio.Task[Any]") -> None:
    """An error is for those who wait, if they still do."""
    if not reading.cancelled():
        reading.exception()


class FeedHub(Generic[Page]):
    """Belongs to one event loop. `newest`: the newest positions of some feeds, absent ones left out."""

    def __init__(self, newest: Newest, interval: float = INTERVAL) -> None:
        self._newest = newest
        self._interval = interval
        self._watched: dict[FeedKey, Watched] = {}
        self._reads: dict[tuple[str, str, int], asyncio.Task[Page]] = {}
        self._wanted = asyncio.Event()
        self._closed = False

    @contextmanager
    def watching(self, tenant_id: str, project_id: str) -> Iterator[Watched]:
        """The feed for one more watcher, as long as the block lasts."""
        feed = self._watched.setdefault((tenant_id, project_id), Watched())
        feed.closed = feed.closed or self._closed
        feed.watchers += 1
        try:
            yield feed
        finally:
            feed.watchers -= 1
            if not feed.watchers:
                del self._watched[tenant_id, project_id]

    async def shared(
        self, tenant_id: str, project_id: str, after: int, read: Callable[[], Awaitable[Page]]
    ) -> Page:
        """What `read` gives. Watchers at the same place who ask at the same time share one reading."""
        key = (tenant_id, project_id, after)

        async def reading() -> Page:
            try:
                return await read()
            finally:
                del self._reads[key]

        if key not in self._reads:
            self._reads[key] = asyncio.create_task(reading())
            self._reads[key].add_done_callback(_seen)
        return await asyncio.shield(self._reads[key])

    def committed(self, tenant_id: str) -> None:
        """This process has committed events of the tenant: look at once, if anyone watches."""
        if any(tenant == tenant_id for tenant, _ in self._watched):
            self._wanted.set()

    async def run(self) -> None:
        """Looks for what is new until it is cancelled."""
        while True:
            try:
                async with asyncio.timeout(self._interval):
                    await self._wanted.wait()
            except TimeoutError:
                pass
            self._wanted.clear()
            await self._look()
            await asyncio.sleep(_APART)

    async def _look(self) -> None:
        if not self._watched:
            return
        try:
            found = await self._newest(list(self._watched))
        except StemmaError as error:
            log.warning("feeds could not be looked at; it is tried again", reason=error.reason)
            return
        for key, last in found.items():
            if key in self._watched:
                self._watched[key].advance(last)

    async def idle(self) -> None:
        """Returns when nothing is being read for anyone."""
        while self._reads:
            await asyncio.wait(set(self._reads.values()))

    def close(self) -> None:
        """Ends all watching, now and from now on: what streams must end for the server to stop."""
        self._closed = True
        for feed in self._watched.values():
            feed.close()
