"""The process of an MCP server that is a program: started, heard, ended. Knows no protocol."""

import asyncio
import contextlib
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import structlog

# What any program needs; nothing else of ours, least of all settings and secrets.
_INHERITED = ("HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER")
_CHILD = Path(__file__).with_name("mcp_child.py")
# Of what a server says on its standard error: lines a minute, characters a line.
_LINES, _MINUTE, _LINE = 60, 60.0, 400
_CHUNK = 16 * 1024

log = structlog.get_logger(__name__)


def environment(extra: Mapping[str, str]) -> dict[str, str]:
    """Of a server: a few variables of ours, and those that the operator gives it."""
    return {name: os.environ[name] for name in _INHERITED if name in os.environ} | dict(extra)


@asynccontextmanager
async def running(
    name: str, command: Sequence[str], env: Mapping[str, str], *, line_bytes: int, grace: float
) -> AsyncIterator[Process]:
    """The process, whose standard input and output are pipes; `line_bytes` is how long a line may be read.

    At the end of the block its standard input closes; it has `grace` seconds to go, as many after a SIGTERM,
    and then it is killed with all that it started: at once when this task is cancelled or this process dies.
    """
    watched, lifeline = os.pipe()
    with contextlib.ExitStack() as held:
        held.callback(os.close, lifeline)
        try:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-I", "-S", str(_CHILD), str(watched), *command),
                stdin=PIPE,
                stdout=PIPE,
                stderr=PIPE,
                env=environment(env),
                pass_fds=(watched,),
                limit=line_bytes,
                # Neither a terminal's Ctrl-C nor a service manager's signal to a group is for it.
                start_new_session=True,
            )
        finally:
            os.close(watched)
        said = asyncio.create_task(_log_errors(name, process))
        try:
            yield process
            await _end(process, grace)
        finally:
            held.close()
            with anyio.CancelScope(shield=True):
                await _gone(name, process, said, grace)


async def _gone(name: str, process: Process, said: asyncio.Task[None], grace: float) -> None:
    """Until the killed process is reaped, and its last words are logged."""
    if not await _ends_within(process, grace):
        # What it left behind in a session of its own may hold the pipes open for ever.
        log.warning("mcp.pipes_held", server=name)
        said.cancel()
    await asyncio.wait({said})


async def _end(process: Process, grace: float) -> None:
    assert process.stdin is not None
    process.stdin.close()
    if await _ends_within(process, grace):
        return
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    await _ends_within(process, grace)


async def _ends_within(process: Process, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await process.wait()
    except TimeoutError:
        return False
    return True


class ErrorLines:
    """Cuts what a server says into lines that are fit for a log, and leaves out what is too much.

    Bounded whatever comes: at most 60 lines a minute, of at most 400 characters.
    """

    def __init__(self) -> None:
        self._rest = ""
        self._since = float("-inf")
        self._lines = 0
        self.left_out = 0

    def take(self, text: str, now: float) -> list[str]:
        """The lines to log of the next piece of output, at a time in seconds."""
        *whole, self._rest = (self._rest + text).split("\n")
        self._rest = self._rest[:_LINE]
        if now - self._since >= _MINUTE:
            self._since, self._lines = now, 0
        lines = [line.strip() for line in whole if line.strip()]
        kept = lines[: max(0, _LINES - self._lines)]
        self._lines += len(kept)
        self.left_out += len(lines) - len(kept)
        return [line[:_LINE] for line in kept]


async def _log_errors(name: str, process: Process) -> None:
    assert process.stderr is not None
    lines, clock = ErrorLines(), asyncio.get_running_loop().time
    try:
        while piece := await process.stderr.read(_CHUNK):
            for line in lines.take(piece.decode(errors="replace"), clock()):
                log.info("mcp.stderr", server=name, line=line)
    finally:
        for line in lines.take("\n", clock()):
            log.info("mcp.stderr", server=name, line=line)
        if lines.left_out:
            log.info("mcp.stderr_left_out", server=name, lines=lines.left_out)
