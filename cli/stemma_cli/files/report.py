"""What became of the conversations of a file, in words."""

from collections.abc import Iterator
from dataclasses import dataclass

from rich.text import Text
from stemma.conversation.v1 import session_service_pb2

from stemma_cli.output import Output
from stemma_cli.words import plural, printable, shortened

_TITLE = 80


@dataclass(slots=True)
class Report:
    """Prints each conversation, and counts."""

    out: Output
    taken: int = 0
    refused: int = 0
    floors: int = 0
    messages: int = 0

    def add(self, answer: session_service_pb2.ImportSessionsResponse) -> None:
        result = answer.result
        if result.HasField("error"):
            self.refused += 1
        else:
            self.taken += 1
            self.floors += result.floors
            self.messages += result.messages
        self.out.answer(answer)
        if not self.out.json:
            for line in _lines(result):
                self.out.say(line)

    def summary(self, name: str) -> str:
        """One line about all of them."""
        counts = f"{plural(self.floors, 'turn')} of {plural(self.messages, 'message')}"
        refused = f"; {self.refused:,} could not be taken" if self.refused else ""
        return f"{name}: {plural(self.taken, 'conversation')}, {counts}{refused}."


def _lines(result: session_service_pb2.ImportResult) -> Iterator[Text]:
    title = shortened(result.title, _TITLE) or f"conversation {result.index + 1}"
    if result.HasField("error"):
        why = f"{printable(result.error.message)} ({result.error.reason})"
        yield Text.assemble(("✗ ", "bold red"), (title, "bold"), f": {why}")
    else:
        counts = f"{plural(result.floors, 'turn')}, {plural(result.messages, 'message')}"
        session_id = (result.session_id, "bold")
        yield Text.assemble(("✓ ", "bold green"), session_id, (f"  {counts}  ", "dim"), title)
    for warning in result.warnings:
        yield Text(f"  ! {printable(warning)}", "yellow")
    if result.HasField("log_tokens"):
        yield Text(f"  {_tokens(result.log_tokens)}", "green")


def _tokens(tokens: session_service_pb2.LogTokens) -> str:
    so_far = f"{plural(tokens.calls, 'answer')} so far: {_against(tokens.log_sent, tokens.tree_sent)}"
    return f"{so_far}; the next one: {_against(tokens.log_next, tokens.tree_next)}."


def _against(log: int, tree: int) -> str:
    less = f", {100 * (log - tree) // log}% less" if log > tree else ""
    return f"a plain log sends {plural(log, 'token')}, the tree {tree:,}{less}"
