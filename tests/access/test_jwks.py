"""The issuer's keys: rotated, away, and asked for no more often than needed."""

import asyncio
import json
from typing import Any

import pytest
from joserfc.jwk import ECKey, OctKey

from kernel.errors import Unavailable
from kernel.rpc.jwks import AGAIN, FRESH, BadKeys, Keys, from_url, parsed
from tests.net.trap import redirect, trap

ONE, TWO = (ECKey.generate_key("P-256", {"kid": kid}) for kid in ("one", "two"))


def jwks(*keys: Any) -> bytes:
    return json.dumps({"keys": [key.as_dict(private=False) for key in keys]}).encode()


class Source:
    def __init__(self) -> None:
        self.raw = jwks(ONE)
        self.fetched = 0
        self.passed = 0.0
        self.keys = Keys(self.fetch, lambda: self.passed)

    async def fetch(self) -> bytes:
        self.fetched += 1
        await asyncio.sleep(0)
        if not self.raw:
            raise OSError("away")
        return self.raw


async def test_a_rotated_key_is_fetched_when_it_is_first_seen() -> None:
    source = Source()
    assert await source.keys.having("one") is not None
    source.raw = jwks(ONE, TWO)
    source.passed += AGAIN
    assert await source.keys.having("two") is not None
    assert source.fetched == 2


async def test_a_storm_of_unknown_keys_is_one_question() -> None:
    source = Source()
    await source.keys.having("one")
    source.passed += AGAIN
    found = await asyncio.gather(*(source.keys.having(f"unknown {number}") for number in range(100)))
    assert found == [None] * 100
    assert source.fetched == 2


async def test_a_key_that_was_withdrawn_is_gone_with_the_next_set() -> None:
    source = Source()
    await source.keys.having("one")
    source.raw = jwks(TWO)
    source.passed += FRESH
    assert await source.keys.having("one") is None


async def test_the_last_good_set_serves_while_the_issuer_is_away() -> None:
    source = Source()
    await source.keys.having("one")
    for broken in (b"", b"not json", b'{"keys": []}'):
        source.raw = broken
        source.passed += FRESH
        assert await source.keys.having("one") is not None
    source.raw = jwks(TWO)
    source.passed += AGAIN
    assert await source.keys.having("two") is not None


async def test_without_any_keys_nobody_can_say() -> None:
    source = Source()
    source.raw = b""
    with pytest.raises(Unavailable):
        await source.keys.having("one")


def test_what_is_no_set_of_public_keys() -> None:
    secret = json.dumps({"keys": [OctKey.generate_key(256).as_dict()]}).encode()
    for raw in (b"", b"[]", b"{}", b'{"keys": 7}', b'{"keys": [{"kty": "nonsense"}]}', b"[" * 10**5, secret):
        with pytest.raises(BadKeys):
            parsed(raw)
    with pytest.raises(BadKeys, match="1 MiB"):
        parsed(b" " * (1024 * 1024 + 1))


async def test_they_are_read_from_an_address_and_from_nowhere_else() -> None:
    body = jwks(ONE)
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode()
    async with trap(head + body) as issuer, trap() as elsewhere:
        assert parsed(await from_url(f"http://127.0.0.1:{issuer.port}/jwks")()).keys[0].kid == "one"
        async with trap(redirect(f"http://127.0.0.1:{elsewhere.port}/")) as moved:
            with pytest.raises(BadKeys):
                await from_url(f"http://127.0.0.1:{moved.port}/jwks")()
        assert elsewhere.connects == 0
