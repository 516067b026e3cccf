"""Showing one reply as it comes."""

from collections.abc import Iterable

from stemma.kernel.v1 import floor_pb2, run_pb2

from stemma_cli.chat.watch import Notice
from stemma_cli.output import Output
from stemma_cli.words import plural, reply_text

# Characters of a call's arguments, or of a result.
_ASIDE = 200


class ReplyView:
    """Prints the frames of one run: its text at once, word by word as it arrives. `shown` is what of the
    reply was printed before a wait."""

    def __init__(self, out: Output, shown: str = "") -> None:
        self._out = out
        self._shown = shown
        self._in_line = False
        self._thinking = False
        self.left_out = 0

    @property
    def shown(self) -> str:
        """The reply's text so far."""
        return self._shown

    def follow(self, events: Iterable[run_pb2.RunEvent | Notice]) -> run_pb2.RunEvent:
        """Shows everything, and returns the last frame. Raises what `events` raises."""
        last = run_pb2.RunEvent()
        try:
            for event in events:
                if isinstance(event, Notice):
                    self._notice(event)
                    continue
                self._out.answer(event)
                self._show(event)
                last = event
        finally:
            self._end_line()
        return last

    def _notice(self, notice: Notice) -> None:
        self._end_line()
        if notice is Notice.LOST:
            self._out.warn("connection lost; asking again under the same request id …")
        else:
            self._out.note("stopping …")

    def _show(self, event: run_pb2.RunEvent) -> None:
        match event.WhichOneof("event"):
            case "started":
                self.left_out = event.started.left_out_count
            case "reasoning_delta":
                self._thinking = True
                self._piece(event.reasoning_delta.text, "dim italic")
            case "text_delta":
                self._text(event.text_delta.text)
            case "tool_call":
                call = event.tool_call
                self._aside(f"→ {call.name}({shortened(call.arguments_json)})")
            case "tool_result":
                result = event.tool_result
                self._aside(f"← {'error: ' if result.is_error else ''}{shortened(result.content)}")
            case "reset":
                self._aside("the service was restarted; what it kept of this reply:")
                self._shown = ""
                for page in event.reset.pages:
                    self._text(reply_text(page))
            case "floor_committed":
                self._rest(event.floor_committed.floor)
            case "cancelled":
                self._rest(event.cancelled.floor)
            case "failed":
                self._rest(event.failed.floor)
            case _:
                pass

    def _aside(self, line: str) -> None:
        self._end_line()
        self._out.note(line)

    def _text(self, text: str) -> None:
        if self._thinking:
            self._end_line()
            self._thinking = False
        self._shown += text
        self._piece(text)

    def _rest(self, floor: floor_pb2.Floor) -> None:
        """What the floor has and the frames did not show: they were lost with a connection."""
        whole = reply_text(floor.output_page)
        if whole.startswith(self._shown):
            self._text(whole[len(self._shown) :])
        elif whole:
            self._end_line()
            self._out.note("the reply, in full:")
            self._text(whole)

    def _piece(self, text: str, style: str = "") -> None:
        if text:
            self._out.piece(text, style)
            self._in_line = not text.endswith("\n")

    def _end_line(self) -> None:
        if self._in_line:
            self._out.piece("\n")
            self._in_line = False


def shortened(text: str) -> str:
    """In one line."""
    line = " ".join(text.split())
    return line if len(line) <= _ASIDE else f"{line[:_ASIDE]}…"


def left_out_note(count: int) -> str:
    return f"{plural(count, 'message')} of this path did not reach the model: /context says which and why."


def waits_note(required: run_pb2.RequiresAction) -> str:
    """What the run waits for, and what to type."""
    calls = ", ".join(f"{call.name}({shortened(call.arguments_json)})" for call in required.calls)
    if required.kind == run_pb2.ACTION_KIND_APPROVAL:
        return f"The model wants to call {calls}. /approve lets it, /refuse [WHY] does not."
    return f"The model waits for the result of {calls}. /result TEXT gives it (the first one's)."
