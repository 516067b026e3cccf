"""`ImportSessions` over REST: the file is the body, and goes on to the service while it arrives."""

import asyncio
from typing import Any, cast

import grpc
from starlette.requests import Request
from stemma.conversation.v1 import session_service_pb2 as pb

from gateway.body import file_pieces
from gateway.connected import while_connected
from gateway.query import query_object, split_query
from gateway.render import to_text
from gateway.services import IMPORT
from gateway.settings import Settings
from gateway.transcode import merge, parse
from gateway.upstream import Metadata, Upstream

PIECE = 256 * 1024
# What grpc says of a call into whose end something was written; the service's own words are lost then.
_LOST = "Internal error from Core"
# Seconds that a service has to refuse what it refuses.
_REFUSES_WITHIN = 1.0
HEADER: Any = pb.ImportHeader.DESCRIPTOR


async def import_results(
    request: Request, settings: Settings, upstream: Upstream, metadata: Metadata
) -> bytes:
    """`{"results": […]}` in JSON, once every conversation has landed or was refused.

    Refuses for the request and the file as a whole; raises AioRpcError as the service fails, and
    ClientDisconnect. Whatever happens, the service's call has ended with this.
    """
    header = _header(request)
    try:
        return await _imported(request, header, settings, upstream, metadata)
    except grpc.aio.AioRpcError as error:
        if error.details() != _LOST:
            raise
        raise await _said_again(header, upstream, metadata) or error from None


async def _imported(
    request: Request, header: pb.ImportHeader, settings: Settings, upstream: Upstream, metadata: Metadata
) -> bytes:
    call = upstream.duplex(IMPORT.method, metadata)
    sending = asyncio.create_task(_send(call, header, request, settings))
    answering = asyncio.create_task(_results(call))
    try:
        await asyncio.wait({sending, answering}, return_when=asyncio.FIRST_COMPLETED)
        if not answering.done():
            await sending
        return await while_connected(request, answering)
    finally:
        for one in (sending, answering):
            one.cancel()
        call.cancel()
        await asyncio.gather(sending, answering, return_exceptions=True)


def _header(request: Request) -> pb.ImportHeader:
    """The query's parameters are the header's fields; `Idempotency-Key` may name the request."""
    pairs = split_query(request.scope["query_string"])
    header = cast(pb.ImportHeader, parse(pb.ImportHeader, query_object(HEADER, pairs)))
    key = request.headers.get("idempotency-key")
    if key is not None:
        merge(header, "request_id", key)
    return header


async def _send(call: Any, header: pb.ImportHeader, request: Request, settings: Settings) -> None:
    """Everything, to the end of the body; less when the service has ended the call, which `_results`
    then tells."""
    pieces = file_pieces(
        request, limit=settings.gateway_max_file, timeout=settings.gateway_body_timeout, size=PIECE
    )
    try:
        await call.write(pb.ImportSessionsRequest(header=header))
        async for piece in pieces:
            # A write to a call that has ended would put an error of its own in the place of the
            # service's answer.
            if call.done():
                return
            await call.write(pb.ImportSessionsRequest(chunk=piece))
        if not call.done():
            await call.done_writing()
    except (grpc.aio.AioRpcError, asyncio.InvalidStateError):
        return


async def _said_again(
    header: pb.ImportHeader, upstream: Upstream, metadata: Metadata
) -> BaseException | None:
    """How the service refuses the caller or the header, asked with nothing written that could meet the end of
    the call: first nothing at all, then the header. None when it refuses neither."""
    call = upstream.duplex(IMPORT.method, metadata)
    answering = asyncio.create_task(_results(call))
    try:
        if not await _ended(answering):
            await call.write(pb.ImportSessionsRequest(header=header))
            await _ended(answering)
        return answering.exception() if answering.done() else None
    finally:
        answering.cancel()
        call.cancel()
        await asyncio.gather(answering, return_exceptions=True)


async def _ended(answering: asyncio.Task[bytes]) -> bool:
    await asyncio.wait({answering}, timeout=_REFUSES_WITHIN)
    return answering.done()


async def _results(call: Any) -> bytes:
    # As text: a result's message is many times as large.
    texts: list[str] = []
    while (answer := await call.read()) is not grpc.aio.EOF:
        texts.append(to_text(answer.result))
    return f'{{"results":[{",".join(texts)}]}}'.encode()
