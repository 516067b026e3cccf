"""SessionService, files in and out."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import IO

from google.api import httpbody_pb2
from stemma.conversation.v1 import session_service_pb2 as pb

from conversation_service.app.exports import export_session
from conversation_service.app.imports import FORMATS, Import, Landed, begin_import
from conversation_service.app.sessions import DEFAULT_PROJECT
from kernel.errors import DeadlineExceeded, Exhausted, invalid
from kernel.prompt.config import Config, without_endpoints
from kernel.prompt.config_text import config_from_text
from kernel.rpc.call import Call
from kernel.rpc.checks import request_id, text_field, uuid_field
from kernel.verbs.env import Env, Write
from kernel.verbs.records import Request
from kernel.wire.config import config, config_pb
from kernel.wire.requests import caller_of

_IN_MEMORY = 8 * 1024 * 1024
_PIECE = 256 * 1024


@dataclass(frozen=True, slots=True)
class UploadLimits:
    """What an upload may be. A file in more `chunks` than that is no upload but a flood; `silence`: how
    many seconds its client may send nothing."""

    bytes: int = 1024**3
    chunks: int = 200_000
    silence: float = 120.0


class Transfers:
    def __init__(self, env: Env, limits: UploadLimits | None = None) -> None:
        self._env = env
        self._limits = limits or UploadLimits()

    async def import_sessions(
        self, requests: AsyncIterator[pb.ImportSessionsRequest], call: Call
    ) -> AsyncIterator[pb.ImportSessionsResponse]:
        messages = aiter(requests)
        first = await self._next(messages)
        if first is None or first.WhichOneof("part") != "header":
            raise invalid("header", "must come first")
        await call.permit(first)
        write, ask = _header(first.header, call)
        importing = await begin_import(self._env, write, ask, _config_of)
        with tempfile.SpooledTemporaryFile(_IN_MEMORY) as file:
            await self._receive(messages, file)
            file.seek(0)
            async for landed in importing.landed(_pieces(file)):
                yield pb.ImportSessionsResponse(result=_result(landed))

    async def export_session(
        self, request: pb.ExportSessionRequest, call: Call
    ) -> AsyncIterator[pb.ExportSessionResponse]:
        session_id = uuid_field(request.session_id, "session_id")
        format = text_field(request.format, "format", maximum=32) or "stemma"
        exported = await export_session(self._env, caller_of(call), session_id, format)
        # Writing JSON is work: other calls go on meanwhile.
        while (piece := await asyncio.to_thread(next, exported.pieces, None)) is not None:
            body = httpbody_pb2.HttpBody(content_type=exported.media_type, data=piece)
            yield pb.ExportSessionResponse(file=body)

    async def _next(
        self, messages: AsyncIterator[pb.ImportSessionsRequest]
    ) -> pb.ImportSessionsRequest | None:
        try:
            async with asyncio.timeout(self._limits.silence):
                return await anext(messages, None)
        except TimeoutError:
            text = f"Nothing came for {self._limits.silence:g} s. Import again with the same request_id."
            raise DeadlineExceeded("DEADLINE_EXCEEDED", text) from None

    async def _receive(self, messages: AsyncIterator[pb.ImportSessionsRequest], file: IO[bytes]) -> None:
        """Spools the upload: parsing it needs the whole file where it is a zip, and costs time."""
        size = chunks = 0
        limits = self._limits
        while (message := await self._next(messages)) is not None:
            if message.WhichOneof("part") != "chunk":
                raise invalid("chunk", "only the first message is a header; all others are chunks")
            size += len(message.chunk)
            chunks += 1
            if size > limits.bytes or chunks > limits.chunks:
                text = f"A file has at most {limits.bytes:,} bytes, in at most {limits.chunks:,} chunks."
                raise Exhausted("LIMIT", text)
            file.write(message.chunk)


def _header(header: pb.ImportHeader, call: Call) -> tuple[Write, Import]:
    caller = caller_of(call)
    given = request_id(header.request_id, "header.request_id")
    if header.format not in FORMATS:
        raise invalid("header.format", f"must be one of {', '.join(FORMATS)}")
    ask = Import(
        header.format,
        text_field(header.file_name, "header.file_name", maximum=500),
        uuid_field(header.project_id, "header.project_id", required=False, also={DEFAULT_PROJECT}),
    )
    # The conversations' own requests have fingerprints; this one is only where their ids come from.
    return Write(caller, Request(caller.principal, call.method, given, b"")), ask


def _config_of(text: str) -> Config:
    """From a file, so anything at all: shaped as ours is, then checked as a client's, and with no endpoint
    but the server's."""
    try:
        given = config_pb(config_from_text(text))
    except (TypeError, ValueError, AttributeError):
        raise invalid("config", "is no configuration") from None
    return without_endpoints(config(given, "config"))


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
