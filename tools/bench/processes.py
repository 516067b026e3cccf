"""The programs of a run: the service, the echo server, the client.

Each has its output in a file of its own, so that a log costs the run only its writing, and ends with us
however we end.
"""

import asyncio
import base64
import json
import os
import secrets
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.bench import access

LAUNCHER = Path(__file__).resolve().parents[2] / "tests" / "support" / "die_with_parent.py"
_START_SECONDS, _STOP_SECONDS = 30.0, 15.0
# One line of the client's answer.
_LINE_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Server:
    """A program that serves. `address` is where it listens."""

    address: str
    pid: int

    def cpu_seconds(self) -> float:
        """What it has used so far, its children left out."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def toggle_profile(self) -> None:
        """Begins or ends profiling, in a service that was started for it."""
        os.kill(self.pid, signal.SIGUSR1)


class BenchError(Exception):
    """A program of the run did not do its part; says what it printed."""


async def _start(
    command: Sequence[str], environment: Mapping[str, str], output: Path, *, pipes: bool = False
) -> Process:
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("STEMMA_")}
    with output.open("ab") as log:
        return await asyncio.create_subprocess_exec(
            *[sys.executable, str(LAUNCHER), str(os.getpid()), sys.executable, *command],
            stdin=PIPE if pipes else DEVNULL,
            stdout=PIPE if pipes else log,
            stderr=log,
            env={**inherited, "PYTHONUNBUFFERED": "1", **environment},
            limit=_LINE_BYTES,
        )


async def _stop(process: Process) -> None:
    if process.returncode is None:
        process.send_signal(signal.SIGTERM)
    try:
        await asyncio.wait_for(process.wait(), _STOP_SECONDS)
    except TimeoutError:
        process.kill()
        await process.wait()


async def _listening(process: Process, output: Path) -> str:
    """The address that it prints. Raises BenchError when it ends, or takes too long."""
    deadline = asyncio.get_running_loop().time() + _START_SECONDS
    while process.returncode is None and asyncio.get_running_loop().time() < deadline:
        for line in _printed(output).splitlines():
            if " listening on " in line:
                return line.rpartition(" ")[2]
        await asyncio.sleep(0.02)
    raise BenchError(f"a server did not start:\n{_printed(output)}")


def _printed(output: Path) -> str:
    """The last of it."""
    return output.read_text(errors="replace")[-4_000:]


@asynccontextmanager
async def server(
    command: Sequence[str], environment: Mapping[str, str], folder: Path
) -> AsyncIterator[Server]:
    """A program that prints `… listening on ADDRESS`; it has stopped when the block is left."""
    output = folder / f"log-{secrets.token_hex(4)}"
    process = await _start(command, environment, output)
    try:
        yield Server(await _listening(process, output), process.pid)
    finally:
        await _stop(process)


@asynccontextmanager
async def service(
    url: str, folder: Path, *, profile: Path | None = None, script: str = ""
) -> AsyncIterator[Server]:
    """The conversation service with its defaults, on the database at `url`; with `profile`, under a
    profiler that writes there as it ends. Its model answers by `script`."""
    environment = {
        **access.settings(),
        "STEMMA_CONVERSATION": "127.0.0.1:0",
        "STEMMA_CONVERSATION_DATABASE_URL": url,
        "STEMMA_DATA": str(folder),
        "STEMMA_PROVIDER": "scripted",
        "STEMMA_SCRIPT": script,
        "STEMMA_SECRET_KEY": base64.b64encode(secrets.token_bytes(32)).decode(),
    }
    command = ["-m", "conversation_service"]
    if profile is not None:
        command = ["-m", "tools.bench.profiled", str(profile)]
    async with server(command, environment, folder) as running:
        yield running


class Client:
    """The load generator, one process for the whole run; see `client.py` for what it can be asked."""

    def __init__(self, process: Process, output: Path) -> None:
        self._process = process
        self._output = output

    async def ask(self, kind: str, **fields: Any) -> Any:
        """Its answer. Raises BenchError with its words when it fails."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"kind": kind, **fields}).encode() + b"\n")
        await self._process.stdin.drain()
        line = await self._process.stdout.readline()
        if not line:
            raise BenchError(f"the client ended:\n{_printed(self._output)}")
        return json.loads(line)


@asynccontextmanager
async def client(folder: Path) -> AsyncIterator[Client]:
    output = folder / "log-client"
    process = await _start(["-m", "tools.bench.client"], {}, output, pipes=True)
    try:
        yield Client(process, output)
    finally:
        assert process.stdin is not None
        process.stdin.close()
        await _stop(process)
