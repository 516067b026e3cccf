"""uvicorn's HTTP/1.1 protocol, with refusals in the contract's shape and limits in time.

What h11 refuses (a broken request line, CR or LF in a header, both lengths at once) never reaches the
application, so that its answers are made here.
"""

import asyncio
import sys
from typing import Any, ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from gateway.edge import MAX_HEADERS
from gateway.errors import Refusal, malformed, over_limit, too_slow

# How long what a refused client still sends is read and dropped. Closing at once would reset the
# connection, and the client might never see the answer.
_LINGER = 2.0


class Http1(H11Protocol):
    """One connection."""

    # Seconds for a request's head to be complete.
    header_timeout: ClassVar[float]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._header_timer: asyncio.TimerHandle | None = None
        self._refused = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._watch_head(begun=True)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._refused:
            return
        super().data_received(data)
        if not self._refused:
            self._watch_head(begun=bool(self.conn.trailing_data[0]))

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.conn.their_state is h11.SEND_BODY:
            self.loop.call_later(_LINGER, self._stop_reading)

    def send_400_response(self, msg: str) -> None:
        """Called by uvicorn while it handles h11's error."""
        error = sys.exc_info()[1]
        hint = error.error_status_hint if isinstance(error, h11.RemoteProtocolError) else 400
        if hint == 431:
            self._refuse(over_limit(f"The request's head is larger than {MAX_HEADERS} bytes.", 431))
        else:
            self._refuse(malformed("This is not a valid HTTP request."))

    def shutdown(self) -> None:
        if self._refused:
            self.transport.close()
        else:
            super().shutdown()

    def _watch_head(self, *, begun: bool) -> None:
        """Keeps the timer running exactly while a request's head is incomplete."""
        if not begun or self.conn.their_state is not h11.IDLE:
            self._stop_timer()
        elif self._header_timer is None:
            self._header_timer = self.loop.call_later(self.header_timeout, self._head_overdue)

    def _stop_timer(self) -> None:
        if self._header_timer is not None:
            self._header_timer.cancel()
            self._header_timer = None

    def _head_overdue(self) -> None:
        if self.conn.trailing_data[0]:
            self._refuse(too_slow("head"))
        else:
            self.transport.close()  # opened and never used

    def _refuse(self, refusal: Refusal) -> None:
        self._stop_timer()
        self._refused = True
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if self.conn.our_state not in {h11.IDLE, h11.SEND_RESPONSE}:
            self.transport.close()  # in the middle of an answer
            return
        self._write(refusal)
        self.transport.write_eof()
        self.flow.resume_reading()
        self.loop.call_later(_LINGER, self.transport.close)

    def _write(self, refusal: Refusal) -> None:
        body = refusal.body()
        headers = [
            ("content-type", "application/json"),
            ("content-length", str(len(body))),
            ("connection", "close"),
        ]
        response = h11.Response(status_code=refusal.http, headers=headers)
        for event in (response, h11.Data(data=body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")

    def _stop_reading(self) -> None:
        # The rest of a body that was refused; unless it has come by now, and another request with it.
        if self.conn.their_state is h11.SEND_BODY and self.conn.our_state is h11.DONE:
            self.transport.close()


def protocol(header_timeout: float) -> type[Http1]:
    return type("GatewayHttp1", (Http1,), {"header_timeout": header_timeout})
