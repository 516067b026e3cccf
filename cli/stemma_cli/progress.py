"""How far something is: a moving line in a terminal, and a plain line now and then elsewhere."""

import time
from datetime import timedelta
from types import TracebackType
from typing import Self

from rich.filesize import decimal
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
)
from rich.progress import Progress as Moving
from rich.text import Text

from stemma_cli.output import Output
from stemma_cli.words import shortened

# Seconds between plain lines.
_EVERY = 5.0


class Progress:
    """Shown on stderr, or with everything else on a terminal; with --json in a pipe not at all.

    `Output.say` prints above the moving line. Its methods may be called from any thread.
    """

    def __init__(
        self, out: Output, what: str, *, total: int | None = None, of_bytes: bool = True, ended: str = ""
    ) -> None:
        """`ended`: the plain line for when the total is reached, once."""
        self._out = out
        self._what = shortened(what, 60)
        self._total = total
        self._of_bytes = of_bytes
        self._ended = ended
        self._said = time.monotonic()
        console = out.moving_console
        self._moving: Moving | None = None
        if console is not None:
            columns = _columns(total, of_bytes)
            # Both streams are ours and know of it; others do not print.
            self._moving = Moving(
                *columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False
            )
            self._task = self._moving.add_task(self._what, total=total, note="")

    def __enter__(self) -> Self:
        if self._moving is not None:
            self._moving.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._moving is not None:
            self._moving.stop()

    def at(self, done: int) -> None:
        """So much is done, of the total if there is one."""
        if self._moving is not None:
            self._moving.update(self._task, completed=done)
        elif done == self._total and self._ended:
            self._plain(self._ended)
            self._ended = ""
        elif time.monotonic() - self._said >= _EVERY:
            of_total = "" if self._total is None else f" of {self._amount(self._total)}"
            self._plain(f"{self._what}: {self._amount(done)}{of_total}")

    def note(self, text: str) -> None:
        """Beside the moving line."""
        if self._moving is not None:
            self._moving.update(self._task, note=text)

    def aside(self, line: str) -> None:
        """As `Output.aside`, above the moving line."""
        if self._moving is not None:
            self._moving.console.print(line, style="yellow", markup=False)
        else:
            self._out.aside(line)

    def _plain(self, line: str) -> None:
        self._said = time.monotonic()
        if not self._out.json:
            self._out.aside(line)

    def _amount(self, count: int) -> str:
        return decimal(count) if self._of_bytes else f"{count:,}"


class _Elapsed(ProgressColumn):
    """Goes on when all bytes are sent, as the work does."""

    def render(self, task: Task) -> Text:
        return Text(str(timedelta(seconds=int(task.elapsed or 0))), "dim")


def _columns(total: int | None, of_bytes: bool) -> list[ProgressColumn]:
    begin: list[ProgressColumn] = [SpinnerColumn("line"), TextColumn("{task.description}", markup=False)]
    if total is not None:
        begin.append(BarColumn())
    amount: ProgressColumn = DownloadColumn() if of_bytes else MofNCompleteColumn()
    return [*begin, amount, TextColumn("{task.fields[note]}", markup=False), _Elapsed()]
