"""What every request passes first and every answer last: request id, header limits, Host, Origin, errors."""

import re
import uuid
from collections.abc import Iterable

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.errors import Refusal, malformed, over_limit, refusal_of
from gateway.origins import check_origin

MAX_HEADERS = 64 * 1024
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,128}")
_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?")
# A second one of these would make two readers of one request disagree.
_SINGLE = ("host", "content-type", "content-length", "idempotency-key", "last-event-id", "x-request-id")


class Edge:
    """ASGI middleware. Whatever is raised inside leaves as an answer in the contract's shape."""

    def __init__(self, app: ASGIApp, host_names: Iterable[str], *, same_origin: bool) -> None:
        """`same_origin`: whether pages of other origins are kept from writing."""
        self.app = app
        self._host_names = frozenset(host_names)
        self._same_origin = same_origin

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        request_id = _request_id(headers)
        scope.setdefault("state", {})["request_id"] = request_id
        started = False

        async def send_with_id(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                answer = MutableHeaders(scope=message)
                answer["x-request-id"] = request_id
                if scope["raw_path"].startswith(b"/v1/"):
                    # A cache in between knows `Authorization`, and not that `x-api-key` is a credential, too.
                    answer.setdefault("cache-control", "no-store")
            await send(message)

        try:
            self._check(scope, headers)
            await self.app(scope, receive, send_with_id)
        except ClientDisconnect:
            return  # nobody is left to answer
        except Exception as error:
            if started:
                raise  # too late for an answer: the server breaks the connection
            await error_response(refusal_of(error))(scope, receive, send_with_id)

    def _check(self, scope: Scope, headers: Headers) -> None:
        size = len(scope["raw_path"]) + len(scope["query_string"])
        if size + sum(len(name) + len(value) for name, value in headers.raw) > MAX_HEADERS:
            raise over_limit("The request's headers are larger than 64 KiB.", 431)
        for name in _SINGLE:
            if len(headers.getlist(name)) > 1:
                raise malformed(f"The header {name} is given twice.")
        if "transfer-encoding" in headers and "content-length" in headers:
            # A proxy in front that goes by the other length would see other requests than we do.
            raise malformed("The body has two lengths.", headers={"connection": "close"})
        host = _HOST.fullmatch(headers.get("host", ""))
        if host is None or host["name"].strip("[]").lower() not in self._host_names:
            raise malformed("The Host header names no host that this gateway serves.")
        if self._same_origin:
            check_origin(scope["method"], headers)


def error_response(error: Refusal) -> Response:
    return Response(error.body(), error.http, error.headers, media_type="application/json")


def _request_id(headers: Headers) -> str:
    """The caller's, when it can stand in a header and a log; else a new one."""
    given = headers.get("x-request-id", "")
    return given if _REQUEST_ID.fullmatch(given) else str(uuid.uuid4())
