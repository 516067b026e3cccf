"""Which records go together, and when."""

import asyncio
from collections.abc import Sequence
from uuid import uuid4

import pytest

from kernel.storage.coalescer import Coalescer
from kernel.storage.failures import NoConnection
from kernel.verbs.records import AppendRecord, Outcome, Stale
from tools.bench.records import new_session, next_record


def a_record(session: str = "") -> AppendRecord:
    root = new_session(str(uuid4())).root
    made = next_record(root, ("asked", "said"))
    if session:
        object.__setattr__(made.floor, "session_id", session)
    return made


class Batches:
    """Runs batches when it is told to. Each outcome names its record's floor."""

    def __init__(self, lanes: int) -> None:
        self.begun: list[list[AppendRecord]] = []
        self.gates: list[asyncio.Future[None]] = []
        self.coalescer = Coalescer(self._run, lanes)
        self._more = asyncio.Event()

    async def _run(self, records: Sequence[AppendRecord]) -> list[Outcome]:
        gate: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.begun.append(list(records))
        self.gates.append(gate)
        self._more.set()
        await gate
        return [Stale(record.floor.floor_id) for record in records]

    async def until(self, count: int) -> None:
        """Returns when so many batches have begun."""
        async with asyncio.timeout(30):
            while len(self.begun) < count:
                self._more.clear()
                await self._more.wait()

    def sizes(self) -> list[int]:
        return [len(batch) for batch in self.begun]


async def test_what_one_turn_of_the_loop_brings_goes_together() -> None:
    batches, records = Batches(2), [a_record() for _ in range(9)]
    outcomes = [batches.coalescer.append(record) for record in records]
    await batches.until(1)
    batches.gates[0].set_result(None)
    told = await asyncio.gather(*outcomes)
    assert told == [Stale(record.floor.floor_id) for record in records]
    assert batches.sizes() == [9]


async def test_a_few_wait_for_the_batch_before_them_and_many_do_not() -> None:
    batches = Batches(2)
    first = batches.coalescer.append(a_record())
    await batches.until(1)
    few = [batches.coalescer.append(a_record()) for _ in range(3)]
    assert batches.sizes() == [1]
    many = [batches.coalescer.append(a_record()) for _ in range(20)]
    await batches.until(2)
    for gate in batches.gates:
        gate.set_result(None)
    await batches.until(3)
    batches.gates[2].set_result(None)
    await asyncio.gather(first, *few, *many)
    assert sum(batches.sizes()) == 24
    assert batches.sizes()[1] >= 16


async def test_a_batch_that_takes_long_is_joined_by_another() -> None:
    """It may wait for a lock that somebody else holds: whoever comes then does not wait for that."""
    batches = Batches(2)
    stuck = batches.coalescer.append(a_record())
    await batches.until(1)
    other = batches.coalescer.append(a_record())
    await batches.until(2)
    batches.gates[1].set_result(None)
    await other
    assert not stuck.done()
    batches.gates[0].set_result(None)
    await stuck


async def test_one_record_of_a_session_at_a_time() -> None:
    batches, session = Batches(2), str(uuid4())
    outcomes = [batches.coalescer.append(a_record(session)) for _ in range(3)]
    for number in range(3):
        await batches.until(number + 1)
        batches.gates[number].set_result(None)
    await asyncio.gather(*outcomes)
    assert batches.sizes() == [1, 1, 1]


async def test_whoever_waited_for_a_batch_without_a_connection_waits_no_longer() -> None:
    batches = Batches(1)
    first = batches.coalescer.append(a_record())
    await batches.until(1)
    others = [batches.coalescer.append(a_record()) for _ in range(5)]
    batches.gates[0].set_exception(NoConnection("UNAVAILABLE", "away"))
    for outcome in (first, *others):
        async with asyncio.timeout(30):
            with pytest.raises(NoConnection):
                await outcome
    assert batches.sizes() == [1]
    later = batches.coalescer.append(a_record())
    await batches.until(2)
    batches.gates[1].set_result(None)
    assert await later


async def test_idle_waits_for_what_has_not_begun() -> None:
    batches = Batches(1)
    outcome = batches.coalescer.append(a_record())
    resting = asyncio.create_task(batches.coalescer.idle())
    await batches.until(1)
    assert not resting.done()
    batches.gates[0].set_result(None)
    await resting
    assert outcome.done()
