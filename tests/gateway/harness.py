"""A gateway over real HTTP, in this process: for the gateway's own tests and for the end-to-end ones."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from gateway.server import serve
from gateway.settings import Settings


@asynccontextmanager
async def serve_gateway(conversation_address: str, **settings: Any) -> AsyncIterator[str]:
    """The base URL of a gateway on a free port, in front of the service at `conversation_address`, which it
    takes for the draft service as well unless told otherwise.
    `settings` are fields of gateway.settings.Settings; what start-up raises is raised here."""
    addresses = {"conversation": conversation_address, "draft": conversation_address}
    chosen = Settings(**{"http": "127.0.0.1:0", **addresses, **settings})
    ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    stop = asyncio.Event()
    serving = asyncio.create_task(serve(chosen, on_ready=ready.set_result, stop=stop))
    await asyncio.wait({serving, ready}, return_when=asyncio.FIRST_COMPLETED)
    if serving.done():
        await serving
        raise AssertionError("the gateway ended before it was ready")
    try:
        yield ready.result()
    finally:
        stop.set()
        await serving
