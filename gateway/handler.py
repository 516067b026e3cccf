"""One REST request, from its path to its answer."""

import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast

from google.protobuf.message import Message
from grpc.aio import AioRpcError
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from gateway.behind import Behind
from gateway.body import read_body
from gateway.connected import while_connected
from gateway.credentials import credentials_of
from gateway.downloads import file_answer
from gateway.errors import Refusal, refusal_of
from gateway.render import to_json
from gateway.respond import RESPOND, RESPOND_IN_DRAFT, draft_respond_result, respond_result
from gateway.routes import Table
from gateway.services import BY_HAND, IMPORT, Binding, bindings
from gateway.settings import Settings
from gateway.sse import event_stream
from gateway.transcode import build_request, parse
from gateway.uploads import import_results
from gateway.upstream import Metadata, Upstream
from kernel.telemetry.metrics import Figures
from kernel.telemetry.tracing import traces

# How a POST that streams is answered to a caller that does not ask for a stream.
RESULTS: Mapping[str, Callable[[Message, Any, Any, Upstream, Metadata], Awaitable[Message]]] = {
    RESPOND: respond_result,
    RESPOND_IN_DRAFT: draft_respond_result,
}


# What the services put among the headers of such a stream; see kernel.rpc.exchange.
ACCEPTED = "x-stemma-accepted"


class Transcoder:
    """The ASGI endpoint for every RPC. Raises Refusal and AioRpcError; `edge` answers them."""

    def __init__(self, settings: Settings, upstream: Upstream, figures: Figures | None = None) -> None:
        self._settings = settings
        self._figures = figures
        self._upstream = upstream
        self._behind = Behind(upstream)
        self._table = Table(_servable())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        response = await self._answer(request)
        await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        binding, values = self._table.match(request.method, request.scope["raw_path"])
        name, start, status = f"{binding.http_method} {binding.template}", time.monotonic(), 0
        with traces.serving(name, request.headers):
            try:
                response = await self._traced(request, binding, values)
                status = response.status_code
                return response
            except (Refusal, AioRpcError) as error:
                status = refusal_of(error).http
                raise
            finally:
                if self._figures is not None:
                    # Of a stream, up to its first frame.
                    self._figures.call(name, str(status), time.monotonic() - start)

    async def _traced(self, request: Request, binding: Binding, values: dict[str, str]) -> Response:
        caller = credentials_of(request.headers, required=self._settings.access_on)
        if self._settings.access_on:
            await self._behind.check(binding.method.package)
        metadata = (("x-request-id", request.state.request_id), *caller, *traces.headers())
        if binding is IMPORT:
            body = await import_results(request, self._settings, self._upstream, metadata)
            return Response(body, media_type="application/json")
        message = await self._read(request, binding, values)
        if binding.method.streaming:
            return await self._stream(request, binding, message, metadata)
        answer = await self._upstream.unary(binding.method, message, metadata)
        return _json(getattr(answer, binding.response_field) if binding.response_field else answer)

    async def _read(self, request: Request, binding: Binding, values: dict[str, str]) -> Message:
        body = await read_body(
            request,
            limit=self._settings.gateway_max_body,
            timeout=self._settings.gateway_body_timeout,
        )
        message: Any = build_request(
            binding,
            values,
            body=body,
            query=request.scope["query_string"],
            idempotency_key=request.headers.get("idempotency-key"),
        )
        after = request.headers.get("last-event-id")
        if after and binding.method.streaming and "after" in message.DESCRIPTOR.fields_by_name:
            # Checked as it would be in the query, and instead of what is there.
            message.ClearField("after")
            message.MergeFrom(parse(binding.method.request, {"after": after}))
        return cast(Message, message)

    async def _stream(
        self, request: Request, binding: Binding, message: Message, metadata: Metadata
    ) -> Response:
        call = self._upstream.stream(binding.method, message, metadata)
        result = RESULTS.get(binding.method.path)
        try:
            first = await while_connected(request, _first(call))
            if binding.is_file:
                name = getattr(message, "session_id", "")
                return file_answer(first, call, str(binding.response_field), name=name)
            if result is None or "text/event-stream" in request.headers.get("accept", "").lower():
                field = str(binding.response_field)
                return event_stream(first, call, field, ping=self._settings.gateway_sse_ping)
            answer = await while_connected(request, result(message, first, call, self._upstream, metadata))
            return _json(answer)
        except BaseException:
            call.cancel()
            raise


async def _first(call: Any) -> Any:
    """The first answer; None when the service has accepted the call and has nothing to say yet."""
    if ACCEPTED in dict(await call.initial_metadata() or ()):
        return None
    return await call.read()


def _servable() -> list[Binding]:
    found = list(bindings())
    for one in found:
        if one in BY_HAND:
            continue
        streams_alone = one.http_method == "GET" and one.response_field is not None
        if one.method.streaming and not streams_alone and one.method.path not in RESULTS:
            raise ValueError(f"{one.method.path}: a stream needs GET and response_body, or a result")
    return found


def _json(message: Message) -> Response:
    return Response(to_json(message), media_type="application/json")
