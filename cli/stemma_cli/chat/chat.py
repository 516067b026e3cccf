"""What each command of a chat does, and what is shown of it."""

from rich.text import Text
from stemma.conversation.v1 import run_service_pb2
from stemma.kernel.v1 import floor_pb2, run_pb2

from stemma_cli.chat.commands import COMMANDS
from stemma_cli.chat.context_view import context_of_next, context_of_turn, show_context
from stemma_cli.chat.conversation import Conversation, find_branch
from stemma_cli.chat.reply import ReplyView, left_out_note
from stemma_cli.chat.watch import Watch
from stemma_cli.errors import ApiError, CliError, Interrupted
from stemma_cli.output import Output
from stemma_cli.trees.draw import show_tree
from stemma_cli.trees.labels import versions_mark
from stemma_cli.words import page_text, plural, printable, shortened

_TAIL = 3


class Quit(Exception):
    """The user leaves."""


class Chat:
    """One conversation and where it is shown. Everything raises CliError when it is refused."""

    def __init__(self, conversation: Conversation, out: Output) -> None:
        self.talk = conversation
        self._out = out

    # Talking

    def say(self, text: str) -> None:
        self._respond(self.talk.saying(text))

    def edit(self, number: int | None, text: str) -> None:
        self._respond(self.talk.editing(self.talk.turn(number).floor_id, text))

    def regenerate(self, number: int | None) -> None:
        self._respond(self.talk.regenerating(self.talk.turn(number).floor_id))

    def _respond(self, request: run_service_pb2.RespondRequest) -> None:
        watch, view = Watch(self.talk.client, request), ReplyView(self._out)
        try:
            event = view.follow(watch)
        except ApiError as error:
            raise self._explained(error) from None
        self.talk.ended(event)
        if view.left_out:
            self._out.note(left_out_note(view.left_out))
        self._show_end(event)
        if watch.interrupted and not self._out.terminal:
            raise Interrupted("Stopped.")

    def _explained(self, error: ApiError) -> CliError:
        """The error, with what to do in a chat; what the refusal tells of the branch is taken over."""
        if error.reason == "HEAD_MOVED":
            self.talk.refresh()
            branch = self.talk.branch
            return CliError(
                f"Somebody else moved {branch.name}, which is at turn {branch.depth} now. Nothing was done: "
                "/tree shows it; say it again to go on from there."
            )
        if error.reason == "FLOOR_PENDING":
            return CliError(
                f"A turn on {self.talk.branch.name} is unfinished, perhaps being answered elsewhere. "
                "Wait for it, or give it up with /abandon."
            )
        return error

    def _show_end(self, event: run_pb2.RunEvent) -> None:
        match event.WhichOneof("event"):
            case "floor_committed":
                self._show_turn_line(event.floor_committed.floor)
            case "cancelled" if event.cancelled.floor.state == floor_pb2.FLOOR_STATE_COMMITTED:
                self._out.note("Stopped; what was written is kept.")
                self._show_turn_line(event.cancelled.floor)
            case "cancelled":
                self._out.note("Stopped before anything was written. /regenerate asks again.")
            case _:
                raise CliError(_failure(event.failed))

    def _show_turn_line(self, floor: floor_pb2.Floor) -> None:
        if self._out.json:
            return
        try:
            position = self.talk.client.get_floor(floor.floor_id).position
        except ApiError:
            # The turn is written, whatever has become of the service since.
            position = floor_pb2.Position()
        usage = f"{plural(floor.usage.tokens_in, 'token')} in, {floor.usage.tokens_out:,} out"
        parts = [f"turn {floor.depth}", versions_mark(position), usage]
        self._out.note(f"— {' · '.join(filter(None, parts))}")
        if self._out.terminal:
            self._out.say()

    # Moving

    def roll_back(self, number: int) -> None:
        talk = self.talk
        target = talk.floor_id(number)
        try:
            answer = talk.client.move_head(
                talk.session_id, talk.branch.name, target, talk.branch.head_floor_id
            )
        except ApiError as error:
            raise self._explained(error) from None
        self._moved(answer.branch)
        self._out.answer(answer)
        self._show_place()

    def show_versions(self, number: int | None) -> None:
        """Every committed version of a turn, numbered as `select_version` takes them."""
        turn = self.talk.turn(number)
        answer = self.talk.client.list_siblings(turn.floor_id, self.talk.branch.name)
        self._out.answer(answer)
        self._out.say(f"Turn {turn.depth} has {plural(len(answer.floors), 'version')}:")
        pairs = zip(answer.floors, answer.positions, strict=True)
        for version, (floor, position) in enumerate(pairs, 1):
            current = floor.floor_id == answer.current_floor_id
            mark = versions_mark(position)
            text = _pointed(current).append(f"{version}  ", "bold")
            text.append(f"{mark}  " if mark else "", "cyan")
            text.append(_summary(floor), "" if current else "dim")
            self._out.say(text)
        if len(answer.floors) > 1:
            self._out.note(f"/siblings {turn.depth} K switches to version K.")

    def select_version(self, number: int, version: int) -> None:
        """Switches to one of a turn's versions, and to what was last said after it."""
        talk = self.talk
        siblings = talk.client.list_siblings(talk.turn(number).floor_id, talk.branch.name).floors
        if not 1 <= version <= len(siblings):
            raise CliError(
                f"Turn {number} has {plural(len(siblings), 'version')}: /siblings {number} lists them."
            )
        chosen = siblings[version - 1]
        try:
            answer = talk.client.select_sibling(
                talk.session_id, talk.branch.name, chosen.floor_id, talk.branch.head_floor_id
            )
        except ApiError as error:
            raise self._explained(error) from None
        self._moved(answer.branch)
        self._out.answer(answer)
        self._out.note(f"Turn {number} is version {version} of {len(siblings)} now: {_summary(chosen)}")
        self._show_place()

    def abandon(self) -> None:
        self.talk.refresh()
        pending = self.talk.branch.pending_floor_id
        if not pending:
            raise CliError("There is no unfinished turn here.")
        answer = self.talk.client.abandon(pending)
        self._moved(answer.branch)
        self._out.answer(answer)
        self._out.note("Given up. /regenerate asks for its reply again.")

    def _moved(self, branch: floor_pb2.Branch) -> None:
        self.talk.branch = branch

    # Looking

    def show_context(self, number: int | None) -> None:
        """What a turn's reply was made from; before the first turn, what there is to be sent."""
        if number is None and self.talk.nothing_said:
            self.show_next_context()
            return
        show_context(self._out, context_of_turn(self.talk, self.talk.turn(number)))

    def show_next_context(self) -> None:
        show_context(self._out, context_of_next(self.talk))

    def show_tree(self) -> None:
        show_tree(self._out, self.talk.client, self.talk.session, self.talk.branch.name, whole=False)

    def show_tail(self) -> None:
        """The last turns in full, for whoever comes back."""
        if self._out.json or not self.talk.turns:
            return
        turns = self.talk.last_turns(_TAIL)
        if turns[0].depth > 1:
            self._out.note(f"… {plural(turns[0].depth - 1, 'turn')} before these; /tree shows them")
        for turn in turns:
            said = printable(page_text(turn.input_page))
            self._out.say(Text.assemble((f"{turn.depth} › ", "bold green"), said))
            self._out.say(page_text(turn.output_page))
        self._out.say()

    def _show_place(self) -> None:
        talk = self.talk
        if not talk.turns:
            self._out.note(f"{talk.branch.name} is at the beginning.")
        elif not self._out.json:
            head = talk.client.get_floor(talk.branch.head_floor_id).floor
            self._out.note(f"{talk.branch.name} is at turn {talk.turns}: {_summary(head)}")

    # Branches

    def show_branches(self) -> None:
        answer = self.talk.client.list_branches(self.talk.session_id)
        self._out.answer(answer)
        for branch in answer.branches:
            here = branch.name == self.talk.branch.name
            text = _pointed(here).append(branch.name, "bold" if here else "")
            text.append(f"  at turn {branch.depth}", "dim")
            self._out.say(text)

    def switch_branch(self, name: str) -> None:
        branch = find_branch(self.talk.client, self.talk.session_id, name)
        self._moved(branch)
        self._out.answer(branch)
        self._show_place()

    def new_branch(self, name: str, number: int | None) -> None:
        """At a turn of the path, else at its end; and switches to it."""
        talk = self.talk
        at = talk.branch.head_floor_id if number is None else talk.floor_id(number)
        answer = talk.client.create_branch(talk.session_id, name, at)
        self._moved(answer.branch)
        self._out.answer(answer)
        self._show_place()

    def show_help(self) -> None:
        width = max(len(command.usage) for command in COMMANDS.values())
        for command in COMMANDS.values():
            self._out.say(Text.assemble((f"  {command.usage:{width}}  ", "cyan"), command.help))
        self._out.note(
            "Anything else is said to the model; //text says /text. Ctrl-C stops a reply and keeps it."
        )

    def quit(self) -> None:
        raise Quit


def _pointed(here: bool) -> Text:
    """The beginning of a line of a list, with an arrow at where one is."""
    return Text.assemble(("→ " if here else "  ", "bold green"))


def _summary(floor: floor_pb2.Floor) -> str:
    said = shortened(page_text(floor.input_page), 44) or "(no input)"
    answered = shortened(page_text(floor.output_page), 44)
    return f"{said}  →  {answered}" if answered else said


def _failure(failed: run_pb2.RunFailed) -> str:
    what = {
        "PROVIDER_UNAVAILABLE": "The model cannot be reached",
        "PROVIDER_TIMEOUT": "The model did not answer in time",
        "PROVIDER_INVALID": "The model refused, or answered nonsense",
        "LIMIT": "The reply or its context is too large",
        "CRASHED": "The service was stopped in the middle of the reply",
    }.get(failed.reason, "The reply failed")
    return f"{what} ({failed.reason}). The turn did not become part of the talk: /regenerate asks again."
