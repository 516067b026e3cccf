"""Joins the pieces of streamed tool calls to whole ones. Trusts nothing that the client did not check."""

from dataclasses import dataclass, field

from kernel.generation.provider import FailureReason, ProviderError, ToolCallChunk, not_valid
from kernel.strict_json import is_storable

MAX_CALLS = 64
# Of all calls of one answer together: what one message can hold beside its text.
MAX_CALL_BYTES = 512 * 1024
_MAX_NAME = 256


@dataclass(slots=True)
class _Call:
    call_id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)


class CallJoiner:
    """Several calls may come mixed, each by its index. The first piece of a call names its id and its
    tool; later ones may repeat them. Memory is bounded by MAX_CALLS and MAX_CALL_BYTES."""

    def __init__(self) -> None:
        self._calls: dict[int, _Call] = {}
        self._bytes = 0

    def __bool__(self) -> bool:
        return bool(self._calls)

    def add(self, pieces: object) -> None:
        """Takes one delta's `tool_calls`.

        Raises:
            ProviderError: PROVIDER_INVALID for what is no piece of a call, or gives an id to two;
                LIMIT when there is too much.
        """
        if not isinstance(pieces, list):
            raise not_valid("The provider sent tool calls that are no list.")
        for piece in pieces:
            self._add(piece)

    def whole(self) -> list[ToolCallChunk]:
        """At the end of the answer: the calls by their index. Raises: ProviderError PROVIDER_INVALID
        when one has no id or names no tool."""
        calls = [self._calls[index] for index in sorted(self._calls)]
        if not all(call.call_id and call.name for call in calls):
            raise not_valid("The provider sent a tool call without an id or without a name.")
        # Servers write no arguments as nothing, which is no JSON.
        return [ToolCallChunk(call.call_id, call.name, "".join(call.arguments) or "{}") for call in calls]

    def _add(self, piece: object) -> None:
        index, function = getattr(piece, "index", None), getattr(piece, "function", None)
        if type(index) is not int or not 0 <= index < MAX_CALLS:
            raise not_valid("The provider sent a piece of a tool call that says not of which.")
        call = self._calls.setdefault(index, _Call())
        call_id = self._text(getattr(piece, "id", None), _MAX_NAME)
        if call_id and call_id != call.call_id:
            if call.call_id or any(other.call_id == call_id for other in self._calls.values()):
                raise not_valid("The provider gave one id to two tool calls, or two to one.")
            call.call_id = call_id
        name = self._text(getattr(function, "name", None), _MAX_NAME)
        if name and name != call.name:
            if call.name:
                raise not_valid("The provider gave two names to one tool call.")
            call.name = name
        if arguments := self._text(getattr(function, "arguments", None), MAX_CALL_BYTES):
            call.arguments.append(arguments)

    def _text(self, value: object, longest: int) -> str:
        if value is None:
            return ""
        if not isinstance(value, str) or not is_storable(value):
            raise not_valid("The provider sent a tool call whose parts are no text.")
        self._bytes += len(value.encode())
        if len(value) > longest or self._bytes > MAX_CALL_BYTES:
            raise ProviderError(FailureReason.LIMIT, "The provider sent tool calls that are too long.")
        return value
