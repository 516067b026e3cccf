"""Requests as the load generator wants them, and the sessions that they go to."""

import base64
import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import grpc
from google.protobuf.message import Message
from stemma.conversation.v1 import (
    context_service_pb2,
    floor_service_pb2,
    floor_service_pb2_grpc,
    run_service_pb2,
    session_service_pb2,
    session_service_pb2_grpc,
    staged_write_service_pb2,
)
from stemma.kernel.v1 import message_pb2, staged_write_pb2

from tools.bench.access import interceptors
from tools.bench.words import turns

PACKAGE = "stemma.conversation.v1"
APPEND = f"/{PACKAGE}.FloorService/AppendFloor"
EDIT = f"/{PACKAGE}.FloorService/EditFloor"
CREATE = f"/{PACKAGE}.SessionService/CreateSession"
RESPOND = f"/{PACKAGE}.RunService/Respond"
STAGE = f"/{PACKAGE}.StagedWriteService/StageWrite"
PATH = f"/{PACKAGE}.FloorService/ListPath"
CONTEXT = f"/{PACKAGE}.ContextService/AssembleContext"
_OPTIONS = [("grpc.max_receive_message_length", 16 * 1024 * 1024), ("grpc.enable_http_proxy", 0)]
_CHUNK = 1024 * 1024
# Seconds for what is not measured.
_PATIENCE = 300.0


def body(request: Message) -> str:
    """Base64 of the request, deterministic."""
    return base64.b64encode(request.SerializeToString()).decode()


def _say(role: "message_pb2.Role", text: str) -> message_pb2.Message:
    return message_pb2.Message(role=role, parts=[{"text": {"text": text}}])


def append(session_id: str, turn: tuple[str, str]) -> str:
    """AppendFloor, and AppendFloors: they have the same fields."""
    return body(floor_service_pb2.AppendFloorRequest(session_id=session_id, **_pages(turn)))


def edit(session_id: str, floor_id: str, turn: tuple[str, str]) -> str:
    request = floor_service_pb2.EditFloorRequest(session_id=session_id, floor_id=floor_id, **_pages(turn))
    return body(request)


def _pages(turn: tuple[str, str]) -> dict[str, Any]:
    return {
        "input": [_say(message_pb2.ROLE_USER, turn[0])],
        "output": [_say(message_pb2.ROLE_ASSISTANT, turn[1])],
    }


def respond(session_id: str, text: str) -> str:
    said = run_service_pb2.RespondInput(messages=[_say(message_pb2.ROLE_USER, text)])
    return body(run_service_pb2.RespondRequest(session_id=session_id, input=said))


def create() -> str:
    return body(session_service_pb2.CreateSessionRequest())


def stage(session_id: str, turn: tuple[str, str]) -> str:
    target = staged_write_pb2.StagedTarget(
        session_id=session_id, placement=staged_write_pb2.PLACEMENT_NEXT_FLOOR
    )
    page = staged_write_pb2.OutputPage(**_pages(turn))
    return body(
        staged_write_service_pb2.StageWriteRequest(
            target=target, parts=[staged_write_pb2.StagedPart(output_page=page)]
        )
    )


def path(session_id: str, floor_id: str = "") -> str:
    request = floor_service_pb2.ListPathRequest(session_id=session_id, floor_id=floor_id, page_size=1_000)
    return body(request)


def context(session_id: str, floor_id: str = "") -> str:
    return body(context_service_pb2.AssembleContextRequest(session_id=session_id, floor_id=floor_id))


