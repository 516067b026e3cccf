"""The service as a process of its own, for the tests that end it; and the processes below it."""

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from tests.runs import stopping
from tests.runs.stage import Watch
from tests.support.client import Client, connect, request_for, user
from tests.support.processes import Running, conversation_service, running
from tests.support.service import SECRET_KEY

_POLL = 0.05


def service_process(
    database_url: str, folder: Path, *, provider: str = "scripted", script: str = "", stop_at: str = ""
) -> AbstractAsyncContextManager[Running]:
    """`python -m conversation_service` on that database; with `stop_at`, a point of `stopping.py`, that."""
    environment = {
        "STEMMA_CONVERSATION": "127.0.0.1:0",
        "STEMMA_CONVERSATION_DATABASE_URL": database_url,
        "STEMMA_DATA": str(folder),
        "STEMMA_SECRET_KEY": SECRET_KEY,
        "STEMMA_PROVIDER": provider,
        "STEMMA_SCRIPT": script,
    }
    if not stop_at:
        return conversation_service(environment)
    command = [sys.executable, "-m", "tests.runs.stopping"]
    return running("conversation_service", command, environment | {stopping.VARIABLE: stop_at})


@asynccontextmanager
async def talking_to(program: Running) -> AsyncIterator[Client]:
    async with connect(program.address, own_connection=True) as client:
        yield client


def ask(client: Client, session: str, text: str, **fields: object) -> Watch:
    """A new turn, as an open stream."""
    request = request_for("Respond", session_id=session, input={"messages": [user(text)]}, **fields)
    return Watch(client.stream("Respond", request))


async def until(what: str, holds: Callable[[], Awaitable[bool]], seconds: float) -> float:
    """Asks again and again until it holds. -> how long that took, in seconds"""
    began = time.monotonic()
    while not await holds():
        assert time.monotonic() - began < seconds, f"not within {seconds} s: {what}"
        await asyncio.sleep(_POLL)
    return time.monotonic() - began


def children(pid: int) -> list[int]:
    """Direct children of any thread of a process (Linux)."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        found += map(int, (task / "children").read_text().split())
    return found


def local_model(service: Running) -> int:
    """The process id of the local model of a service."""
    (pid,) = [
        pid for pid in children(service.pid) if b"local_server" in Path(f"/proc/{pid}/cmdline").read_bytes()
    ]
    return pid


def exit_of(pid: int) -> asyncio.Future[None]:
    """Done when that process, which need not be a child of ours, has ended. Ask while it runs."""
    descriptor = os.pidfd_open(pid)
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[None] = loop.create_future()

    def seen() -> None:
        loop.remove_reader(descriptor)
        os.close(descriptor)
        ended.set_result(None)

    loop.add_reader(descriptor, seen)
    return ended
