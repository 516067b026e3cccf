"""Reading lines, from a person or from a pipe, until there are no more."""

import sys
from collections.abc import Iterator

from stemma_cli.chat.chat import Chat, Quit
from stemma_cli.chat.commands import COMMANDS, find_command
from stemma_cli.errors import CliError, Interrupted
from stemma_cli.output import Output


def talk(chat: Chat, out: Output) -> int:
    """Does every line. Returns the exit code: for a pipe 1 when any line failed, for a person always 0."""
    interactive = sys.stdin.isatty() and out.terminal
    failed = False
    lines = _typed(chat, out.colours) if interactive else _Piped()
    while True:
        try:
            line = next(lines, None)
            if line is None:
                break
            do(chat, line)
        except Quit:
            break
        except CliError as error:
            out.error(error)
            if isinstance(error, Interrupted) and not interactive:
                return error.exit_code
            failed = True
        except KeyboardInterrupt:
            if not interactive:
                return Interrupted.exit_code
            out.note("\nCtrl-D or /quit leaves.")
    return 1 if failed and not interactive else 0


def do(chat: Chat, line: str) -> None:
    """One line: a command, or a message. Empty ones do nothing."""
    line = line.strip()
    if line.startswith("//"):
        chat.say(line[1:])
    elif line.startswith("/"):
        name, _, rest = line[1:].partition(" ")
        find_command(name.lower()).run(chat, rest.strip())
    elif line:
        chat.say(line)


class _Typed:
    """Lines from a terminal, with the number of the next turn as the prompt."""

    def __init__(self, chat: Chat, colours: bool) -> None:
        self._chat = chat
        self._colours = colours

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        try:
            return input(_prompt(self._chat, self._colours))
        except EOFError:
            print()
            raise StopIteration from None
        except UnicodeDecodeError:
            raise CliError("That line is not valid UTF-8.") from None


def _typed(chat: Chat, colours: bool) -> Iterator[str]:
    import readline

    names = [f"/{name} " for name in COMMANDS]

    def complete(text: str, state: int) -> str | None:
        return next(iter([name for name in names if name.startswith(text)][state : state + 1]), None)

    readline.set_completer(complete)
    readline.set_completer_delims("")
    readline.parse_and_bind("tab: complete")
    return _Typed(chat, colours)


def _prompt(chat: Chat, colours: bool) -> str:
    branch = chat.talk.branch
    prompt = f"{'' if branch.name == 'main' else f'{branch.name} '}{branch.depth + 1} › "
    # Between these marks readline does not count the columns.
    return f"\001\033[1;32m\002{prompt}\001\033[0m\002" if colours else prompt


class _Piped:
    """Lines from a pipe or a file."""

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        raw = sys.stdin.buffer.readline()
        if not raw:
            raise StopIteration
        try:
            return raw.decode()
        except UnicodeDecodeError:
            raise CliError("That line is not valid UTF-8.") from None
