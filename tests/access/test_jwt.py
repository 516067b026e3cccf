"""What is remembered of a token, and for how long."""

from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import ECKey, KeySet

from kernel.errors import Unauthenticated
from kernel.rpc.jwt import KEPT, LEEWAY, TokenRules, TokenVerifier

KEY = ECKey.generate_key("P-256", {"kid": "one"})
NOW = 1_800_000_000.0


class Keys:
    """One key, until it leaves."""

    def __init__(self) -> None:
        self.asked = 0
        self.there = True

    async def having(self, key_id: str) -> KeySet | None:
        self.asked += 1
        return KeySet([KEY]) if self.there and key_id == "one" else None


class Clock:
    now = NOW

    def __call__(self) -> float:
        return self.now


def token(lasts: float) -> str:
    claims: dict[str, Any] = {"iss": "i", "aud": "a", "exp": int(NOW + lasts), "tenant": "acme", "sub": "ada"}
    return jwt.encode({"alg": "ES256", "kid": "one"}, claims, KEY)


@pytest.fixture
def keys() -> Keys:
    return Keys()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def verifier(keys: Keys, clock: Clock) -> TokenVerifier:
    return TokenVerifier(TokenRules("i", "a"), keys, clock)


async def test_a_signature_is_checked_once_a_minute(
    verifier: TokenVerifier, keys: Keys, clock: Clock
) -> None:
    good = token(3600)
    first = await verifier.verify(good)
    clock.now += KEPT - 1
    assert await verifier.verify(good) == first
    assert keys.asked == 1
    keys.there = False
    clock.now += 1
    with pytest.raises(Unauthenticated):
        await verifier.verify(good)


async def test_it_ends_while_it_is_remembered(verifier: TokenVerifier, clock: Clock) -> None:
    short = token(5)
    await verifier.verify(short)
    clock.now += 5 + LEEWAY - 1
    await verifier.verify(short)
    clock.now += 1
    with pytest.raises(Unauthenticated):
        await verifier.verify(short)


async def test_another_body_under_a_known_signature_is_another_token(verifier: TokenVerifier) -> None:
    good = token(3600)
    await verifier.verify(good)
    head, _, signature = good.split(".")
    with pytest.raises(Unauthenticated):
        await verifier.verify(f"{head}.{token(7200).split('.')[1]}.{signature}")
