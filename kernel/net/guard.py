"""The one way out to hosts that a caller named: an MCP server, a model endpoint.

    guard = Guard(allowed_hosts("localhost:11434"))      # STEMMA_ALLOW_HOSTS
    guard.check(url)                                      # refuses what can be told without asking anybody
    client = guarded_client(guard, timeout=...)           # an httpx2.AsyncClient for that URL

A request is connected to the very address that was checked: the name is resolved once, every address that
it has must be public, and the connection is made to one of these, with the name kept for Host and for TLS. So
a name that means something else a moment later changes nothing (DNS rebinding), and a redirect is a request
like any other. What the operator allows by name may be anywhere. No proxy, no credentials from the
environment.
"""

import asyncio
import functools
import socket
import ssl
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any

import httpx2

from kernel.net.addresses import AddressRefused, IPAddress, Target, is_public, target

__all__ = ["AddressRefused", "Guard", "GuardedTransport", "allowed_hosts", "guarded_client"]

# host, port -> its addresses, best first.
Resolve = Callable[[str, int], Awaitable[Sequence[IPAddress]]]

# Threads of their own: names whose servers never answer must not take those of everything else.
_RESOLVERS = ThreadPoolExecutor(max_workers=4, thread_name_prefix="resolve")
_NOT_PUBLIC = (
    "is not on the public internet; whoever runs this server can allow it by name in STEMMA_ALLOW_HOSTS"
)


@dataclass(frozen=True, slots=True)
class AllowedHost:
    """A host that the operator vouches for, on one port or on all."""

    host: str
    port: int | None


def allowed_hosts(setting: str) -> frozenset[AllowedHost]:
    """Reads STEMMA_ALLOW_HOSTS: `host`, `host:port`, `[v6]:port`, separated by commas.

    Raises:
        ValueError: An entry is neither; the text says which.
    """
    return frozenset(_allowed(entry.strip()) for entry in setting.split(",") if entry.strip())


def _allowed(entry: str) -> AllowedHost:
    try:
        found = target(f"http://{entry}")
    except AddressRefused as error:
        raise ValueError(f"{entry!r} {error.message}") from None
    if "/" in entry or not found.plain:
        raise ValueError(f"{entry!r} is not a host or host:port")
    return AllowedHost(found.host, found.port if entry.endswith(f":{found.port}") else None)


async def system_resolve(host: str, port: int) -> Sequence[IPAddress]:
    """As the system resolves names. Raises: OSError when it has no such name."""
    ask = functools.partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
    found = await asyncio.get_running_loop().run_in_executor(_RESOLVERS, ask)
    return list(dict.fromkeys(ip_address(entry[4][0]) for entry in found))


class Guard:
    """Says where a request may go. Stateless; one serves a whole process."""

    def __init__(
        self, allowed: frozenset[AllowedHost] = frozenset(), *, resolve: Resolve = system_resolve
    ) -> None:
        self._allowed = allowed
        self._resolve = resolve

    def check(self, url: str) -> Target:
        """What can be said of a URL without resolving it: its form, and an address in it.

        Raises:
            AddressRefused: Its message reads after the name of the field.
        """
        found = target(url)
        if found.address is not None and not self._vouched(found) and not is_public(found.address):
            raise AddressRefused(_NOT_PUBLIC)
        return found

    async def addresses(self, url: str) -> Sequence[IPAddress]:
        """Where to connect for a URL, best first, never none.

        Raises:
            AddressRefused: It may not be asked.
            OSError: There is no such name.
        """
        found = self.check(url)
        if found.address is not None:
            return [found.address]
        addresses = await self._resolve(found.host, found.port)
        if not addresses:
            raise OSError("the name has no address")
        # One that is not public spoils them all: a client may not be made to try its luck.
        if not self._vouched(found) and not all(map(is_public, addresses)):
            raise AddressRefused(_NOT_PUBLIC)
        return addresses

    def _vouched(self, found: Target) -> bool:
        names = AllowedHost(found.host, found.port), AllowedHost(found.host, None)
        return not self._allowed.isdisjoint(names)


class GuardedTransport(httpx2.AsyncBaseTransport):
    """Sends each request to an address that the guard has just given out.

    Raises, beside what httpx2 raises: AddressRefused before anything is connected. A name that does not
    resolve is httpx2.ConnectError; one that takes longer than the request's connect timeout is
    httpx2.ConnectTimeout. Connections are not kept: each request is checked, and has its own.
    """

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=0)
        self._inner = httpx2.AsyncHTTPTransport(verify=_tls(), trust_env=False, limits=limits)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        addresses = await self._addresses(request)
        for address in addresses[:-1]:
            try:
                return await self._inner.handle_async_request(_to(request, address))
            except (httpx2.ConnectError, httpx2.ConnectTimeout):
                # Nothing has been sent: the next address of the same name, as any client would.
                continue
        return await self._inner.handle_async_request(_to(request, addresses[-1]))

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def _addresses(self, request: httpx2.Request) -> Sequence[IPAddress]:
        seconds = request.extensions.get("timeout", {}).get("connect")
        try:
            async with asyncio.timeout(seconds):
                return await self._guard.addresses(str(request.url))
        except TimeoutError:
            raise httpx2.ConnectTimeout("The name took too long to resolve.", request=request) from None
        except OSError:
            raise httpx2.ConnectError("The name does not resolve.", request=request) from None


def guarded_client(guard: Guard, **options: Any) -> httpx2.AsyncClient:
    """An `httpx2.AsyncClient` that goes through the guard. `options` are its own (timeout, headers, auth,
    follow_redirects: each hop is checked), without transport, proxy and trust_env, which are set here."""
    return httpx2.AsyncClient(transport=GuardedTransport(guard), trust_env=False, **options)


def _to(request: httpx2.Request, address: IPAddress) -> httpx2.Request:
    """The same request, connected to an address: Host stays in its headers, and TLS asks for the name."""
    extensions = dict(request.extensions)
    if request.url.host != str(address):
        extensions["sni_hostname"] = request.url.host
    url = request.url.copy_with(host=str(address))
    return httpx2.Request(
        request.method, url, headers=request.headers, stream=request.stream, extensions=extensions
    )


@functools.cache
def _tls() -> ssl.SSLContext:
    """Reading the certificates takes a moment: once."""
    return httpx2.create_ssl_context(trust_env=False)
