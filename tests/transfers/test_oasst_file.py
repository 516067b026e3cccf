"""All of a real file: what the model is sent at each leaf is what the file says there."""

from collections import Counter
from typing import Any

import httpx
from stemma.conversation.v1 import session_service_pb2 as pb
from stemma.kernel.v1 import message_pb2

from tests.support.client import text_of
from tests.transfers.files import Files, new_id, rest_of
from tests.transfers.oasst_file import FILE, Path, messages, paths, trees
from tests.transfers.shapes import Tree, tree_of

TREES = trees()
PATHS = [paths(tree) for tree in TREES]


def test_the_file_is_the_one_that_is_meant() -> None:
    said = [message for tree in TREES for message in messages(tree)]
    forks = sum(len(message["replies"]) > 1 for message in said)
    assert (len(TREES), len(said), sum(map(len, PATHS)), forks) == (100, 1167, 626, 260)


async def test_every_leaf_is_sent_as_the_file_says(files: Files) -> None:
    request_id = new_id()
    results = await files.imported("oasst", FILE.read_bytes(), request_id, file_name=FILE.name)
    assert [result.index for result in results] == list(range(100))
    assert not any(result.HasField("error") for result in results)
    assert sum(result.messages for result in results) == 1167
    ids = [result.session_id for result in results]
    assert len(set(ids)) == 100
    for result, expected in zip(results, PATHS, strict=True):
        await assert_is(files, result, expected)
    await files.assert_sound(ids)
    assert {session.session_id for session in await files.sessions()} == set(ids)
    # A repeat makes nothing, and says the same.
    assert await files.imported("oasst", FILE.read_bytes(), request_id) == results
    assert len(await files.sessions()) == 100


async def assert_is(files: Files, result: pb.ImportResult, expected: list[Path]) -> None:
    """The session of one tree: its leaves, and where its pages came from (bad input 46)."""
    tree = await tree_of(files.client, result.session_id)
    assert result.floors == len(tree.floors) - 1
    found = []
    for floor_id in tree.leaves():
        asked = {"session_id": result.session_id, "floor_id": floor_id}
        sent = (await files.client.call("AssembleContext", **asked)).messages
        found.append(tuple((message_pb2.Role.Name(one.role), text_of(one)) for one in sent))
        assert {one.metadata["stemma.provenance"] for one in sent} == {"untrusted_import"}
    assert Counter(found) == Counter(expected)
    # Siblings keep their ranks, and a file that marks no message as current ends at its last leaf.
    assert found == expected
    [main] = (await files.client.call("ListBranches", session_id=result.session_id)).branches
    assert (main.name, main.head_floor_id) == ("main", tree.leaves()[-1])
    assert {page.source for page in pages(tree)} == {"import:oasst"}


def pages(tree: Tree) -> list[message_pb2.Page]:
    sides = [page for floor in tree.floors.values() for page in (floor.input_page, floor.output_page)]
    return [page for page in sides if page.page_id]


async def test_over_rest_it_is_the_same(files: Files) -> None:
    data = FILE.read_bytes()
    query = {"format": "oasst", "fileName": FILE.name, "requestId": new_id()}
    async with rest_of(files) as http:
        answer = await http.post("/v1/sessions:import", params=query, content=data)
        assert answer.status_code == 200
        results = answer.json()["results"]
        assert [one["messages"] for one in results] == [len(list(messages(tree))) for tree in TREES]
        for result, expected in zip(results, PATHS, strict=True):
            assert await context(http, result["sessionId"]) == expected[-1]
        # Of the tree with the most leaves, each.
        session_id, expected = max(
            ((one["sessionId"], paths) for one, paths in zip(results, PATHS, strict=True)),
            key=lambda pair: len(pair[1]),
        )
        leaves = (await tree_of(files.client, session_id)).leaves()
        assert [await context(http, session_id, floorId=leaf) for leaf in leaves] == expected
        again = await http.post("/v1/sessions:import", params=query, content=data)
        assert again.content == answer.content


async def context(http: httpx.AsyncClient, session_id: str, **where: str) -> Path:
    answer = await http.post(f"/v1/sessions/{session_id}:assembleContext", json=where)
    return tuple(said(message) for message in answer.json()["messages"])


def said(message: dict[str, Any]) -> tuple[str, str]:
    return message["role"], "".join(part["text"]["text"] for part in message["parts"])
