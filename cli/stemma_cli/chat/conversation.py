"""What a chat does to its session: state and calls, nothing of how it is shown."""

from dataclasses import dataclass

from stemma.conversation.v1 import run_service_pb2
from stemma.kernel.v1 import floor_pb2, run_pb2, session_pb2

from stemma_cli.calls.base import new_request_id
from stemma_cli.chat.frames import Following
from stemma_cli.client import Client
from stemma_cli.errors import CliError
from stemma_cli.words import plural, user_message


@dataclass(slots=True)
class Conversation:
    """One session, seen along one branch.

    `branch` is as the last answer left it. Its head goes with every write as `expected_head`: what is sent
    to the model, or moved, is what was on the screen, or the call is refused.
    """

    client: Client
    session: session_pb2.Session
    branch: floor_pb2.Branch
    # A run that waits for somebody: where it stands.
    waiting: Following | None = None

    @property
    def session_id(self) -> str:
        return self.session.session_id

    @property
    def turns(self) -> int:
        """How many there are on the path; the failed one after it does not count."""
        return self.branch.depth

    @property
    def nothing_said(self) -> bool:
        """Whether the branch is at the beginning, and nothing failed there."""
        return not self.branch.depth and not self.branch.failed_floor_id

    def refresh(self) -> None:
        """Reads the branch anew: somebody else may have moved it. Raises CliError when it is gone."""
        self.branch = find_branch(self.client, self.session_id, self.branch.name)

    def turn(self, number: int | None) -> floor_pb2.Floor:
        """The turn with that number, from 1; None: the last one, failed or not."""
        failed_id = self.branch.failed_floor_id
        if number is None or (failed_id and number == self.turns + 1):
            if self.nothing_said:
                raise CliError("There is no turn yet: say something first.")
            return self.client.get_floor(failed_id or self.branch.head_floor_id).floor
        if not 1 <= number <= self.turns:
            raise CliError(f"There is no turn {number}: the path has {plural(self.turns, 'turn')}.")
        return self._on_path(number)

    def floor_id(self, number: int) -> str:
        """Of a turn on the path; 0 is the root."""
        return self.session.root_floor_id if number == 0 else self.turn(number).floor_id

    def _on_path(self, number: int) -> floor_pb2.Floor:
        newest_first = number > self.turns / 2
        passed, token = 0, ""
        wanted = self.turns - number if newest_first else number - 1
        while True:
            page = self.client.path_page(
                self.session_id,
                self.branch.head_floor_id,
                newest_first=newest_first,
                size=min(wanted - passed + 1, 1_000),
                token=token,
            )
            for floor in page.floors:
                if floor.depth == number:
                    return floor
            passed, token = passed + len(page.floors), page.next_page_token

    def last_turns(self, count: int) -> list[floor_pb2.Floor]:
        """The newest turns of the path, oldest first."""
        head = self.branch.head_floor_id
        page = self.client.path_page(self.session_id, head, newest_first=True, size=count)
        return list(reversed(page.floors))

    def _request(self) -> run_service_pb2.RespondRequest:
        return run_service_pb2.RespondRequest(
            request_id=new_request_id(),
            session_id=self.session_id,
            branch=self.branch.name,
            expected_head=self.branch.head_floor_id,
        )

    def saying(self, text: str) -> run_service_pb2.RespondRequest:
        """A new turn."""
        request = self._request()
        request.input.messages.append(user_message(text))
        return request

    def editing(self, floor_id: str, text: str) -> run_service_pb2.RespondRequest:
        """Another version of a turn's input, answered at once."""
        request = self._request()
        request.edit.floor_id = floor_id
        request.edit.messages.append(user_message(text))
        return request

    def regenerating(self, floor_id: str) -> run_service_pb2.RespondRequest:
        """Another reply to a turn's input."""
        request = self._request()
        request.regenerate.floor_id = floor_id
        return request

    def deciding(self, approve: bool, reason: str) -> run_service_pb2.SubmitToolResultsRequest:
        """The same decision on every call that waits for approval."""
        request, required = self._answering(run_pb2.ACTION_KIND_APPROVAL)
        for call in required.calls:
            request.approvals.add(call_id=call.call_id, approve=approve, reason=reason)
        return request

    def resulting(self, content: str) -> run_service_pb2.SubmitToolResultsRequest:
        """A result for the first call that waits for one."""
        request, required = self._answering(run_pb2.ACTION_KIND_RESULT)
        request.results.add(call_id=required.calls[0].call_id, content=content)
        return request

    def _answering(
        self, kind: run_pb2.ActionKind
    ) -> tuple[run_service_pb2.SubmitToolResultsRequest, run_pb2.RequiresAction]:
        if self.waiting is None:
            raise CliError("Nothing waits for an answer.")
        required = self.client.get_run(self.waiting.run_id).run.requires_action
        if required.kind != kind:
            wanted = "/result TEXT" if kind == run_pb2.ACTION_KIND_APPROVAL else "/approve or /refuse"
            raise CliError(f"It waits for something else: {wanted}.")
        request = run_service_pb2.SubmitToolResultsRequest(
            request_id=new_request_id(), run_id=self.waiting.run_id
        )
        return request, required

    def ended(self, event: run_pb2.RunEvent) -> None:
        """Takes note of a run's last frame, or of the one with which it waits."""
        self.waiting = None
        match event.WhichOneof("event"):
            case "requires_action":
                self.waiting = Following(event.run_id, (event.epoch, event.seq))
                self.refresh()
            case "floor_committed":
                self.branch = event.floor_committed.branch
            case "cancelled" if event.cancelled.HasField("branch"):
                self.branch = event.cancelled.branch
            case _:
                self.refresh()


def find_branch(client: Client, session_id: str, name: str) -> floor_pb2.Branch:
    branches = client.list_branches(session_id).branches
    for branch in branches:
        if branch.name == name:
            return branch
    names = ", ".join(branch.name for branch in branches)
    raise CliError(f"There is no branch {name!r}. There are: {names}.")
