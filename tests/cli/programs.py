"""The `stemma` command as a real process: through pipes, and in a pseudo-terminal."""

import asyncio
import fcntl
import os
import pty
import re
import signal
import struct
import sys
import termios
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from unittest.mock import patch

from stemma_cli.main import app
from typer.testing import CliRunner, Result

from tests.support.processes import LAUNCHER

COMMAND = [sys.executable, "-c", "from stemma_cli.main import app; app(prog_name='stemma')"]
SECONDS = 30.0
# What a terminal obeys and does not show: colours, the window's title, pasting marks, carriage returns.
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07|\r")


@dataclass(frozen=True)
class Done:
    """A command that has ended, and what it printed."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


def environment(**settings: str) -> dict[str, str]:
    """Ours, without settings but these; no colours, wide enough for any line."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("STEMMA_")}
    return kept | {"NO_COLOR": "1", "COLUMNS": "120", "TERM": "xterm"} | settings


async def stemma(*arguments: str, lines: Sequence[str] = (), **settings: str) -> Done:
    """Runs it to its end, with `lines` on its standard input."""
    process = await asyncio.create_subprocess_exec(
        *COMMAND,
        *arguments,
        env=environment(**settings),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    typed = "".join(f"{line}\n" for line in lines).encode()
    async with asyncio.timeout(SECONDS):
        out, err = await process.communicate(typed)
    assert process.returncode is not None
    return Done(process.returncode, out.decode(), err.decode())


async def in_process(*arguments: str, lines: Sequence[str] = (), **settings: str) -> Done:
    """The same without a process, in a thread: quicker, for what is not about processes and signals."""
    typed = "".join(f"{line}\n" for line in lines)

    def run() -> Result:
        # Only a main thread may ask for signals.
        with patch("stemma_cli.chat.watch._on_interrupt", lambda call: nullcontext()):
            return CliRunner().invoke(app, arguments, input=typed, env={"NO_COLOR": "1", **settings})

    async with asyncio.timeout(SECONDS):
        done = await asyncio.to_thread(run)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return Done(done.exit_code, done.stdout, done.stderr)


class Terminal:
    """A command in a terminal of its own. `shown` is all that it printed, as a person would see it."""

    def __init__(self, process: asyncio.subprocess.Process, master: int) -> None:
        self.process = process
        self._master = master
        self._raw = b""
        self._silent = False
        self._news = asyncio.Event()
        asyncio.get_running_loop().add_reader(master, self._read)

    @property
    def shown(self) -> str:
        return _ESCAPES.sub("", self._raw.decode(errors="replace"))

    def _read(self) -> None:
        try:
            piece = os.read(self._master, 65_536)
        except OSError:  # Linux's way to say that nobody has the other end any more
            piece = b""
        if not piece:
            self._silent = True
            asyncio.get_running_loop().remove_reader(self._master)
        self._raw += piece
        self._news.set()

    async def see(self, pattern: str, after: int = 0) -> int:
        """Waits until `pattern` is shown, from the given place on; returns the place behind it."""
        try:
            async with asyncio.timeout(SECONDS):
                while (match := re.compile(pattern, re.MULTILINE).search(self.shown, after)) is None:
                    if self._silent:
                        raise TimeoutError
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            raise AssertionError(f"never shown: {pattern!r}; shown was:\n{self.shown}") from None
        return match.end()

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    async def enter(self, line: str, pattern: str) -> str:
        """Types a line and waits for the pattern after it; returns what was shown in between and with it."""
        before = len(self.shown)
        self.type(line + "\n")
        end = await self.see(pattern, before)
        return self.shown[before:end]

    def control_c(self) -> None:
        """As the terminal does it: to the whole foreground process group."""
        self.type("\x03")

    def control_d(self) -> None:
        self.type("\x04")

    async def end(self) -> int:
        async with asyncio.timeout(SECONDS):
            return await self.process.wait()


@asynccontextmanager
async def in_terminal(*arguments: str, **settings: str) -> AsyncIterator[Terminal]:
    """The command in a new pseudo-terminal; it is killed at the end if it still runs."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    process = await asyncio.create_subprocess_exec(
        *[sys.executable, str(LAUNCHER), str(os.getpid()), sys.executable, "-c", _OWN_TERMINAL, *arguments],
        env=environment(**settings),
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
    )
    os.close(slave)
    terminal = Terminal(process, master)
    try:
        yield terminal
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGKILL)
            await process.wait()
        asyncio.get_running_loop().remove_reader(master)
        os.close(master)


# The process leads a session, and makes its standard input that session's terminal: Ctrl-C is then a signal.
_OWN_TERMINAL = """
import fcntl, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
from stemma_cli.main import app
app(prog_name='stemma')
"""
