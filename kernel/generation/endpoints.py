"""Clients for the endpoints that callers bring: made when they are asked for, few kept, all closed."""

from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from hashlib import sha256

from kernel.generation.provider import ChatRequest, Chunk, Provider

# Base URL, key -> what speaks to it.
Make = Callable[[str, str], Provider]


@dataclass(slots=True)
class _Client:
    provider: Provider
    streams: int = 0


class EndpointClients:
    """At most `most` clients that nobody uses, those used last; each is closed when it is let go.

    Those that write are kept however many they are: how many answers a server writes is limited elsewhere.
    """

    def __init__(self, make: Make, most: int = 64) -> None:
        self._make = make
        self._most = most
        self._clients: OrderedDict[bytes, _Client] = OrderedDict()

    def __len__(self) -> int:
        return len(self._clients)

    @asynccontextmanager
    async def client(self, base_url: str, api_key: str) -> AsyncIterator[Provider]:
        """The one for this address and this key, not closed before the block ends."""
        # A digest: a key that is done with must not lie about as one of a table's.
        name = sha256(f"{base_url}\n{api_key}".encode()).digest()
        if name not in self._clients:
            self._clients[name] = _Client(self._make(base_url, api_key))
        self._clients.move_to_end(name)
        client = self._clients[name]
        client.streams += 1
        try:
            yield client.provider
        finally:
            client.streams -= 1
            await self._let_go()

    async def aclose(self) -> None:
        """Closes all; their streams must have ended."""
        clients, self._clients = self._clients, OrderedDict()
        for client in clients.values():
            await client.provider.aclose()

    async def _let_go(self) -> None:
        idle = [name for name, client in self._clients.items() if client.streams == 0]
        gone = [self._clients.pop(name) for name in idle[: max(0, len(idle) - self._most)]]
        for client in gone:
            await client.provider.aclose()


class OwnEndpoint:
    """See `Provider`: the endpoint of one configuration, through a client that is shared."""

    name = "openai"

    def __init__(self, clients: EndpointClients, base_url: str, api_key: str) -> None:
        self._clients = clients
        self._base_url = base_url
        self._api_key = api_key

    async def stream(self, request: ChatRequest) -> AsyncGenerator[Chunk, None]:
        """See `Provider.stream`."""
        async with (
            self._clients.client(self._base_url, self._api_key) as provider,
            aclosing(provider.stream(request)) as chunks,
        ):
            async for chunk in chunks:
                yield chunk

    async def aclose(self) -> None:
        """Nothing of its own to release."""
