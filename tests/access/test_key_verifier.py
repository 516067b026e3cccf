"""What a process remembers of keys, and for how long."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from conversation_service.domain.keys import ApiKey, digest, random_secret
from conversation_service.rpc.key_verifier import KEPT, KeyVerifier
from kernel.errors import Unauthenticated

NOW = datetime(2026, 12, 1, tzinfo=UTC)
SECRET = random_secret()


class Index:
    """One key, which can be slow to be found, or gone."""

    def __init__(self) -> None:
        self.key: ApiKey | None = ApiKey("k", "ada", "owner", frozenset({"admin"}), "", "", NOW)
        self.asked = 0
        self.go = asyncio.Event()
        self.go.set()

    async def find(self, kept: bytes) -> tuple[str, ApiKey] | None:
        self.asked += 1
        await self.go.wait()
        return ("acme", self.key) if kept == digest(SECRET) and self.key is not None else None


class Clocks:
    def __init__(self) -> None:
        self.now, self.passed = NOW, 0.0

    def time(self) -> datetime:
        return self.now

    def monotonic(self) -> float:
        return self.passed


@pytest.fixture
def clocks() -> Clocks:
    return Clocks()


@pytest.fixture
def index() -> Index:
    return Index()


@pytest.fixture
def verifier(index: Index, clocks: Clocks) -> KeyVerifier:
    return KeyVerifier(index, clocks.time, clocks.monotonic)


async def test_a_yes_is_remembered_for_some_seconds(
    verifier: KeyVerifier, index: Index, clocks: Clocks
) -> None:
    for _ in range(3):
        found = await verifier.verify(SECRET)
        assert found is not None
        assert found.roles == {"owner", "admin"}
    assert index.asked == 1
    index.key = None
    clocks.passed = KEPT
    with pytest.raises(Unauthenticated):
        await verifier.verify(SECRET)


async def test_what_is_revoked_here_is_asked_again_at_once(verifier: KeyVerifier, index: Index) -> None:
    await verifier.verify(SECRET)
    index.key = None
    verifier.forget("k")
    with pytest.raises(Unauthenticated):
        await verifier.verify(SECRET)


async def test_it_expires_while_it_is_remembered(verifier: KeyVerifier, index: Index, clocks: Clocks) -> None:
    index.key = ApiKey("k", "ada", "", frozenset(), "", "", NOW, NOW + timedelta(seconds=1))
    await verifier.verify(SECRET)
    clocks.now += timedelta(seconds=1)
    with pytest.raises(Unauthenticated) as refused:
        await verifier.verify(SECRET)
    # For the audit alone.
    assert (refused.value.tenant_id, refused.value.principal) == ("acme", "ada")
    assert "acme" not in str(refused.value)


async def test_a_crowd_asks_once_and_whoever_leaves_takes_nobody_along(
    verifier: KeyVerifier, index: Index
) -> None:
    index.go.clear()
    crowd = [asyncio.create_task(verifier.verify(SECRET)) for _ in range(20)]
    await asyncio.sleep(0)
    crowd[0].cancel()
    await asyncio.sleep(0)
    index.go.set()
    answers = await asyncio.gather(*crowd, return_exceptions=True)
    assert isinstance(answers[0], asyncio.CancelledError)
    assert all(getattr(answer, "principal", "") == "ada" for answer in answers[1:])
    assert index.asked == 1


async def test_other_credentials_are_not_its_business(verifier: KeyVerifier, index: Index) -> None:
    assert await verifier.verify("a.b.c") is None
    assert await verifier.verify("stk_short") is None
    assert index.asked == 0


async def test_who_calls_often_waits_for_nobody(verifier: KeyVerifier, index: Index, clocks: Clocks) -> None:
    await verifier.verify(SECRET)
    index.go.clear()
    clocks.passed = KEPT - 0.1
    assert await verifier.verify(SECRET) is not None
    index.go.set()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert index.asked == 2
    clocks.passed = 2 * KEPT - 0.2
    index.go.clear()
    # Asked anew meanwhile, and so still known.
    assert await verifier.verify(SECRET) is not None


async def test_a_look_that_began_before_a_revocation_is_not_kept(
    verifier: KeyVerifier, index: Index, clocks: Clocks
) -> None:
    await verifier.verify(SECRET)
    clocks.passed = KEPT - 0.1
    index.go.clear()
    await verifier.verify(SECRET)
    verifier.forget("k")
    index.go.set()
    index.key = None
    await asyncio.sleep(0)
    with pytest.raises(Unauthenticated):
        await verifier.verify(SECRET)
