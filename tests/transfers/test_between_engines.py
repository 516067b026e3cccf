"""What was exported from one engine is the same session on the other."""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
import pytest_asyncio
from google.protobuf import field_mask_pb2

from tests.conftest import DatabaseFactory
from tests.support.client import assistant, user
from tests.transfers.files import Files, rest_of, serving
from tests.transfers.oasst_file import trees
from tests.transfers.shapes import leaf_paths, shape, tree_of

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(loop_scope="session")
async def files(shared_files: Files) -> Files:
    return shared_files


CONFIG = {
    "system_prompt": "Be short.",
    "model": {"temperature": 0.5, "stop": ["\u2028"], "seed": 2**53 + 1, "extra_json": '{"a":1.50}'},
    "greetings": ["hello"],
    "variables_json": '{"n":9007199254740993}',
}
SESSION = {"title": "T \u00e4", "config": CONFIG}


@pytest.fixture
def other_url(shared_url: str, database_factory: DatabaseFactory) -> Iterator[str]:
    """A database on the other engine."""
    with database_factory("postgres" if shared_url.startswith("sqlite") else "sqlite") as url:
        yield url


async def everything(files: Files, **session: Any) -> str:
    """A session with all that a session's tree can have."""
    call = files.client.call
    session_id = str((await call("CreateSession", **session)).session.session_id)
    usage = {"tokens_in": 7, "tokens_out": 2**40}
    turns = []
    for n in range(4):
        metadata = {"k": f"{n}", "source": "mine"}
        said = [user(f"q{n}", metadata=metadata, name="ann"), user("and", hidden=True)]
        turns.append((await append(files, session_id, said, [assistant(f"a{n}")], usage=usage)).floor_id)
    # An edit, two regenerations that share its input page, and a floor with each side alone.
    edited = await call("EditFloor", floor_id=turns[1], input=[user("edited")], output=[assistant("b")])
    for n in range(2):
        await call("RegenerateFloor", floor_id=edited.floor.floor_id, output=[assistant(f"c{n}")])
    await append(files, session_id, [user("alone")], [])
    await append(files, session_id, [], [assistant("goes on")])
    await call("CreateBranch", session_id=session_id, name="other", floor_id=turns[2])
    await call("CreateBranch", session_id=session_id, name="b.2-x", floor_id=turns[0])
    # Candidates: of a failed floor, of a committed one, and of two that are pending.
    failed = await opened(files, session_id, "other", "one", "two")
    await call("AbandonFloor", floor_id=failed, reason="no good")
    committed = await opened(files, session_id, "other", "three", "four")
    await call("CommitFloor", floor_id=committed)
    await opened(files, session_id, "other", "five", "six")
    await opened(files, session_id, "b.2-x")
    lost = await opened(files, session_id, "main", "seven")
    await call("AbandonFloor", floor_id=lost)
    await call("SelectSibling", session_id=session_id, floor_id=turns[1])
    return session_id


async def append(files: Files, session_id: str, given: list[Any], output: list[Any], **more: Any) -> Any:
    answer = await files.client.call("AppendFloor", session_id=session_id, input=given, output=output, **more)
    return answer.floor


async def opened(files: Files, session_id: str, branch: str, *versions: str) -> str:
    """A pending floor with these outputs, the first of them active."""
    asked = {"session_id": session_id, "branch": branch, "input": [user("well?")]}
    floor_id = str((await files.client.call("OpenFloor", **asked)).floor.floor_id)
    pages = []
    for text in versions:
        answer = await files.client.call(
            "AddPage", floor_id=floor_id, slot="SLOT_OUTPUT", messages=[assistant(text)]
        )
        pages.append(answer.page.page_id)
    if pages:
        await files.client.call("ActivatePage", page_id=pages[0])
    return floor_id


async def test_a_whole_session_moves(files: Files, other_url: str) -> None:
    session_id = await everything(files, **SESSION)
    before = await shape(files.client, session_id)
    states = Counter(floor[0] for floor in before["floors"].values())
    assert states["FLOOR_STATE_FAILED"] == 2
    assert states["FLOOR_STATE_OPEN"] == 2
    data = await files.exported(session_id)
    async with serving(other_url) as other:
        (result,) = await other.imported("stemma", data)
        assert not result.HasField("error"), result
        assert await shape(other.client, result.session_id) == before
        # Each page once, however many floors have it.
        assert result.messages == sum(messages_by_page(before).values())
        assert result.floors == len(before["floors"]) - 1
        await other.assert_sound([result.session_id])
        # And once more around, over REST.
        async with rest_of(other) as http:
            answer = await http.get(f"/v1/sessions/{result.session_id}/export")
        assert answer.headers["content-type"] == "application/jsonl"
        name = f'attachment; filename="{result.session_id}.jsonl"'
        assert answer.headers["content-disposition"] == name
        back = await files.one("stemma", answer.content)
    assert await shape(files.client, back) == before
    await files.assert_sound([back])


def messages_by_page(shaped: dict[str, Any]) -> dict[int, int]:
    pages = [
        page for floor in shaped["floors"].values() for side in (floor[5], floor[6]) for page in side if page
    ]
    return {page[0]: len(page[5]) for page in pages}


async def test_it_goes_on_there(files: Files) -> None:
    """The pending floors of the copy can be committed, its branches appended to, its heads moved."""
    copy = await files.one("stemma", await files.exported(await everything(files, **SESSION)))
    branches = (await files.client.call("ListBranches", session_id=copy)).branches
    for branch in branches:
        if branch.pending_floor_id:
            await files.client.call("CommitFloor", floor_id=branch.pending_floor_id)
        more = {"session_id": copy, "branch": branch.name, "input": [user("more")]}
        floor = (await files.client.call("AppendFloor", **more)).floor
        moves = {"session_id": copy, "branch": branch.name, "floor_id": floor.parent_floor_id}
        await files.client.call("MoveHead", **moves)
    mask = field_mask_pb2.FieldMask(paths=["title"])
    await files.client.call("UpdateSession", session_id=copy, title="new", update_mask=mask)
    await files.assert_sound([copy])
    await files.client.respond(copy, input={"messages": [user("hello")]})
    await files.assert_sound([copy])


async def test_an_empty_session_moves(files: Files) -> None:
    session_id = await files.client.new_session()
    copy = await files.one("stemma", await files.exported(session_id))
    assert await shape(files.client, copy) == await shape(files.client, session_id)
    for format in ("oasst", "chatgpt", "log-jsonl"):
        copy = await files.one(format, await files.exported(session_id, format))
        assert (await tree_of(files.client, copy)).leaves() == []


@pytest.mark.parametrize("format", ["oasst", "chatgpt", "log-jsonl"])
async def test_other_formats_keep_every_path(files: Files, format: str) -> None:
    rich = await everything(files)
    plain = await files.one("oasst", json.dumps(trees()[7]).encode())
    for session_id in (rich, plain):
        copy = await files.one(format, await files.exported(session_id, format))
        expected = await leaf_paths(files.client, session_id)
        assert Counter(await leaf_paths(files.client, copy)) == Counter(expected)
        head = await files.client.call("AssembleContext", session_id=session_id)
        told = await files.client.call("AssembleContext", session_id=copy)
        assert [one.parts for one in told.messages] == [one.parts for one in head.messages]
        await files.assert_sound([copy])
        twice = await files.one(format, await files.exported(copy, format))
        left, right = await shape(files.client, copy), await shape(files.client, twice)
        assert (left["floors"], left["branches"]) == (right["floors"], right["branches"])
