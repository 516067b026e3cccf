"""A chat: talking here, moving and looking in `Moving` and `Looking`."""

from stemma.conversation.v1 import run_service_pb2
from stemma.kernel.v1 import floor_pb2, run_pb2

from stemma_cli.chat.conversation import Conversation
from stemma_cli.chat.frames import Following
from stemma_cli.chat.looking import Looking
from stemma_cli.chat.moving import Moving
from stemma_cli.chat.refusals import explained, failure
from stemma_cli.chat.reply import ReplyView, left_out_note, waits_note
from stemma_cli.chat.watch import Watch
from stemma_cli.errors import ApiError, CliError, Interrupted
from stemma_cli.output import Output
from stemma_cli.trees.labels import versions_mark
from stemma_cli.words import plural


class Quit(Exception):
    """The user leaves."""


class Chat:
    """One conversation and where it is shown. Everything raises CliError when it is refused."""

    def __init__(self, conversation: Conversation, out: Output) -> None:
        self.talk = conversation
        self.moving: Moving = Moving(conversation, out)
        self.looking: Looking = Looking(conversation, out)
        self._out = out
        # Of the reply that waits.
        self._shown = ""

    def say(self, text: str) -> None:
        self._respond(self.talk.saying(text))

    def edit(self, number: int | None, text: str) -> None:
        self._respond(self.talk.editing(self.talk.turn(number).floor_id, text))

    def regenerate(self, number: int | None) -> None:
        self._respond(self.talk.regenerating(self.talk.turn(number).floor_id))

    def decide(self, approve: bool, reason: str = "") -> None:
        self._answer(self.talk.deciding(approve, reason))

    def give_result(self, content: str) -> None:
        self._answer(self.talk.resulting(content))

    def quit(self) -> None:
        raise Quit

    def _answer(self, request: run_service_pb2.SubmitToolResultsRequest) -> None:
        run = self.talk.client.submit_tool_results(request).run
        assert self.talk.waiting is not None
        if run.state == run_pb2.RUN_STATE_WAITING:
            self._out.note(waits_note(run.requires_action))
        else:
            self._respond(self.talk.waiting)

    def _respond(self, wanted: run_service_pb2.RespondRequest | Following) -> None:
        shown = self._shown if isinstance(wanted, Following) else ""
        watch, view = Watch(self.talk.client, wanted), ReplyView(self._out, shown)
        try:
            event = view.follow(watch.events())
        except ApiError as error:
            raise explained(self.talk, error) from None
        self.talk.ended(event)
        self._shown = view.shown
        if view.left_out:
            self._out.note(left_out_note(view.left_out))
        self._show_end(event)
        if watch.interrupted and not self._out.terminal:
            raise Interrupted("Stopped.")

    def _show_end(self, event: run_pb2.RunEvent) -> None:
        match event.WhichOneof("event"):
            case "floor_committed":
                self._show_turn_line(event.floor_committed.floor)
            case "cancelled" if event.cancelled.floor.state == floor_pb2.FLOOR_STATE_COMMITTED:
                self._out.note("Stopped; what was written is kept.")
                self._show_turn_line(event.cancelled.floor)
            case "cancelled":
                self._out.note("Stopped before anything was written. /regenerate asks again.")
            case "requires_action":
                self._out.note(waits_note(event.requires_action))
            case "held":
                self._out.note("The reply is kept as a candidate, and its turn is open.")
            case _:
                raise CliError(failure(event.failed))

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
