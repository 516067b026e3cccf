"""A server stream as Server-Sent Events.

Each frame is `id:` with its position (of a run `<epoch>.<seq>`) and one `data:` line, without `event:`.
The caller has read the first frame already, or knows that the call was accepted, so that what is refused
before is an ordinary error answer; a break after it is `event: error`, without an id, so that a client
resumes after the last frame it has.
"""

from collections.abc import AsyncIterator
from typing import Any

import grpc
from sse_starlette import EventSourceResponse, ServerSentEvent

from gateway.errors import refusal_of
from gateway.render import to_text

_SEP = "\n"


def event_stream(first: Any, call: Any, field: str, *, ping: float) -> EventSourceResponse:
    """Answers `first`, if there is one, and the rest of `call`, the field of each response alone; cancels
    the call when the client leaves. `ping`: seconds between comments."""
    return EventSourceResponse(
        _events(first, call, field),
        sep=_SEP,
        ping=ping,
        ping_message_factory=lambda: ServerSentEvent(comment="keep-alive", sep=_SEP),
    )


async def _events(first: Any, call: Any, field: str) -> AsyncIterator[ServerSentEvent]:
    try:
        response = await call.read() if first is None else first
        while response is not grpc.aio.EOF:
            yield _frame(getattr(response, field))
            response = await call.read()
    except Exception as error:
        body = refusal_of(error).body().decode()
        yield ServerSentEvent(body, event="error", sep=_SEP)
    finally:
        call.cancel()


def _frame(event: Any) -> ServerSentEvent:
    follows = "position" in event.DESCRIPTOR.fields_by_name
    position = str(event.position) if follows else f"{event.epoch}.{event.seq}"
    return ServerSentEvent(to_text(event), id=position, sep=_SEP)
