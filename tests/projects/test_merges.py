"""DiffBranches and MergeBranch."""

import asyncio
import itertools

import pytest
from stemma.kernel.v1 import floor_pb2

from tests.projects.stage import Stage
from tests.support.client import Refusal, assistant, request_for, texts, user

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def two_branches(stage: Stage, base: int, target: int) -> tuple[str, str]:
    """`main` and `side` part after two turns; -> the session and the floor where they do."""
    session_id = (await stage.session()).session_id
    await stage.turn(session_id, "0")
    fork = (await stage.turn(session_id, "1")).floor_id
    await stage.call("CreateBranch", session_id=session_id, name="side", floor_id=fork)
    for number in range(base):
        await stage.turn(session_id, f"main {number}")
    for number in range(target):
        await stage.turn(session_id, f"side {number}", branch="side")
    return session_id, fork


def said(floors: list[floor_pb2.Floor]) -> list[str]:
    return [texts(floor.input_page)[0] for floor in floors]


@pytest.mark.parametrize(("base", "target"), [(3, 2), (0, 2), (3, 0), (0, 0)])
async def test_a_diff_shows_the_fork_and_both_sides(stage: Stage, base: int, target: int) -> None:
    session_id, fork = await two_branches(stage, base, target)
    diff = await stage.call("DiffBranches", session_id=session_id, target="side")
    assert (diff.fork_floor.floor_id, diff.fork_floor.depth) == (fork, 2)
    assert (diff.base_count, diff.target_count) == (base, target)
    assert said(diff.base_floors) == [f"main {n}" for n in range(base)]
    assert said(diff.target_floors) == [f"side {n}" for n in range(target)]
    main, side = (await stage.call("ListBranches", session_id=session_id)).branches
    assert (diff.base_head_floor_id, diff.target_head_floor_id) == (main.head_floor_id, side.head_floor_id)
    for branch, floors in (("main", diff.base_floors), ("side", diff.target_floors)):
        path = (await stage.call("ListPath", session_id=session_id, branch=branch)).floors
        assert list(path[2:]) == list(floors)


@pytest.mark.parametrize("size", [1, 2, 3, 4])
async def test_a_diff_is_paged_and_pinned(stage: Stage, size: int) -> None:
    session_id, _ = await two_branches(stage, 3, 2)
    base, target, token = [], [], ""
    while True:
        page = await stage.call(
            "DiffBranches",
            session_id=session_id,
            base="main",
            target="side",
            page_size=size,
            page_token=token,
        )
        assert 0 < len(page.base_floors) + len(page.target_floors) <= size
        base += said(page.base_floors)
        target += said(page.target_floors)
        await stage.turn(session_id, "later")
        await stage.turn(session_id, "later", branch="side")
        token = page.next_page_token
        if not token:
            break
    assert (base, target) == (["main 0", "main 1", "main 2"], ["side 0", "side 1"])


async def test_a_page_of_a_diff_is_bounded_by_bytes(stage: Stage) -> None:
    session_id, _ = await two_branches(stage, 0, 0)
    for branch in ("main", "side"):
        for _ in range(3):
            big = [user("x" * 1_000_000)]
            await stage.call(
                "AppendFloor", session_id=session_id, branch=branch, input=big, output=[assistant("y")]
            )
    sizes, token = [], ""
    while True:
        page = await stage.call("DiffBranches", session_id=session_id, target="side", page_token=token)
        sizes.append((len(page.base_floors), len(page.target_floors)))
        token = page.next_page_token
        if not token:
            break
    assert sizes == [(3, 0), (0, 3)]


async def test_branches_without_a_common_turn_part_at_the_root(stage: Stage) -> None:
    session = await stage.session()
    await stage.call(
        "CreateBranch", session_id=session.session_id, name="side", floor_id=session.root_floor_id
    )
    await stage.turn(session.session_id, "a")
    await stage.turn(session.session_id, "b", branch="side")
    diff = await stage.call("DiffBranches", session_id=session.session_id, target="side")
    assert diff.fork_floor.floor_id == session.root_floor_id
    same = await stage.call("DiffBranches", session_id=session.session_id, target="main")
    assert same.fork_floor.floor_id == same.base_head_floor_id
    assert (same.base_count, same.target_count, same.next_page_token) == (0, 0, "")
    for fields in (
        {"target": ""},
        {"target": "a/b"},
        {"base": "-", "target": "side"},
        {"target": "side", "page_size": -1},
    ):
        assert (
            await stage.client.refused("DiffBranches", session_id=session.session_id, **fields)
        ).reason == "INVALID"
    refusal = await stage.client.refused("DiffBranches", session_id=session.session_id, target="none")
    assert refusal.code == "NOT_FOUND"


