"""SessionService, files in and out."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Iterator
from typing import IO

from google.api import httpbody_pb2
from stemma.conversation.v1 import session_service_pb2 as pb

from conversation_service.app.exports import export_session
from conversation_service.app.imports import Import, Landed, import_file
from conversation_service.app.sessions import DEFAULT_PROJECT
from conversation_service.rpc.common import caller_of
from kernel.errors import DeadlineExceeded, Exhausted, invalid
from kernel.rpc.call import Call
from kernel.rpc.checks import request_id, text_field, uuid_field
from kernel.verbs.env import Env, Write
from kernel.verbs.records import Request

MAX_FILE_BYTES = 1024**3
# What is below this on average is no upload but a flood.
_MAX_CHUNKS = 200_000
_IN_MEMORY = 8 * 1024 * 1024
_PIECE = 256 * 1024
# How long a client may be silent while it uploads, in seconds.
_SILENCE = 120.0


class Transfers:
    def __init__(self, env: Env) -> None:
        self._env = env

    async def import_sessions(
        self, requests: AsyncIterator[pb.ImportSessionsRequest], call: Call
    ) -> AsyncIterator[pb.ImportSessionsResponse]:
        messages = aiter(requests)
        first = await _next(messages)
        if first is None or first.WhichOneof("part") != "header":
            raise invalid("header", "must come first")
        write, ask = _header(first.header, call)
        with tempfile.SpooledTemporaryFile(_IN_MEMORY) as file:
            await _receive(messages, file)
            file.seek(0)
            async for landed in import_file(self._env, write, ask, _pieces(file)):
                yield pb.ImportSessionsResponse(result=_result(landed))

    async def export_session(
        self, request: pb.ExportSessionRequest, call: Call
    ) -> AsyncIterator[pb.ExportSessionResponse]:
        session_id = uuid_field(request.session_id, "session_id")
        format = text_field(request.format, "format", maximum=32) or "stemma"
        exported = await export_session(self._env, caller_of(call), session_id, format)
        for piece in exported.pieces:
            body = httpbody_pb2.HttpBody(content_type=exported.media_type, data=piece)
            yield pb.ExportSessionResponse(file=body)


def _header(header: pb.ImportHeader, call: Call) -> tuple[Write, Import]:
    caller = caller_of(call)
    given = request_id(header.request_id, "header.request_id")
    ask = Import(
        text_field(header.format, "header.format", maximum=32, required=True),
        text_field(header.file_name, "header.file_name", maximum=500),
        uuid_field(header.project_id, "header.project_id", required=False, also={DEFAULT_PROJECT}),
    )
    # The conversations' own requests have fingerprints; this one is only where their ids come from.
    return Write(caller, Request(caller.principal, call.method, given, b"")), ask


async def _next(
    messages: AsyncIterator[pb.ImportSessionsRequest],
) -> pb.ImportSessionsRequest | None:
    try:
        async with asyncio.timeout(_SILENCE):
            return await anext(messages, None)
    except TimeoutError:
        raise DeadlineExceeded(
            "DEADLINE_EXCEEDED", f"Nothing came for {_SILENCE:.0f} s. Import again with the same request_id."
        ) from None


async def _receive(messages: AsyncIterator[pb.ImportSessionsRequest], file: IO[bytes]) -> None:
    """Spools the upload: parsing it needs the whole file where it is a zip, and costs time."""
    size = chunks = 0
    while (message := await _next(messages)) is not None:
        if message.WhichOneof("part") != "chunk":
            raise invalid("chunk", "only the first message is a header; all others are chunks")
        size += len(message.chunk)
        chunks += 1
        if size > MAX_FILE_BYTES or chunks > _MAX_CHUNKS:
            raise Exhausted("LIMIT", "A file has at most 1 GiB, in at most 200,000 chunks.")
        file.write(message.chunk)


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    while piece := file.read(_PIECE):
        yield piece


def _result(landed: Landed) -> pb.ImportResult:
    result = pb.ImportResult(
        index=landed.index,
        title=landed.title,
        session_id=landed.session_id,
        floors=landed.floors,
        messages=landed.messages,
        warnings=landed.warnings,
    )
    if landed.reason:
        result.error.reason, result.error.message = landed.reason, landed.message
    if landed.tokens is not None:
        tokens = landed.tokens
        result.log_tokens.CopyFrom(
            pb.LogTokens(
                calls=tokens.calls,
                log_sent=tokens.log_sent,
                tree_sent=tokens.tree_sent,
                log_next=tokens.log_next,
                tree_next=tokens.tree_next,
            )
        )
    return result
