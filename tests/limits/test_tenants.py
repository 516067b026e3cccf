"""What a tenant is counted and refused by, with a clock of the test's own."""

from collections.abc import Callable
from contextlib import ExitStack
from types import SimpleNamespace
from typing import Any

import pytest
from structlog.testing import capture_logs

from kernel.errors import Exhausted
from kernel.rpc.admission import Gate
from kernel.rpc.call import Identity
from kernel.rpc.limits import TenantLimits, Tenants, tenant_limits


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def refused(call: Callable[[], Any]) -> Exhausted:
    with pytest.raises(Exhausted) as caught:
        call()
    assert caught.value.reason == "QUOTA"
    return caught.value


def enter(tenants: Tenants, name: str, streams: bool = False) -> ExitStack:
    """A call in work until it is closed."""
    call = ExitStack()
    call.enter_context(tenants.admitted(name, streams))
    return call


def tenants_of(clock: Clock, gate: Gate | None = None, **limits: Any) -> Tenants:
    return Tenants(TenantLimits(**limits), gate or Gate(8, 8, 1), clock)


async def test_a_burst_and_then_the_rate(clock: Clock) -> None:
    tenants = tenants_of(clock, rate=8, burst=3)
    for _ in range(3):
        enter(tenants, "a").close()
    error = refused(lambda: enter(tenants, "a"))
    assert error.metadata == {"limit": "rate"}
    assert error.retry_after == pytest.approx(0.125)
    clock.now += 0.0625
    assert refused(lambda: enter(tenants, "a")).retry_after == pytest.approx(0.063)
    clock.now += 0.0625
    enter(tenants, "a").close()
    refused(lambda: enter(tenants, "a"))


async def test_waiting_saves_up_a_burst_and_no_more(clock: Clock) -> None:
    tenants = tenants_of(clock, rate=10, burst=3)
    enter(tenants, "a").close()
    clock.now += 1_000
    for _ in range(3):
        enter(tenants, "a").close()
    refused(lambda: enter(tenants, "a"))


async def test_one_tenants_rate_is_none_of_anothers(clock: Clock) -> None:
    tenants = tenants_of(clock, rate=1, burst=2)
    for _ in range(2):
        enter(tenants, "a").close()
    refused(lambda: enter(tenants, "a"))
    for _ in range(2):
        enter(tenants, "b").close()


async def test_a_refusal_costs_nothing(clock: Clock) -> None:
    """Who is refused a hundred times is not refused longer for it."""
    tenants = tenants_of(clock, rate=1, burst=1)
    enter(tenants, "a").close()
    for _ in range(100):
        refused(lambda: enter(tenants, "a"))
    clock.now += 1
    enter(tenants, "a").close()


async def test_streams_at_once(clock: Clock) -> None:
    tenants = tenants_of(clock, streams=2)
    one, _two = enter(tenants, "a", True), enter(tenants, "a", True)
    assert refused(lambda: enter(tenants, "a", True)).metadata == {"limit": "streams"}
    enter(tenants, "b", True).close()
    enter(tenants, "a").close()
    one.close()
    enter(tenants, "a", True).close()


async def test_items_of_streams_wait_for_their_turn(clock: Clock) -> None:
    """Each a tenth of a second after the one before, whichever stream it is on; none is refused."""
    tenants = tenants_of(clock, rate=10, burst=2)
    assert [tenants.wait("a") for _ in range(5)] == pytest.approx([0, 0, 0.1, 0.2, 0.3])
    assert tenants.wait("b") == 0
    clock.now += 0.3
    assert tenants.wait("a") == pytest.approx(0.1)
    assert tenants_of(clock, streams=1).wait("a") == 0


async def test_what_a_client_streams_is_slowed_and_what_it_calls_is_not(clock: Clock) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    step = tenant_limits(tenants_of(clock, rate=10, burst=2), sleep)

    async def three_items(exchange: Any) -> bytes:
        for _ in range(3 if exchange.pace else 0):
            await exchange.pace()
        return b""

    def exchange(client_streams: bool) -> Any:
        method = SimpleNamespace(streams=client_streams, client_streams=client_streams)
        return SimpleNamespace(identity=Identity("a", "p", frozenset({"owner"})), method=method, pace=None)

    await step(exchange(True), three_items)
    # The call itself was one.
    assert slept == pytest.approx([0.1, 0.2])
    clock.now += 10
    await step(exchange(False), three_items)
    assert len(slept) == 2


class Busy:
    """A gate where so many are worked on."""

    def __init__(self, most: int, working: int) -> None:
        self._most = most
        self.working = working

    def most(self, streams: bool) -> int:
        return self._most

    def nearly_full(self, streams: bool) -> bool:
        return 4 * self.working >= 3 * self._most


async def test_one_tenants_part_when_there_is_almost_too_much(clock: Clock) -> None:
    busy: Any = Busy(16, 0)
    tenants = tenants_of(clock, busy, fair=True)
    held = [enter(tenants, "a") for _ in range(12)]
    busy.working = 12
    error = refused(lambda: enter(tenants, "a"))
    assert (error.metadata, error.retry_after) == ({"limit": "fair_share"}, 1.0)
    # Two share with whoever comes next: five of sixteen each.
    others = [enter(tenants, "b") for _ in range(5)]
    refused(lambda: enter(tenants, "b"))
    refused(lambda: enter(tenants, "a"))
    enter(tenants, "c").close()
    for call in (*held, *others):
        call.close()
    busy.working = 11
    held = [enter(tenants, "a") for _ in range(12)]
    assert len(held) == 12, "as long as there is room, nobody is held to a part"


async def test_idle_tenants_are_forgotten(clock: Clock) -> None:
    tenants = tenants_of(clock, rate=10, burst=10)
    kept = enter(tenants, "kept")
    most = 0
    for number in range(20_000):
        enter(tenants, f"t{number}").close()
        clock.now += 0.001
        most = max(most, len(tenants))
    # A call is forgotten after a tenth of a second, when a hundred others have come.
    assert most <= 2_048
    for _ in range(9):
        enter(tenants, "kept").close()
    refused(lambda: [enter(tenants, "kept").close() for _ in range(100)])
    kept.close()


async def test_a_tenant_is_not_forgotten_before_its_burst_is_back(clock: Clock) -> None:
    """Else many names would give anyone a new burst."""
    tenants = tenants_of(clock, rate=1, burst=2)
    for _ in range(2):
        enter(tenants, "a").close()
    for number in range(5_000):
        enter(tenants, f"t{number}").close()
    refused(lambda: enter(tenants, "a"))


async def test_refusals_are_told_once_a_second(clock: Clock) -> None:
    tenants = tenants_of(clock, rate=1, burst=1)
    enter(tenants, "a").close()
    with capture_logs() as told:
        for _ in range(50):
            refused(lambda: enter(tenants, "a"))
    assert [(line["tenant"], line["limit"], line["refused"]) for line in told] == [("a", "rate", 1)]


def test_without_a_limit_there_is_nothing_to_ask() -> None:
    assert not TenantLimits().any
    assert all(TenantLimits(**one).any for one in ({"rate": 1}, {"streams": 1}, {"fair": True}))
