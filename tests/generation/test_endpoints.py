"""Clients of callers' own endpoints: shared, few when idle, closed, and never under a stream."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from kernel.generation.endpoints import EndpointClients, OwnEndpoint
from kernel.generation.provider import ChatRequest, Chunk, TextChunk
from tests.generation.builders import asked


class Recorded:
    """A provider that writes two words and knows whether it was closed."""

    name = "openai"

    def __init__(self, base_url: str, api_key: str) -> None:
        self.made_for = (base_url, api_key)
        self.closed = False

    async def stream(self, request: ChatRequest) -> AsyncGenerator[Chunk, None]:
        for word in ("one", "two"):
            assert not self.closed
            yield TextChunk(word)

    async def aclose(self) -> None:
        self.closed = True


class Made:
    def __init__(self) -> None:
        self.all: list[Recorded] = []

    def __call__(self, base_url: str, api_key: str) -> Recorded:
        self.all.append(Recorded(base_url, api_key))
        return self.all[-1]

    @property
    def open(self) -> list[str]:
        return [client.made_for[0] for client in self.all if not client.closed]


async def read(endpoint: OwnEndpoint) -> list[Chunk]:
    return [chunk async for chunk in endpoint.stream(asked("hi"))]


async def test_one_client_for_an_address_and_a_key() -> None:
    made = Made()
    clients = EndpointClients(made)
    for base_url, key in [("a", "k"), ("a", "k"), ("a", "l"), ("b", "k"), ("a", "k")]:
        assert await read(OwnEndpoint(clients, base_url, key)) == [TextChunk("one"), TextChunk("two")]
    assert [client.made_for for client in made.all] == [("a", "k"), ("a", "l"), ("b", "k")]
    await clients.aclose()
    assert made.open == []
    await clients.aclose()


async def test_the_idle_ones_used_last_are_kept_and_the_others_closed() -> None:
    made = Made()
    clients = EndpointClients(made, most=2)
    for base_url in ("a", "b", "a", "c"):
        await read(OwnEndpoint(clients, base_url, ""))
    assert (made.open, len(clients)) == (["a", "c"], 2)
    await clients.aclose()


async def test_one_that_writes_is_not_closed_under_its_stream() -> None:
    made = Made()
    clients = EndpointClients(made, most=1)
    async with aclosing(OwnEndpoint(clients, "a", "").stream(asked("hi"))) as stream:
        assert await anext(stream) == TextChunk("one")
        for base_url in ("b", "c", "d"):
            await read(OwnEndpoint(clients, base_url, ""))
        assert made.open == ["a", "d"]
        assert await anext(stream) == TextChunk("two")
    # It was asked last before the others, so it goes first.
    assert made.open == ["d"]
    await clients.aclose()
