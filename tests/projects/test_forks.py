"""A fork: the path as one segment, with new ids and equal digests, and nothing else of its source."""

import pytest
from sqlalchemy import event, update
from sqlalchemy.engine import Engine
from stemma.kernel.v1 import floor_pb2

from kernel.storage import tables as t
from kernel.storage.engine import Engines
from tests.projects.stage import Stage, mask
from tests.support.client import Refusal, assistant, request_for, texts, user

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def path(stage: Stage, session_id: str, **fields: str) -> list[floor_pb2.Floor]:
    return await stage.client.everything("ListPath", "floors", session_id=session_id, **fields)


async def branched(stage: Stage) -> tuple[str, list[floor_pb2.Floor]]:
    """A session whose path crosses two forks, with siblings and a pending floor; and the path."""
    session_id = (await stage.session(title="source", config={"system_prompt": "p"})).session_id
    for number in range(4):
        await stage.turn(session_id, f"turn {number}")
    floors = await path(stage, session_id)
    await stage.call("EditFloor", floor_id=floors[2].floor_id, input=[user("new")], output=[assistant("a")])
    await stage.turn(session_id, "after")
    floors = await path(stage, session_id)
    await stage.call("RegenerateFloor", floor_id=floors[3].floor_id, output=[assistant("again")])
    await stage.client.respond(session_id, input={"messages": [user("to the model")]})
    floors = await path(stage, session_id)
    await stage.call("OpenFloor", session_id=session_id, input=[user("pending")])
    return session_id, floors


def contents(floors: list[floor_pb2.Floor]) -> list[tuple[object, ...]]:
    return [
        (
            floor.digest,
            floor.depth,
            floor.path_tokens,
            texts(floor.input_page),
            texts(floor.output_page),
            floor.output_page.source,
            floor.principal,
            floor.commit_time.ToDatetime(),
        )
        for floor in floors
    ]


async def test_a_fork_has_equal_digests_and_new_ids(stage: Stage) -> None:
    source, floors = await branched(stage)
    fork = await stage.call("ForkSession", session_id=source, floor_id=floors[-1].floor_id, title="fork")
    assert (fork.session.title, fork.session.version, fork.session.config.system_prompt) == ("fork", 1, "p")
    copied = await path(stage, fork.session.session_id)
    assert contents(copied) == contents(floors)
    assert fork.branch.head_floor_id == copied[-1].floor_id
    ids = {floor.floor_id for floor in floors} | {
        page.page_id for f in floors for page in (f.input_page, f.output_page)
    }
    new = {floor.floor_id for floor in copied} | {
        page.page_id for f in copied for page in (f.input_page, f.output_page)
    }
    assert not ids & new
    assert all(page.floor_id == f.floor_id for f in copied for page in (f.input_page, f.output_page))
    parents = [fork.session.root_floor_id, *(floor.floor_id for floor in copied)]
    assert [floor.parent_floor_id for floor in copied] == parents[:-1]
    tree = (await stage.call("GetTree", session_id=fork.session.session_id)).floors
    assert len(tree) == len(copied) + 1
    assert {floor.ordinal for floor in tree} == {0}
    rows = await stage.rows(fork.session.session_id)
    assert (rows["segment"], rows["page"], rows["run"]) == (1, 0, 0)
    assert [floor.run_id for floor in copied] == [""] * len(copied)
    left = await stage.call("AssembleContext", session_id=source, floor_id=floors[-1].floor_id)
    right = await stage.call("AssembleContext", session_id=fork.session.session_id)
    assert left.explanation.context_digest == right.explanation.context_digest
    assert right.explanation.tokens_abandoned == 0


async def test_a_fork_goes_its_own_way(stage: Stage) -> None:
    source, floors = await branched(stage)
    end = floors[1]
    fork = (await stage.call("ForkSession", session_id=source, floor_id=end.floor_id)).session
    assert fork.title == "source"
    await stage.call("UpdateSession", session_id=fork.session_id, title="x", update_mask=mask("title"))
    await stage.turn(fork.session_id, "elsewhere")
    await stage.call("DeleteSession", session_id=source)
    copied = await path(stage, fork.session_id)
    assert [floor.digest for floor in copied[:2]] == [floor.digest for floor in floors[:2]]
    assert texts(copied[2].input_page) == ["elsewhere"]


