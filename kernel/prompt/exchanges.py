"""Which calls of tools and which results may be sent to a model (T8), message by message. Pure.

Providers refuse a call without its result and a result without its call, and paths are cut, trimmed, forked,
hidden and imported anywhere. Of the messages that are visible and fit, in their order:

- An ASSISTANT message with calls opens an exchange, and the TOOL messages right after it answer. The next
  message of anybody else ends it: its calls that have no result by then are unanswered.
- A result is sent when it is the first for a call of the open exchange. Any other (cut away from its call,
  late, doubled) is left out. So ids that a provider uses again are told apart by position.
- A call whose id another call of its message has, a call of anybody but ASSISTANT, a result outside of TOOL
  messages, and whatever else a TOOL message holds are left out, too: no provider can be told of them.
- A message that is left out in part is sent with its other parts; one that is left out whole ends nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kernel.tree.message import Message, Part, ToolCall, ToolResult
from kernel.tree.model import Role


@dataclass(frozen=True, slots=True)
class Step:
    """What becomes of a message: `sent` is itself, the parts of it that may be sent, or None. `unanswered`
    are the ids of the calls that must be answered before it, in their order."""

    unanswered: tuple[str, ...]
    sent: Message | None


class Exchanges:
    """Of one context."""

    def __init__(self) -> None:
        # The calls that wait for their result, in their order.
        self._open: dict[str, None] = {}

    def next(self, message: Message) -> Step:
        if message.role is Role.TOOL:
            return Step((), _with(message, [part for part in message.parts if self._answers(part)]))
        sent = _with(message, _spoken(message))
        if sent is None:
            return Step((), None)
        unanswered = self.end()
        self._open = {part.call_id: None for part in sent.parts if isinstance(part, ToolCall)}
        return Step(unanswered, sent)

    def end(self) -> tuple[str, ...]:
        """Nothing answers any more: the ids of the calls that have no result."""
        unanswered, self._open = tuple(self._open), {}
        return unanswered

    def _answers(self, part: Part) -> bool:
        if not isinstance(part, ToolResult) or part.call_id not in self._open:
            return False
        del self._open[part.call_id]
        return True


def _spoken(message: Message) -> list[Part]:
    """The parts that a message of anybody but a tool may have."""
    called: set[str] = set()
    parts: list[Part] = []
    for part in message.parts:
        if isinstance(part, ToolCall):
            if message.role is not Role.ASSISTANT or part.call_id in called:
                continue
            called.add(part.call_id)
        if not isinstance(part, ToolResult):
            parts.append(part)
    return parts


def _with(message: Message, parts: Sequence[Part]) -> Message | None:
    if not parts:
        return None
    return message if len(parts) == len(message.parts) else replace(message, parts=tuple(parts))