async def test_a_merge_fast_forwards_once(own_stage: Stage) -> None:
    session_id, fork = await two_branches(own_stage, 0, 3)
    request = request_for("MergeBranch", session_id=session_id, source_branch="side", expected_head=fork)
    merged = (await own_stage.client.send("MergeBranch", request)).branch
    side = (await own_stage.call("ListBranches", session_id=session_id)).branches[1]
    assert (merged.name, merged.head_floor_id, merged.depth) == ("main", side.head_floor_id, 5)
    await own_stage.turn(session_id, "on")
    assert (await own_stage.client.send("MergeBranch", request)).branch == merged
    moves = (await own_stage.call("ListHeadMoves", session_id=session_id)).head_moves
    assert [(m.kind, m.from_floor_id, m.to_floor_id, m.principal) for m in moves[1:2]] == [
        ("merge", fork, side.head_floor_id, "local")
    ]
    moved = [payload for kind, payload in await own_stage.facts() if kind == "head.moved"]
    assert [payload["kind"] for payload in moved] == ["merge"]


async def test_what_is_not_a_fast_forward_is_refused(stage: Stage) -> None:
    session_id, _ = await two_branches(stage, 1, 1)
    main, side = (await stage.call("ListBranches", session_id=session_id)).branches
    heads = {"current_head": main.head_floor_id, "source_head": side.head_floor_id}
    refusal = await stage.client.refused("MergeBranch", session_id=session_id, source_branch="side")
    assert refusal == Refusal("FAILED_PRECONDITION", "NOT_FAST_FORWARD", heads)
    # A source that is behind has nothing to give.
    await stage.call("CreateBranch", session_id=session_id, name="behind", floor_id=main.head_floor_id)
    await stage.turn(session_id, "ahead")
    refusal = await stage.client.refused("MergeBranch", session_id=session_id, source_branch="behind")
    assert refusal.reason == "NOT_FAST_FORWARD"


async def test_equal_heads_stay_unrecorded(stage: Stage) -> None:
    session_id, _ = await two_branches(stage, 0, 0)
    before = await stage.types()
    merged = (await stage.call("MergeBranch", session_id=session_id, source_branch="side")).branch
    assert merged == (await stage.call("ListBranches", session_id=session_id)).branches[0]
    assert await stage.types() == before


async def test_a_merge_minds_what_is_pending_on_the_branch_that_moves(stage: Stage) -> None:
    session_id, fork = await two_branches(stage, 0, 1)
    await stage.call("OpenFloor", session_id=session_id, branch="side", input=[user("x")])
    pending = (await stage.call("OpenFloor", session_id=session_id, input=[user("x")])).floor.floor_id
    fields = {"session_id": session_id, "source_branch": "side"}
    refusal = await stage.client.refused("MergeBranch", **fields)
    assert refusal == Refusal("FAILED_PRECONDITION", "FLOOR_PENDING", {"pending_floor_id": pending})
    stale = await stage.client.refused("MergeBranch", expected_head=pending, on_pending=2, **fields)
    assert stale == Refusal("ABORTED", "HEAD_MOVED", {"branch": "main", "current_head": fork})
    merged = (await stage.call("MergeBranch", expected_head=fork, on_pending=2, **fields)).branch
    assert (merged.pending_floor_id, merged.failed_floor_id, merged.depth) == ("", "", 3)
    assert (await stage.call("GetFloor", floor_id=pending)).floor.state == 4


async def test_unknown_branches_cannot_be_merged(stage: Stage) -> None:
    session_id, _ = await two_branches(stage, 0, 1)
    for fields in ({"source_branch": "none"}, {"branch": "none", "source_branch": "side"}):
        assert (
            await stage.client.refused("MergeBranch", session_id=session_id, **fields)
        ).code == "NOT_FOUND"
    assert (await stage.client.refused("MergeBranch", session_id=session_id)).reason == "INVALID"


async def test_of_merges_and_turns_that_race_nothing_is_lost(stage: Stage) -> None:
    session_id, fork = await two_branches(stage, 0, 2)
    merges = [
        stage.call("MergeBranch", session_id=session_id, source_branch="side", expected_head=fork)
        for _ in range(8)
    ]
    done = await asyncio.gather(*merges, stage.turn(session_id, "turn"), return_exceptions=True)
    assert sum(not isinstance(one, BaseException) for one in done[:8]) <= 1
    moves = (await stage.call("ListHeadMoves", session_id=session_id)).head_moves
    for newer, older in itertools.pairwise(moves):
        assert newer.from_floor_id == older.to_floor_id
