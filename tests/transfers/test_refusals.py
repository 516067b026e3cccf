"""What an import refuses as a whole, and what it reports of one conversation."""

import asyncio
import gzip
import io
import json
import random
import uuid
import zipfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import grpc
import pytest
from sqlalchemy import text
from stemma.conversation.v1 import session_service_pb2 as pb
from stemma.conversation.v1 import session_service_pb2_grpc

from conversation_service.app import imports
from conversation_service.rpc.sessions import Sessions
from conversation_service.rpc.transfers import Transfers, UploadLimits
from kernel.rpc.server import serve
from kernel.rpc.tokens import PageTokens
from kernel.storage.engine import Engines
from tests.support.client import Refusal, refusal_of
from tests.transfers.files import Files, chunk, header, new_id, rest_of, upload
from tests.transfers.test_repeats import tree

INVALID = ("INVALID_ARGUMENT", "INVALID")
SERVICE = pb.DESCRIPTOR.services_by_name["SessionService"]


async def refusal(files: Files, messages: AsyncIterator[pb.ImportSessionsRequest]) -> tuple[str, str]:
    """Code and reason of a call that fails as a whole; nothing was made."""
    before = len(await files.sessions())
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await files.results(messages)
    assert len(await files.sessions()) == before
    told: Refusal = refusal_of(caught.value)
    return told.code, told.reason


async def stream(*messages: pb.ImportSessionsRequest) -> AsyncIterator[pb.ImportSessionsRequest]:
    for one in messages:
        yield one


@asynccontextmanager
async def limited(files: Files, **limits: Any) -> AsyncIterator[Files]:
    """The same service behind other limits."""
    env, providers = files.service.service.env, files.service.service.generation.providers

    class Servicer(Sessions, Transfers):
        def __init__(self) -> None:
            Sessions.__init__(self, env, providers, PageTokens([bytes(32)]))
            Transfers.__init__(self, env, UploadLimits(**limits))

    server = await serve({SERVICE: Servicer()}, "127.0.0.1:0")
    try:
        async with grpc.aio.insecure_channel(server.address) as channel:
            yield Files(files.service, files.client, session_service_pb2_grpc.SessionServiceStub(channel))
    finally:
        await server.stop()


BAD_MESSAGES: list[list[pb.ImportSessionsRequest]] = [
    [],
    [chunk(b"x")],
    [pb.ImportSessionsRequest()],
    [header("oasst"), header("oasst")],
    [header("oasst"), chunk(tree("one")), header("oasst")],
    [header("oasst"), pb.ImportSessionsRequest()],
    [header("")],
    [header("OASST")],
    [header("oasst", "0" * 8)],
    [header("oasst", "00000000-0000-0000-0000-000000000000")],
    [header("oasst", project_id="x")],
    [header("oasst", file_name="x" * 501)],
    [header("oasst", file_name="\0")],
]


async def test_bad_input_51_messages(files: Files) -> None:
    for messages in BAD_MESSAGES:
        assert await refusal(files, stream(*messages)) == INVALID, messages


async def test_bad_input_51_limits(files: Files) -> None:
    async with limited(files, bytes=1000, chunks=50, silence=30) as small:
        ends_well = [chunk(b" " * 999), chunk(b"x")]
        assert len(await small.results(stream(header("log-jsonl"), *ends_well))) == 1
        too_large = [chunk(b" " * 999), chunk(b"xx")]
        for messages in (too_large, [chunk(b"x")] * 51, [chunk(b"")] * 51):
            told = await refusal(small, stream(header("log-jsonl"), *messages))
            assert told == ("RESOURCE_EXHAUSTED", "LIMIT")


async def test_bad_input_51_a_silent_client(files: Files) -> None:
    ended = asyncio.Event()

    async def silent(*messages: pb.ImportSessionsRequest) -> AsyncIterator[pb.ImportSessionsRequest]:
        for one in messages:
            yield one
        await ended.wait()

    async with limited(files, silence=0.2) as impatient:
        for messages in ([], [header("oasst")], [header("oasst"), chunk(tree("one"))]):
            told = await refusal(impatient, silent(*messages))
            assert told == ("DEADLINE_EXCEEDED", "DEADLINE_EXCEEDED")
        ended.set()


async def test_projects(files: Files) -> None:
    call = files.client.call
    project_id = (await call("CreateProject", title="p")).project.project_id
    await call("ArchiveProject", project_id=project_id)
    # Refused before a byte of the file has come.
    for given, told in (
        (project_id, ("FAILED_PRECONDITION", "ARCHIVED")),
        (new_id(), ("NOT_FOUND", "NOT_FOUND")),
    ):
        assert await refusal(files, stream(header("oasst", project_id=given))) == told
        assert await refusal(files, upload(tree("one"), "oasst", project_id=given)) == told
    await call("RestoreProject", project_id=project_id)
    session_id = await files.one("oasst", tree("one"), project_id=project_id)
    assert (await call("GetSession", session_id=session_id)).session.project_id == project_id
    await files.one("oasst", tree("two"), project_id="default")
    default = (await call("GetProject", project_id="default")).project
    assert {one.project_id for one in await files.sessions()} == {project_id, default.project_id}
    await call("ArchiveProject", project_id="default")
    told = await refusal(files, upload(tree("one"), "oasst"))
    assert told == ("FAILED_PRECONDITION", "ARCHIVED")


