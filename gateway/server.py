"""Listening, and ending well."""

import asyncio
import contextlib
import socket
from collections.abc import Callable, Iterator

import uvicorn

from gateway.app import build
from gateway.edge import MAX_HEADERS
from gateway.http1 import protocol
from gateway.settings import Settings, split_address


class _Server(uvicorn.Server):
    """uvicorn's, with the start told and signals left to `main`: uvicorn raises them again at its end,
    and the process would not exit with 0."""

    def __init__(self, config: uvicorn.Config, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._on_ready()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def serve(settings: Settings, *, on_ready: Callable[[str], None], stop: asyncio.Event) -> None:
    """Serves until `stop` is set, then lets open responses end, for `gateway_drain` seconds at most.
    `on_ready` gets the base URL once requests are taken. OSError when the address cannot be had."""
    with listen(settings.http) as listener:
        url = _url(settings.http, listener)
        server = _Server(_config(settings), lambda: on_ready(url))
        stopper = asyncio.create_task(_stop(server, stop))
        try:
            await server.serve(sockets=[listener])
        finally:
            stopper.cancel()


async def _stop(server: uvicorn.Server, stop: asyncio.Event) -> None:
    await stop.wait()
    server.should_exit = True


def _config(settings: Settings) -> uvicorn.Config:
    return uvicorn.Config(
        build(settings),
        http=protocol(settings.gateway_header_timeout),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=settings.gateway_drain,
        h11_max_incomplete_event_size=MAX_HEADERS,
    )


def listen(address: str) -> socket.socket:
    """A listening TCP socket. OSError when the address cannot be had."""
    host, port = split_address(address)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # By its protocol's number asyncio knows TCP, and only then sets TCP_NODELAY on what it accepts;
    # without it an answer's body waits 40 ms for the acknowledgement of its head.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(1024)
    except OSError:
        listener.close()
        raise
    return listener


def _url(address: str, listener: socket.socket) -> str:
    host = split_address(address)[0]
    port: int = listener.getsockname()[1]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
