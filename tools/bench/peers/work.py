"""The work, and how a peer reports it. Runs in the peers' environment, which has of Stemma only words."""

import json
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from statistics import median

from tools.bench.words import turns

Turn = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Work:
    """How far a conversation grows, where branches are abandoned (in messages, two a turn), how often each
    thing is timed, and how many branches are weighed: a database grows by whole pages."""

    messages: int
    branch_at: int
    times: int
    branches: int

    @property
    def turns(self) -> int:
        return self.messages // 2

    @property
    def branch_turn(self) -> int:
        return self.branch_at // 2

    def each(self, grown: int) -> float:
        """Bytes a turn, of what all turns but the first have added: empty tables are not a turn's."""
        return grown / (self.turns - 1)

    def texts(self) -> Iterator[Turn]:
        """For building, for the measured appends, and for the branches."""
        return islice(turns(7), self.turns + self.times + self.branches)


@dataclass(slots=True)
class Result:
    """Milliseconds of an append at the full length and of a load, bytes a turn; None: a peer has none.
    `again`: of a load of what was kept in memory by the last one, but for what was appended since."""

    append: float
    load: float
    bytes: float
    branch: float | None = None
    branch_bytes: float | None = None
    messages: int = 0
    again: float | None = None


async def milliseconds(work: Callable[[], Awaitable[object]]) -> float:
    begin = time.perf_counter()
    await work()
    return (time.perf_counter() - begin) * 1e3


async def repeated(work: Callable[[], Awaitable[object]], times: int) -> float:
    """The median, in milliseconds."""
    return median([await milliseconds(work) for _ in range(times)])


async def in_turns(
    append: Callable[[], Awaitable[object]], load: Callable[[], Awaitable[object]], times: int
) -> tuple[float, float]:
    """The medians of both, a load after each append: no load finds what the last one kept."""
    taken = [(await milliseconds(append), await milliseconds(load)) for _ in range(times)]
    appends, loads = zip(*taken, strict=True)
    return median(appends), median(loads)


def given() -> tuple[str, Work]:
    """The database's URL and the work, from standard input: a URL holds a password."""
    question = json.load(sys.stdin)
    return question["url"], Work(**question["work"])


def report(result: Result) -> None:
    print(json.dumps(asdict(result)))