async def test_a_fork_at_the_root_is_empty(stage: Stage) -> None:
    source = await stage.session()
    await stage.turn(source.session_id)
    fork = await stage.call("ForkSession", session_id=source.session_id, floor_id=source.root_floor_id)
    assert fork.branch.head_floor_id == fork.session.root_floor_id != source.root_floor_id
    assert await path(stage, fork.session.session_id) == []


async def test_a_fork_is_made_once_and_has_one_event(stage: Stage) -> None:
    source, floors = await branched(stage)
    before = len(await stage.facts())
    request = request_for("ForkSession", session_id=source, floor_id=floors[0].floor_id)
    first = await stage.client.raw("ForkSession", request)
    session_id = (await stage.client.send("ForkSession", request)).session.session_id
    await stage.turn(session_id)
    assert await stage.client.raw("ForkSession", request) == first
    facts = (await stage.facts())[before:]
    payload = {"title": "source", "source_session_id": source, "source_floor_id": floors[0].floor_id}
    assert facts[0] == ("session.forked", payload)
    assert [kind for kind, _ in facts] == ["session.forked", "floor.committed"]
    await stage.call("DeleteSession", session_id=session_id)
    assert (await stage.client.refusal("ForkSession", request)).code == "NOT_FOUND"


async def test_what_cannot_be_forked(stage: Stage) -> None:
    source, floors = await branched(stage)
    (pending,) = [b.pending_floor_id for b in (await stage.call("ListBranches", session_id=source)).branches]
    other = await stage.session()
    refused = await stage.client.refused("ForkSession", session_id=source, floor_id=pending)
    assert refused == Refusal("FAILED_PRECONDITION", "FLOOR_PENDING", {"pending_floor_id": pending})
    await stage.call("AbandonFloor", floor_id=pending)
    refused = await stage.client.refused("ForkSession", session_id=source, floor_id=pending)
    assert (refused.code, refused.reason) == ("FAILED_PRECONDITION", "FLOOR_FAILED")
    for session_id, floor_id in ((other.session_id, floors[0].floor_id), (source, other.root_floor_id)):
        refused = await stage.client.refused("ForkSession", session_id=session_id, floor_id=floor_id)
        assert refused == Refusal("NOT_FOUND", "NOT_FOUND", {})


async def test_a_fork_refuses_to_copy_damaged_bytes(own_stage: Stage) -> None:
    session_id = (await own_stage.session()).session_id
    floor = await own_stage.turn(session_id)
    engines = Engines(own_stage.url)
    async with engines.reading() as connection:
        raw = (
            await connection.execute(t.floor.select().where(t.floor.c.floor_id == floor.floor_id))
        ).mappings()
        blob = bytearray(raw.one()["input_blob"])
    blob[-1] ^= 1
    async with engines.writing() as connection:
        await connection.execute(
            update(t.floor).where(t.floor.c.floor_id == floor.floor_id).values(input_blob=bytes(blob))
        )
    await engines.close()
    refused = await own_stage.client.refused("ForkSession", session_id=session_id, floor_id=floor.floor_id)
    assert (refused.code, refused.reason) == ("DATA_LOSS", "DIGEST_MISMATCH")
    assert (await own_stage.rows())["session"] == 1


async def test_ten_thousand_floors_take_few_statements(own_stage: Stage) -> None:
    size = 10_000
    session_id = (await own_stage.session()).session_id
    end = await own_stage.long_path(session_id, size)
    statements = []

    def count(*arguments: object) -> None:
        statements.append(arguments[2])

    event.listen(Engine, "before_cursor_execute", count)
    try:
        fork = await own_stage.call("ForkSession", session_id=session_id, floor_id=end)
    finally:
        event.remove(Engine, "before_cursor_execute", count)
    # Those of the index, which follows the feed meanwhile, among them.
    assert len(statements) < size // 20
    assert fork.branch.depth == size
    tail = {"order": floor_pb2.PATH_ORDER_HEAD_FIRST, "page_size": 3}
    left = (await own_stage.call("ListPath", session_id=session_id, **tail)).floors
    right = (await own_stage.call("ListPath", session_id=fork.session.session_id, **tail)).floors
    assert [floor.digest for floor in left] == [floor.digest for floor in right]
    assert (await own_stage.rows(fork.session.session_id))["floor"] == size + 1
    receipt = (await own_stage.call("DeleteSession", session_id=fork.session.session_id)).receipt
    assert {one.store: one.rows for one in receipt}["floor"] == size + 1
