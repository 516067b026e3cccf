"""Where everything is printed: words for people, or with --json what the API answered."""

import json
import sys
from typing import Any

from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message
from rich.console import Console
from rich.table import Table
from rich.text import Text

from stemma_cli.errors import ApiError, CliError
from stemma_cli.words import printable


def as_json(message: Message) -> dict[str, Any]:
    """As the REST interface writes it: zero values printed, unset messages not."""
    answer: dict[str, Any] = MessageToDict(message, always_print_fields_with_no_presence=True)
    return answer


class Output:
    """`say` and its like print without --json only, `answer` with it only. Errors go to stderr."""

    def __init__(self, *, as_json: bool) -> None:
        self.json = as_json
        for stream in (sys.stdout, sys.stderr):
            # A terminal that cannot show a character shows a question mark, and no traceback.
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="replace")
        self._out = Console(highlight=False, markup=False, emoji=False)
        self._err = Console(highlight=False, markup=False, emoji=False, stderr=True)

    @property
    def terminal(self) -> bool:
        """Whether a person reads along."""
        return self._out.is_terminal

    @property
    def colours(self) -> bool:
        """Whether the terminal shows them, and NO_COLOR is not set."""
        return self._out.color_system is not None and not self._out.no_color

    @property
    def width(self) -> int:
        """Columns of the terminal; for a file or a pipe enough for any line."""
        return self._out.width if self._out.is_terminal else 1_000

    def answer(self, message: Message) -> None:
        self.answer_dict(as_json(message))

    def answer_dict(self, answer: dict[str, Any]) -> None:
        if self.json:
            print(json.dumps(answer, ensure_ascii=False), flush=True)

    def say(self, line: str | Text = "", style: str = "", *, whole: bool = False) -> None:
        """One line, cleaned of what would steer the terminal when it is a plain string.

        A terminal gets it wrapped at words, unless it must stay `whole`: a command to be copied.
        """
        if not self.json:
            text = Text(printable(line)) if isinstance(line, str) else line
            self._out.print(text, style=style, soft_wrap=whole or not self._out.is_terminal)

    def table(self, table: Table) -> None:
        if not self.json:
            self._out.print(table)

    def piece(self, text: str, style: str = "") -> None:
        """A part of a line, as it comes."""
        if not self.json:
            self._out.print(Text(printable(text)), end="", style=style, soft_wrap=True)
            self._out.file.flush()

    def note(self, line: str) -> None:
        """What is good to know, and not what was asked for; dim."""
        self.say(line, style="dim")

    def warn(self, line: str) -> None:
        """To stderr, whatever the format."""
        self._say_aside(Text(printable(line), "yellow"))

    def aside(self, line: str) -> None:
        """What is good to know, to stderr, whatever the format: standard output may be a file."""
        self._say_aside(Text(printable(line), "dim"))

    @property
    def moving_console(self) -> Console | None:
        """Where a line may be written over again and again: the terminal where everything else is
        printed too, and none when JSON goes there."""
        if self._out.is_terminal:
            return None if self.json else self._out
        return self._err if self._err.is_terminal else None

    def error(self, error: CliError) -> None:
        """One line on stderr; with --json the status as the API sent it."""
        if self.json and isinstance(error, ApiError):
            print(json.dumps(as_json(error.status), ensure_ascii=False), file=sys.stderr, flush=True)
        else:
            self._say_aside(Text.assemble(("error: ", "bold red"), printable(error.message)))

    def _say_aside(self, line: Text) -> None:
        self._err.print(line, soft_wrap=not self._err.is_terminal)