async def test_a_bad_conversation_does_not_stop_the_others(files: Files) -> None:
    """Bad inputs 26, 27, 29, 30 and 32 among good ones, in a plain file, gzip and zip."""
    loop = json.loads(tree("loop"))
    loop["prompt"]["replies"][0]["message_id"] = "1"
    deep = b'{"prompt":' + b"[" * 100_000 + b"\n"
    bad = [
        json.dumps(loop).encode() + b"\n",
        deep,
        b'{"prompt":{"text":"a","text":"b"}}\n',
        tree("nul\0"),
        tree("half").replace(b"half", b"\\ud800"),
        b"\xff\xfe{}\n",
        b"no json\n",
        b"[]\n",
    ]
    data = b"".join(tree(f"good {n}") + one for n, one in enumerate(bad)) + tree("last")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("trees.jsonl", data)
    told = set()
    for one in (data, gzip.compress(data), packed.getvalue()):
        results = await files.imported("oasst", one)
        assert [result.index for result in results] == list(range(2 * len(bad) + 1))
        assert [bool(result.session_id) for result in results] == [True, False] * len(bad) + [True]
        for result in results[1::2]:
            assert result.error.reason == "INVALID"
            assert result.error.message
            assert not result.floors
            assert not result.messages
        told.add(tuple(result.error.message for result in results))
    assert len(told) == 1
    assert len(await files.sessions()) == 3 * (len(bad) + 1)
    async with rest_of(files) as http:
        answer = await http.post(f"/v1/sessions:import?format=oasst&requestId={new_id()}", content=data)
    assert answer.status_code == 200
    assert ["error" in one for one in answer.json()["results"]] == [False, True] * len(bad) + [False]


NO_FILES = [
    b"",
    b"\n\n",
    gzip.compress(b""),
    gzip.compress(b"x")[:-9],
    b"PK\x03\x04 no zip",
    b"PK\x05\x06",
]


async def test_a_file_that_is_none(files: Files) -> None:
    async with rest_of(files) as http:
        for data in NO_FILES:
            assert await refusal(files, upload(data, "oasst")) == INVALID, data
            path = f"/v1/sessions:import?format=oasst&requestId={new_id()}"
            answer = await http.post(path, content=data)
            assert (answer.status_code, answer.json()["code"]) == (400, 3), data


async def test_what_landed_before_the_file_broke_stays(files: Files) -> None:
    """And a repeat with the whole file goes on from there."""
    # Hardly packed, so that a part of the packed file is that part of it.
    data = b"".join(tree(f"tree {n} {random.Random(n).randbytes(10_000).hex()}") for n in range(40))
    packed = gzip.compress(data)
    request_id = new_id()
    landed: list[pb.ImportResult] = []

    async def cut_off() -> None:
        async for answer in files.open(upload(packed[: len(packed) // 2], "oasst", request_id)):
            landed.append(answer.result)

    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await cut_off()
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert 0 < len(landed) < 40
    assert {one.session_id for one in await files.sessions()} == {one.session_id for one in landed}
    results = await files.imported("oasst", packed, request_id)
    assert results[: len(landed)] == landed
    assert len(await files.sessions()) == len(results) == 40


async def test_exports_refuse(files: Files) -> None:
    session_id = await files.one("oasst", tree("one"))

    async def told(session_id: str, format: str) -> tuple[str, str]:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await files.exported(session_id, format)
        told = refusal_of(caught.value)
        return told.code, told.reason

    assert await told("x", "stemma") == INVALID
    assert await told(session_id, "pdf") == INVALID
    assert await told(new_id(), "stemma") == ("NOT_FOUND", "NOT_FOUND")
    await files.client.call("ArchiveSession", session_id=session_id)
    # Reads go on.
    whole = await files.exported(session_id, "")
    assert whole == await files.exported(session_id, "stemma")
    await files.client.call("DeleteSession", session_id=session_id)
    assert await told(session_id, "stemma") == ("NOT_FOUND", "NOT_FOUND")
    async with rest_of(files) as http:
        answer = await http.get(f"/v1/sessions/{session_id}/export")
        assert (answer.status_code, answer.json()["code"]) == (404, 5)
        assert "content-disposition" not in answer.headers


async def test_bad_input_56_what_fails_its_digest_is_not_exported(files: Files, migrated_url: str) -> None:
    broken, sound = [await files.one("oasst", tree(name)) for name in ("one", "two")]
    engines = Engines(migrated_url)
    try:
        async with engines.writing() as connection:
            key = broken if connection.dialect.name == "postgresql" else uuid.UUID(broken).bytes
            statement = "UPDATE floor SET output_blob = input_blob WHERE session_id = :s AND depth = 1"
            assert (await connection.execute(text(statement), {"s": key})).rowcount == 1
    finally:
        await engines.close()
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await files.exported(broken)
    told = refusal_of(caught.value)
    assert (told.code, told.reason) == ("DATA_LOSS", "DIGEST_MISMATCH")
    assert await files.exported(sound)


async def test_a_file_of_too_many_conversations(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imports, "MAX_CONVERSATIONS", 3)
    assert len(await files.imported("oasst", b"".join(tree(f"{n}") for n in range(3)))) == 3
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await files.imported("oasst", b"".join(tree(f"{n}") for n in range(4)))
    told = refusal_of(caught.value)
    assert (told.code, told.reason) == ("RESOURCE_EXHAUSTED", "LIMIT")
