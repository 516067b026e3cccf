"""What a chat shows of its conversation: nothing here changes it."""

from rich.text import Text
from stemma.kernel.v1 import floor_pb2

from stemma_cli.chat.commands import COMMANDS
from stemma_cli.chat.context_view import context_of_next, context_of_turn, show_context
from stemma_cli.chat.conversation import Conversation
from stemma_cli.output import Output
from stemma_cli.trees.draw import show_tree
from stemma_cli.trees.labels import versions_mark
from stemma_cli.words import page_text, plural, printable, shortened

_TAIL = 3


class Looking:
    """Everything raises CliError when it is refused."""

    def __init__(self, talk: Conversation, out: Output) -> None:
        self._talk = talk
        self._out = out

    def show_versions(self, number: int | None) -> None:
        """Every committed version of a turn, numbered as `Moving.select_version` takes them."""
        turn = self._talk.turn(number)
        answer = self._talk.client.list_siblings(turn.floor_id, self._talk.branch.name)
        self._out.answer(answer)
        self._out.say(f"Turn {turn.depth} has {plural(len(answer.floors), 'version')}:")
        pairs = zip(answer.floors, answer.positions, strict=True)
        for version, (floor, position) in enumerate(pairs, 1):
            current = floor.floor_id == answer.current_floor_id
            mark = versions_mark(position)
            text = _pointed(current).append(f"{version}  ", "bold")
            text.append(f"{mark}  " if mark else "", "cyan")
            text.append(summary(floor), "" if current else "dim")
            self._out.say(text)
        if len(answer.floors) > 1:
            self._out.note(f"/siblings {turn.depth} K switches to version K.")

    def show_context(self, number: int | None) -> None:
        """What a turn's reply was made from; before the first turn, what there is to be sent."""
        if number is None and self._talk.nothing_said:
            self.show_next_context()
            return
        show_context(self._out, context_of_turn(self._talk, self._talk.turn(number)))

    def show_next_context(self) -> None:
        show_context(self._out, context_of_next(self._talk))

    def show_tree(self) -> None:
        show_tree(self._out, self._talk.client, self._talk.session, self._talk.branch.name, whole=False)

    def show_tail(self) -> None:
        """The last turns in full, for whoever comes back."""
        if self._out.json or not self._talk.turns:
            return
        turns = self._talk.last_turns(_TAIL)
        if turns[0].depth > 1:
            self._out.note(f"… {plural(turns[0].depth - 1, 'turn')} before these; /tree shows them")
        for turn in turns:
            said = printable(page_text(turn.input_page))
            self._out.say(Text.assemble((f"{turn.depth} › ", "bold green"), said))
            self._out.say(page_text(turn.output_page))
        self._out.say()

    def show_branches(self) -> None:
        answer = self._talk.client.list_branches(self._talk.session_id)
        self._out.answer(answer)
        for branch in answer.branches:
            here = branch.name == self._talk.branch.name
            text = _pointed(here).append(branch.name, "bold" if here else "")
            text.append(f"  at turn {branch.depth}", "dim")
            self._out.say(text)

    def show_help(self) -> None:
        width = max(len(command.usage) for command in COMMANDS.values())
        for command in COMMANDS.values():
            self._out.say(Text.assemble((f"  {command.usage:{width}}  ", "cyan"), command.help))
        self._out.note(
            "Anything else is said to the model; //text says /text. Ctrl-C stops a reply and keeps it."
        )


def summary(floor: floor_pb2.Floor) -> str:
    """Both sides of a turn on one line."""
    said = shortened(page_text(floor.input_page), 44) or "(no input)"
    answered = shortened(page_text(floor.output_page), 44)
    return f"{said}  →  {answered}" if answered else said


def _pointed(here: bool) -> Text:
    """The beginning of a line of a list, with an arrow at where one is."""
    return Text.assemble(("→ " if here else "  ", "bold green"))
