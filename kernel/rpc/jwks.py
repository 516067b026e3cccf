"""The issuer's keys: a file, or an address that is asked again when a key is not known yet."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Protocol

import httpx2
import structlog
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from kernel.errors import Unavailable
from kernel.net.addresses import target
from kernel.net.guard import AllowedHost, Guard, guarded_client

# Seconds: a set is taken anew after so long, and for a key that it lacks at most so often; for a fetch.
FRESH, AGAIN, FETCH = 300.0, 10.0, 5.0
MAX_BYTES = 1024 * 1024

_log = structlog.get_logger("kernel.rpc")


class BadKeys(Exception):
    """What was read is no set of keys; the text says why, without any of it."""


class KeySource(Protocol):
    async def having(self, key_id: str) -> KeySet | None:
        """The keys, among them the named one (any, for a token that names none); None when there is no such
        key. Raises Unavailable when there are no keys at all yet."""


class Keys:
    """A `KeySource` over whatever `fetch` reads. The last good set serves while no newer one can be had."""

    def __init__(
        self, fetch: Callable[[], Awaitable[bytes]], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._fetch = fetch
        self._clock = clock
        self._keys: KeySet | None = None
        self._asked_at = float("-inf")
        self._fetching = asyncio.Lock()

    async def having(self, key_id: str) -> KeySet | None:
        if self._due(FRESH) or (not self._knows(key_id) and self._due(AGAIN)):
            await self._refresh(key_id)
        if self._keys is None:
            raise Unavailable("UNAVAILABLE", "The keys that sign tokens cannot be had now. Retry.")
        return self._keys if self._knows(key_id) else None

    def _knows(self, key_id: str) -> bool:
        if self._keys is None:
            return False
        return not key_id or any(key.kid == key_id for key in self._keys.keys)

    def _due(self, seconds: float) -> bool:
        return self._clock() - self._asked_at >= seconds

    async def _refresh(self, key_id: str) -> None:
        """One fetch for all who wait for it."""
        async with self._fetching:
            if not self._due(AGAIN) and (self._knows(key_id) or not self._due(FRESH)):
                return
            self._asked_at = self._clock()
            try:
                async with asyncio.timeout(FETCH):
                    self._keys = parsed(await self._fetch())
            except (OSError, TimeoutError, BadKeys) as error:
                _log.warning("the keys that sign tokens could not be read", why=type(error).__name__)


def parsed(raw: bytes) -> KeySet:
    """The public keys of a JWK set. Raises BadKeys."""
    if len(raw) > MAX_BYTES:
        raise BadKeys("more than 1 MiB")
    try:
        found = KeySet.import_key_set(json.loads(raw))
    except (JoseError, ValueError, KeyError, TypeError, RecursionError):
        raise BadKeys("not a JWK set") from None
    public = [key for key in found.keys if key.key_type != "oct"]
    if not public:
        raise BadKeys("no public key")
    return KeySet(public)


def from_url(url: str) -> Callable[[], Awaitable[bytes]]:
    """Of an address that the operator set, and so vouches for: it may be on loopback. Nothing is followed
    anywhere else."""
    found = target(url)
    guard = Guard(frozenset({AllowedHost(found.host, found.port)}))

    async def fetch() -> bytes:
        async with guarded_client(guard, timeout=FETCH) as client:
            try:
                async with client.stream("GET", url, headers={"accept-encoding": "identity"}) as answer:
                    return await _body(answer)
            except httpx2.HTTPError as error:
                raise BadKeys(type(error).__name__) from None

    return fetch


async def _body(answer: httpx2.Response) -> bytes:
    if answer.status_code != 200:
        raise BadKeys(f"HTTP {answer.status_code}")
    raw = b""
    async for piece in answer.aiter_raw():
        raw += piece
        if len(raw) > MAX_BYTES:
            break
    return raw


def from_file(path: Path) -> Callable[[], Awaitable[bytes]]:
    async def fetch() -> bytes:
        return await asyncio.to_thread(path.read_bytes)

    return fetch