class Sessions:
    """Makes sessions on a service, and asks it what is not measured."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._sessions: Any = session_service_pb2_grpc.SessionServiceStub(channel)  # type: ignore[no-untyped-call]
        self._floors: Any = floor_service_pb2_grpc.FloorServiceStub(channel)  # type: ignore[no-untyped-call]

    async def new(self, count: int) -> list[str]:
        requests = (session_service_pb2.CreateSessionRequest(request_id=str(uuid4())) for _ in range(count))
        answers = [await self._sessions.CreateSession(request) for request in requests]
        return [str(answer.session.session_id) for answer in answers]

    async def imported(self, lines: Sequence[dict[str, str]]) -> str:
        """The session that a log of these lines makes, written in one transaction."""
        content = "\n".join(map(json.dumps, lines)).encode()

        def requests() -> Iterator[session_service_pb2.ImportSessionsRequest]:
            header = session_service_pb2.ImportHeader(
                request_id=str(uuid4()), format="log-jsonl", file_name="bench"
            )
            yield session_service_pb2.ImportSessionsRequest(header=header)
            for at in range(0, len(content), _CHUNK):
                yield session_service_pb2.ImportSessionsRequest(chunk=content[at : at + _CHUNK])

        answers = [answer async for answer in self._sessions.ImportSessions(requests(), timeout=_PATIENCE)]
        (result,) = (answer.result for answer in answers)
        if not result.session_id:
            raise AssertionError(f"an import failed: {result}")
        return str(result.session_id)

    async def append(self, session_id: str, turn: tuple[str, str]) -> str:
        """Appends a turn; its floor's id."""
        request = floor_service_pb2.AppendFloorRequest(
            request_id=str(uuid4()), session_id=session_id, **_pages(turn)
        )
        return str((await self._floors.AppendFloor(request)).floor.floor_id)

    async def edit(self, session_id: str, floor_id: str, turn: tuple[str, str]) -> None:
        """Leaves a floor, and all below it, for another version of it."""
        request = floor_service_pb2.EditFloorRequest(
            request_id=str(uuid4()), session_id=session_id, floor_id=floor_id, **_pages(turn)
        )
        await self._floors.EditFloor(request)

    async def copy(self, session_id: str, floor_id: str) -> str:
        """A session of its own with the path to a floor: nobody has read it yet."""
        request = session_service_pb2.ForkSessionRequest(
            request_id=str(uuid4()), session_id=session_id, floor_id=floor_id
        )
        answer = await self._sessions.ForkSession(request, timeout=_PATIENCE)
        return str(answer.session.session_id)

    async def messages(self, session_id: str) -> list[message_pb2.Message]:
        """All of main's path."""
        found: list[message_pb2.Message] = []
        async for answer in self._path(session_id):
            for floor in answer.floors:
                found += floor.input_page.messages
                found += floor.output_page.messages
        return found

    async def head(self, session_id: str) -> str:
        request = floor_service_pb2.ListPathRequest(session_id=session_id, page_size=1)
        return str((await self._floors.ListPath(request, timeout=_PATIENCE)).head_floor_id)

    async def floor_ids(self, session_id: str) -> list[str]:
        """The whole path of main, oldest first."""
        return [floor.floor_id async for answer in self._path(session_id) for floor in answer.floors]

    async def _path(self, session_id: str) -> AsyncIterator[floor_service_pb2.ListPathResponse]:
        """Page after page."""
        token = ""
        while True:
            request = floor_service_pb2.ListPathRequest(
                session_id=session_id, page_size=1_000, page_token=token
            )
            answer = await self._floors.ListPath(request, timeout=_PATIENCE)
            yield answer
            token = answer.next_page_token
            if not token:
                return


@asynccontextmanager
async def sessions(address: str) -> AsyncIterator[Sessions]:
    """Sessions of the service at `address`."""
    async with grpc.aio.insecure_channel(address, options=_OPTIONS, interceptors=interceptors()) as channel:
        yield Sessions(channel)


def line_log(length: int, seed: int) -> list[dict[str, str]]:
    """A log of `length` turns."""
    return list(_log(length, seed, lambda _: 0))


def bush_log(length: int, forks: int, seed: int) -> list[dict[str, str]]:
    """The same with `forks` abandoned turns, spread evenly: each an answered user message that was edited."""
    return list(_log(length, seed, lambda turn: (turn + 1) * forks // length - turn * forks // length))


def _log(length: int, seed: int, abandoned: Callable[[int], int]) -> Iterator[dict[str, str]]:
    texts = turns(seed)
    parent = ""
    for turn in range(length):
        for version in range(abandoned(turn) + 1):
            asked, said = next(texts)
            ids = f"{turn}.{version}.u", f"{turn}.{version}.a"
            yield {"id": ids[0], "role": "user", "content": asked, "parent": parent}
            yield {"id": ids[1], "role": "assistant", "content": said}
        parent = ids[1]
