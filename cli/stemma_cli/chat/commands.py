"""The lines that begin with a slash."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stemma_cli.errors import CliError

if TYPE_CHECKING:
    from stemma_cli.chat.chat import Chat


@dataclass(frozen=True, slots=True)
class Command:
    """`run(chat, rest)` gets what stands after the name."""

    usage: str
    help: str
    run: Callable[["Chat", str], None]


def parse_number(word: str) -> int:
    """A turn or a version. Raises CliError for anything else."""
    if not (word.isascii() and word.isdigit() and len(word) < 10):
        raise CliError(f"{word!r} is not a number. Turns are numbered from 1; /tree shows them.")
    return int(word)


def optional_number(rest: str) -> int | None:
    return parse_number(rest) if rest else None


def split_edit(rest: str) -> tuple[int | None, str]:
    """`3 text` names the turn, `text` alone the last one. Raises CliError without a text."""
    first, _, text = rest.partition(" ")
    if first.isascii() and first.isdigit():
        number = parse_number(first)
        if not text.strip():
            raise CliError(f"Say what turn {number} should be: /edit {number} TEXT.")
        return number, text.strip()
    if not rest:
        raise CliError("Say what it should be: /edit TEXT for the last turn, or /edit N TEXT.")
    return None, rest


def _edit(chat: "Chat", rest: str) -> None:
    number, text = split_edit(rest)
    chat.edit(number, text)


def _siblings(chat: "Chat", rest: str) -> None:
    words = rest.split()
    match [parse_number(word) for word in words]:
        case []:
            chat.looking.show_versions(None)
        case [turn]:
            chat.looking.show_versions(turn)
        case [turn, version]:
            chat.moving.select_version(turn, version)
        case _:
            raise CliError("/siblings [N] lists the versions of a turn, /siblings N K switches to one.")


def _rollback(chat: "Chat", rest: str) -> None:
    if not rest:
        raise CliError("Say how far: /rollback N goes back to turn N, and /rollback 0 to the beginning.")
    chat.moving.roll_back(parse_number(rest))


def _context(chat: "Chat", rest: str) -> None:
    if rest == "next":
        chat.looking.show_next_context()
    else:
        chat.looking.show_context(optional_number(rest))


def _branch(chat: "Chat", rest: str) -> None:
    match rest.split():
        case []:
            chat.looking.show_branches()
        case [name]:
            chat.moving.switch_branch(name)
        case ["new", name]:
            chat.moving.new_branch(name, None)
        case ["new", name, number]:
            chat.moving.new_branch(name, parse_number(number))
        case _:
            raise CliError(
                "/branch lists them, /branch NAME switches, /branch new NAME [N] makes one at turn N."
            )


COMMANDS = {
    "edit": Command("/edit [N] TEXT", "Say turn N (else the last) differently, and have it answered.", _edit),
    "regenerate": Command(
        "/regenerate [N]",
        "Another reply to turn N (else the last).",
        lambda c, r: c.regenerate(optional_number(r)),
    ),
    "siblings": Command(
        "/siblings [N [K]]", "The versions of turn N (else the last); with K, switch to the K-th.", _siblings
    ),
    "rollback": Command("/rollback N", "Go back to turn N; 0 is the beginning. Nothing is lost.", _rollback),
    "context": Command(
        "/context [N|next]", "What the model was sent for turn N (else the last), word for word.", _context
    ),
    "tree": Command("/tree", "Draw everything that was said here.", lambda c, _: c.looking.show_tree()),
    "branch": Command(
        "/branch [[new] NAME [N]]", "List branches; switch to one; make one (at turn N).", _branch
    ),
    "approve": Command(
        "/approve", "Let the model make the calls that wait for approval.", lambda c, _: c.decide(True)
    ),
    "refuse": Command(
        "/refuse [WHY]", "Do not let it; it is told why, and goes on.", lambda c, r: c.decide(False, r)
    ),
    "result": Command(
        "/result TEXT", "The result of a call that waits for yours.", lambda c, r: c.give_result(r)
    ),
    "abandon": Command(
        "/abandon", "Give up a turn that was left unfinished.", lambda c, _: c.moving.abandon()
    ),
    "help": Command("/help", "This list.", lambda c, _: c.looking.show_help()),
    "quit": Command("/quit", "Leave; Ctrl-D does too. Everything is kept.", lambda c, _: c.quit()),
}


def find_command(name: str) -> Command:
    """By its name or an unambiguous beginning of it. Raises CliError."""
    found = [command for known, command in COMMANDS.items() if known.startswith(name)]
    if name in COMMANDS:
        return COMMANDS[name]
    if name and len(found) == 1:
        return found[0]
    raise CliError(f"There is no /{name}: /help lists the commands; //{name} says it to the model.")
