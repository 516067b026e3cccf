"""What a process knows of its tenants' use, and refuses by it: with rows and clocks of the test's own."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from stemma.conversation.v1 import staged_write_service_pb2
from structlog.testing import capture_logs

from kernel.errors import Exhausted, Unavailable
from kernel.rpc.call import Identity
from kernel.rpc.exchange import Method
from kernel.rpc.quotas import Charged, tenant_quotas
from kernel.verbs.quotas import QuotaLimits, Quotas, Used

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@dataclass
class Rows:
    """What tenants have stored, and what was summed of it and when."""

    clock: "Clocks"
    stored: dict[str, int] = field(default_factory=dict)
    tokens: dict[tuple[str, int], int] = field(default_factory=dict)
    summed: dict[str, tuple[int, datetime]] = field(default_factory=dict)
    sums: int = 0
    forgotten: list[tuple[str, int]] = field(default_factory=list)
    away: bool = False

    async def used(self, tenant_id: str, day: int) -> Used:
        if self.away:
            raise Unavailable("UNAVAILABLE", "Retry.")
        value, time = self.summed.get(tenant_id, (0, None))
        return Used(value, time, self.tokens.get((tenant_id, day), 0))

    async def sum_bytes(self, tenant_id: str, now: datetime, before: datetime) -> bool:
        self.sums += 1
        self.summed[tenant_id] = (self.stored.get(tenant_id, 0), now)
        # A sum takes its time.
        self.clock.monotonic += 1
        return True

    async def forget_days(self, tenant_id: str, before: int) -> None:
        self.forgotten.append((tenant_id, before))

    async def answered(self, tenant_id: str, principal: str, method: str, request_id: str) -> bool:
        return request_id == "known"


@dataclass
class Clocks:
    now: datetime = NOON
    monotonic: float = 0.0

    def pass_by(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)
        self.monotonic += seconds


@pytest.fixture
def clocks() -> Clocks:
    return Clocks()


@pytest.fixture
def rows(clocks: Clocks) -> Rows:
    return Rows(clocks)


def quotas_of(rows: Rows, **limits: int) -> Quotas:
    clocks = rows.clock
    return Quotas(QuotaLimits(**limits), rows, lambda: clocks.now, lambda: clocks.monotonic)


async def over(quotas: Quotas, tenant: str = "a", *, generates: bool = False) -> Exhausted | None:
    return await quotas.excess(tenant, generates=generates)


async def test_what_is_sent_counts_at_once_and_is_then_in_a_sum(rows: Rows, clocks: Clocks) -> None:
    quotas = quotas_of(rows, stored_bytes=100)
    assert await over(quotas) is None
    rows.stored["a"] = 60
    quotas.sent("a", 99)
    assert await over(quotas) is None
    quotas.sent("a", 1)
    error = await over(quotas)
    assert error is not None
    assert (error.reason, error.metadata, error.retry_after) == ("QUOTA", {"limit": "stored_bytes"}, None)
    assert await over(quotas, "b") is None, "no other tenant is meant"
    await quotas.look()
    # Sent before the sum: it is in it, but how much of it nobody knows until the look after.
    assert await over(quotas) is not None
    clocks.pass_by(60)
    await quotas.look()
    assert rows.summed["a"][0] == 60
    assert await over(quotas) is None


async def test_what_was_sent_stays_counted_until_there_is_a_new_sum(rows: Rows, clocks: Clocks) -> None:
    quotas = quotas_of(rows, stored_bytes=100)
    await over(quotas)
    await quotas.look()
    for _ in range(4):
        quotas.sent("a", 25)
        await quotas.look()
    assert rows.sums == 1, "a sum that took a second is made every twenty"
    assert await over(quotas) is not None
    assert quotas.excess_meanwhile("a") is not None
    assert quotas.excess_meanwhile("nobody") is None


async def test_a_deletion_is_seen_by_the_next_sum(rows: Rows, clocks: Clocks) -> None:
    quotas = quotas_of(rows, stored_bytes=100)
    rows.stored["a"] = 100
    assert await over(quotas) is None, "before the first look nothing is known"
    await quotas.look()
    assert await over(quotas) is not None
    rows.stored["a"] = 10
    await quotas.look()
    assert await over(quotas) is not None
    clocks.pass_by(21)
    await quotas.look()
    assert await over(quotas) is None


async def test_tokens_of_a_day(rows: Rows, clocks: Clocks) -> None:
    quotas = quotas_of(rows, tokens_per_day=1_000)
    today = NOON.date().toordinal()
    rows.tokens["a", today] = 999
    assert await over(quotas, generates=True) is None
    rows.tokens["a", today] = 1_000
    await quotas.look()
    assert rows.sums == 0, "nobody asks for bytes"
    error = await over(quotas, generates=True)
    assert error is not None
    assert error.metadata == {"limit": "tokens_per_day"}
    assert error.retry_after == 12 * 3600
    assert await over(quotas, generates=False) is None
    # The day is over before anybody looked again.
    clocks.pass_by(12 * 3600)
    assert await over(quotas, generates=True) is None
    rows.tokens["a", today + 1] = 1_000
    for _ in range(2):
        await quotas.look()
    assert await over(quotas, generates=True) is not None
    assert rows.forgotten == [("a", today - 7), ("a", today + 1 - 7)], "once a day"


async def test_what_a_service_stores_is_charged_to_the_tenant_that_it_names(rows: Rows) -> None:
    """Else whoever goes through drafts would store without end."""
    quotas = quotas_of(rows, stored_bytes=10)
    rows.summed["a"] = (10, NOON)
    stage = Method("/p.S/StageWrite", staged_write_service_pb2.StageWriteRequest, False, lambda *_: None)
    step = tenant_quotas(quotas, Charged(frozenset(), frozenset()))

    async def proceed(_exchange: Any) -> bytes:
        return b"staged"

    def exchange(tenant: str) -> Any:
        async def read() -> Any:
            return staged_write_service_pb2.StageWriteRequest(request_id="new")

        service = Identity(tenant, "service", frozenset({"service"}))
        return SimpleNamespace(method=stage, identity=service, read=read, received=1)

    with pytest.raises(Exhausted):
        await step(exchange("a"), proceed)
    assert await step(exchange("b"), proceed) == b"staged"


async def test_who_does_not_call_is_forgotten(rows: Rows, clocks: Clocks) -> None:
    quotas = quotas_of(rows, stored_bytes=100)
    for number in range(50):
        await over(quotas, f"t{number}")
    clocks.pass_by(601)
    await over(quotas, "here")
    await quotas.look()
    assert list(quotas._tenants) == ["here"]


async def test_a_look_that_fails_is_told_and_tried_again(rows: Rows, clocks: Clocks) -> None:
    quotas = quotas_of(rows, tokens_per_day=10)
    await over(quotas, generates=True)
    rows.away = True
    with capture_logs() as told:
        await quotas.look()
    assert [(line["tenant"], line["reason"]) for line in told] == [("a", "UNAVAILABLE")]
    rows.away = False
    rows.tokens["a", NOON.date().toordinal()] = 10
    await quotas.look()
    assert await over(quotas, generates=True) is not None
