"""What moves a chat: rolling back, choosing versions, branches."""

from stemma.kernel.v1 import floor_pb2

from stemma_cli.chat.conversation import Conversation, find_branch
from stemma_cli.chat.looking import summary
from stemma_cli.chat.refusals import explained
from stemma_cli.errors import ApiError, CliError
from stemma_cli.output import Output
from stemma_cli.words import plural


class Moving:
    """Everything raises CliError when it is refused; the branch is then where it was."""

    def __init__(self, talk: Conversation, out: Output) -> None:
        self._talk = talk
        self._out = out

    def roll_back(self, number: int) -> None:
        talk = self._talk
        target = talk.floor_id(number)
        try:
            answer = talk.client.move_head(
                talk.session_id, talk.branch.name, target, talk.branch.head_floor_id
            )
        except ApiError as error:
            raise explained(talk, error) from None
        self._moved(answer.branch)
        self._out.answer(answer)
        self._show_place()

    def select_version(self, number: int, version: int) -> None:
        """Switches to one of a turn's versions, and to what was last said after it."""
        talk = self._talk
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
            raise explained(talk, error) from None
        self._moved(answer.branch)
        self._out.answer(answer)
        self._out.note(f"Turn {number} is version {version} of {len(siblings)} now: {summary(chosen)}")
        self._show_place()

    def abandon(self) -> None:
        self._talk.refresh()
        pending = self._talk.branch.pending_floor_id
        if not pending:
            raise CliError("There is no unfinished turn here.")
        answer = self._talk.client.abandon(pending)
        self._moved(answer.branch)
        self._out.answer(answer)
        self._out.note("Given up. /regenerate asks for its reply again.")

    def switch_branch(self, name: str) -> None:
        branch = find_branch(self._talk.client, self._talk.session_id, name)
        self._moved(branch)
        self._out.answer(branch)
        self._show_place()

    def new_branch(self, name: str, number: int | None) -> None:
        """At a turn of the path, else at its end; and switches to it."""
        talk = self._talk
        at = talk.branch.head_floor_id if number is None else talk.floor_id(number)
        answer = talk.client.create_branch(talk.session_id, name, at)
        self._moved(answer.branch)
        self._out.answer(answer)
        self._show_place()

    def _moved(self, branch: floor_pb2.Branch) -> None:
        self._talk.branch = branch

    def _show_place(self) -> None:
        talk = self._talk
        if not talk.turns:
            self._out.note(f"{talk.branch.name} is at the beginning.")
        elif not self._out.json:
            head = talk.client.get_floor(talk.branch.head_floor_id).floor
            self._out.note(f"{talk.branch.name} is at turn {talk.turns}: {summary(head)}")
