"""The clients of every language, as whoever copies them would run them, and what they are run against."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.cli.proxy import Proxy, proxied
from tests.support.processes import Running

CLIENTS = Path(__file__).resolve().parents[3] / "clients"
SECONDS = 60.0

# What to run for a client's story. The browser's client needs no browser: Node has what it is made of.
STORIES: Mapping[str, tuple[str, ...]] = {
    "python": (sys.executable, str(CLIENTS / "python/examples/story.py")),
    "node": ("node", str(CLIENTS / "node/dist/examples/story.js")),
    "go": (str(CLIENTS / "go/build/story"),),
    "cpp": (str(CLIENTS / "cpp/build/story"),),
    "web": ("node", str(CLIENTS / "web/examples/run.js")),
}
CHATS: Mapping[str, tuple[str, ...]] = {
    "python": (sys.executable, str(CLIENTS / "python/examples/chat.py")),
    "node": ("node", str(CLIENTS / "node/dist/examples/chat.js")),
    "go": (str(CLIENTS / "go/build/chat"),),
    "cpp": (str(CLIENTS / "cpp/build/chat"),),
}

# What every language prints: the same story.
TOLD = """\
session   asked for twice with one request_id, made once
append    a turn, committed
edit      fifteen became fifty; the path has the new turn, the old one stays beside it
conflict  HEAD_MOVED named the head; the turn went in below it
respond   hung up after 3 frames, attached after the third: no frame lost, none twice
draft     answered beside the conversation, exported, nothing of it there yet
accept    the draft's answer is a turn now; a second decision is refused
watch     9 events, four at a time, each once and in order
refusals  NOT_FOUND has a type of its own; a deadline is kept
ok
"""


@dataclass(frozen=True)
class Addresses:
    """Where the services are, and an owner's key."""

    conversation: str
    draft: str
    http: str
    key: str

    @classmethod
    async def of(cls, up: Running) -> "Addresses":
        key = (await up.line(r"STEMMA_API_KEY=(stk_[\w-]+)"))[1]
        said = up.addresses
        return cls(said["conversation_service"], said["draft_service"], said["gateway"], key)


@dataclass(frozen=True)
class Ended:
    status: int
    out: str
    err: str


async def run(command: tuple[str, ...], addresses: Addresses, typed: str = "", **environment: str) -> Ended:
    """A client's program, to its end. The browser's is told where the gateway is."""
    arguments = [addresses.http] if command[-1].endswith("run.js") else []
    process = await asyncio.create_subprocess_exec(
        *command,
        *arguments,
        cwd=CLIENTS.parent,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={
            **{name: value for name, value in os.environ.items() if not name.startswith("STEMMA_")},
            "STEMMA_CONVERSATION": addresses.conversation,
            "STEMMA_DRAFT": addresses.draft,
            "STEMMA_API_KEY": addresses.key,
            **environment,
        },
    )
    try:
        async with asyncio.timeout(SECONDS):
            out, err = await process.communicate(typed.encode())
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode is not None
    return Ended(process.returncode, out.decode(), err.decode())


class Fraying(Proxy):
    """A network that cuts all of its connections whenever one has carried some pieces of answers, until it
    has done so a few times."""

    # Few enough that it is calm at the story's end, where a call is made that does not go on.
    PIECES, CUTS = 6, 3

    def __init__(self, target: str) -> None:
        super().__init__(target)
        self.left = self.CUTS

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if writer.get_extra_info("peername") == self._target:
            await super()._forward(reader, writer)
            return
        carried = 0
        while piece := await reader.read(65_536):
            carried += 1
            if carried > self.PIECES and self.left:
                self.left -= 1
                self.cut()
                return
            writer.write(piece)
            await writer.drain()
        writer.close()


class FrayingSoon(Fraying):
    """For what carries less: a draft's calls, or one call a connection."""

    PIECES, CUTS = 4, 2


@asynccontextmanager
async def frayed(addresses: Addresses) -> AsyncIterator[tuple[Addresses, dict[str, Fraying]]]:
    """The same services behind such networks, which are under the names of the addresses."""
    async with (
        proxied(addresses.conversation, Fraying) as conversation,
        proxied(addresses.draft, FrayingSoon) as draft,
        proxied(addresses.http.removeprefix("http://"), FrayingSoon) as http,
    ):
        behind = Addresses(conversation.address, draft.address, f"http://{http.address}", addresses.key)
        yield behind, {"conversation": conversation, "draft": draft, "http": http}  # type: ignore[dict-item]
