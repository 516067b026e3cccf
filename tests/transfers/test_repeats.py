"""A repeat of an import makes what is missing, and nothing twice (R1)."""

import asyncio
import json
import threading

import grpc
import pytest

from conversation_service.app.projects import project_id_of
from conversation_service.main import new_uuid7
from tests.projects.stage import TENANT
from tests.support.client import user
from tests.transfers.files import Files, new_id, serving, upload

TREES = 8


def tree(name: str) -> bytes:
    reply = {"message_id": "2", "parent_id": "1", "role": "assistant", "text": f"re: {name}", "replies": []}
    prompt = {"message_id": "1", "role": "prompter", "text": name, "replies": [reply]}
    return json.dumps({"message_tree_id": name, "prompt": prompt}).encode() + b"\n"


FILE = b"".join(tree(f"tree {n}") for n in range(TREES))


class HeldIds:
    """Ids; once `hold` is set, the next one waits until it is let go (in a thread: conversations are
    shaped there)."""

    def __init__(self) -> None:
        self.hold = threading.Event()
        self.waiting = threading.Event()
        self.go_on = threading.Event()

    def __call__(self) -> str:
        if self.hold.is_set():
            self.waiting.set()
            self.go_on.wait(20)
        return new_uuid7()


async def session_events(files: Files) -> list[str]:
    async with files.service.service.env.store.reading(TENANT) as tx:
        placed = await tx.events(project_id_of(TENANT, "default"), 0, 1000)
    assert [one.position for one in placed] == list(range(1, len(placed) + 1))
    return sorted(one.event.session_id for one in placed if one.event.type == "session.created")


async def test_an_interrupted_import_resumes(migrated_url: str) -> None:
    request_id, ids = new_id(), HeldIds()
    async with serving(migrated_url, new_id=ids) as files:
        call = files.open(upload(FILE, "oasst", request_id))
        answers = aiter(call)
        before = [(await anext(answers)).result for _ in range(2)]
        ids.hold.set()
        await asyncio.to_thread(ids.waiting.wait, 20)
        call.cancel()
        assert await call.code() is grpc.StatusCode.CANCELLED
        ids.hold.clear()
        ids.go_on.set()
    async with serving(migrated_url) as files:
        landed = {one.session_id for one in await files.sessions()}
        assert {one.session_id for one in before} <= landed
        assert len(landed) < TREES
        results = await files.imported("oasst", FILE, request_id)
        assert results[:2] == before
        assert [result.index for result in results] == list(range(TREES))
        sessions = {one.session_id for one in await files.sessions()}
        assert sessions == {result.session_id for result in results}
        assert len(sessions) == TREES
        assert landed < sessions
        assert await session_events(files) == sorted(sessions)
        await files.assert_sound(sessions)


async def test_two_at_once_are_one(files: Files) -> None:
    request_id = new_id()
    left, right = await asyncio.gather(
        *(files.imported("oasst", FILE, request_id, file_name=name) for name in ("a", "b"))
    )
    assert left == right
    assert len(await files.sessions()) == TREES


async def test_another_file_under_the_same_id(files: Files) -> None:
    """Bad input 22, for each conversation alone."""
    request_id = new_id()
    first = await files.imported("oasst", tree("one") + tree("two"), request_id)
    again = await files.imported("oasst", tree("one") + tree("another") + tree("three"), request_id)
    assert again[0] == first[0]
    assert (again[1].error.reason, again[1].session_id, again[1].floors) == ("REQUEST_ID_REUSED", "", 0)
    assert again[2].session_id
    assert len(await files.sessions()) == 3
    # The same file for another project is another request.
    project_id = (await files.client.call("CreateProject", title="p")).project.project_id
    (moved,) = await files.imported("oasst", tree("one"), request_id, project_id=project_id)
    assert moved.error.reason == "REQUEST_ID_REUSED"
    assert len(await files.sessions()) == 3


async def test_a_deleted_session_does_not_come_back(files: Files) -> None:
    request_id = new_id()
    first = await files.imported("oasst", tree("one") + tree("two"), request_id)
    await files.client.call("DeleteSession", session_id=first[0].session_id)
    again = await files.imported("oasst", tree("one") + tree("two"), request_id)
    assert (again[0].error.reason, again[0].session_id, again[0].messages) == ("NOT_FOUND", "", 0)
    assert again[1] == first[1]
    assert [one.session_id for one in await files.sessions()] == [first[1].session_id]


async def test_a_repeat_leaves_what_was_done_since(files: Files) -> None:
    request_id = new_id()
    (first,) = await files.imported("oasst", tree("one"), request_id)
    await files.client.call("AppendFloor", session_id=first.session_id, input=[user("more")])
    path = await files.client.path_ids(first.session_id)
    await files.client.call("ArchiveSession", session_id=first.session_id)
    assert await files.imported("oasst", tree("one"), request_id) == [first]
    assert await files.client.path_ids(first.session_id) == path


async def test_the_same_conversations_under_another_id_are_others(files: Files) -> None:
    first = await files.imported("oasst", FILE)
    second = await files.imported("oasst", FILE)
    assert not {one.session_id for one in first} & {one.session_id for one in second}
    with pytest.raises(grpc.aio.AioRpcError):
        await files.imported("oasst", FILE, "no-uuid")
