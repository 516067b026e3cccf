"""Siblings: switching and coming back (T6), the numbers beside them, and naming any floor (T7)."""

import json
import random
from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio
from stemma.kernel.v1 import floor_pb2

from tests.conftest import DatabaseFactory
from tests.support.client import Client, assistant, connect, request_for, text_of, user
from tests.support.service import running_service

pytestmark = pytest.mark.asyncio(loop_scope="session")

FLOORS = 40
FAIL_ONCE = {
    "when": "fail once",
    "deltas": ["half a "],
    "fail": {"reason": "PROVIDER_UNAVAILABLE", "after": 1},
}
SCRIPT = json.dumps({"replies": [FAIL_ONCE]})


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest, database_factory: DatabaseFactory) -> Iterator[str]:
    with database_factory(request.param) as url:
        yield url


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def client(database_url: str) -> AsyncIterator[Client]:
    """Of one service for all tests: each has a session of its own."""
    async with running_service(database_url, script=SCRIPT) as service, connect(service.address) as client:
        yield client


async def turn(client: Client, session: str, text: str, branch: str = "main") -> floor_pb2.Floor:
    answer = await client.call(
        "AppendFloor",
        session_id=session,
        branch=branch,
        input=[user(text)],
        output=[assistant(f"re: {text}")],
    )
    return answer.floor


async def chain(client: Client, session: str, length: int, branch: str = "main") -> list[floor_pb2.Floor]:
    return [await turn(client, session, f"{branch} {number}", branch) for number in range(length)]


async def edit(client: Client, floor_id: str, text: str, **fields: object) -> floor_pb2.Floor:
    answer = await client.call(
        "EditFloor", floor_id=floor_id, input=[user(text)], output=[assistant("done")], **fields
    )
    return answer.floor


async def regenerate(client: Client, floor_id: str, text: str, **fields: object) -> floor_pb2.Floor:
    answer = await client.call("RegenerateFloor", floor_id=floor_id, output=[assistant(text)], **fields)
    return answer.floor


async def select(client: Client, session: str, floor_id: str) -> list[str]:
    """The path afterwards."""
    await client.call("SelectSibling", session_id=session, floor_id=floor_id)
    return await client.path_ids(session)


async def siblings(client: Client, floor_id: str) -> list[str]:
    return [floor.floor_id for floor in await client.everything("ListSiblings", "floors", floor_id=floor_id)]


async def grow(client: Client, session: str, chance: random.Random) -> None:
    """A random tree: turns below the head, and edits and regenerations of any floor."""
    known: list[str] = []
    for number in range(FLOORS):
        verb = chance.choice(["append", "append", "edit", "regenerate"]) if known else "append"
        if verb == "append":
            floor = await turn(client, session, f"turn {number}")
        elif verb == "edit":
            floor = await edit(client, chance.choice(known), f"edit {number}")
        else:
            floor = await regenerate(client, chance.choice(known), f"reply {number}")
        known.append(floor.floor_id)


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_away_and_back_is_the_same_path_at_every_fork(client: Client, seed: int) -> None:
    session, chance = await client.new_session(), random.Random(seed)
    await grow(client, session, chance)
    tree = await client.everything("GetTree", "floors", session_id=session)
    switches = 0
    for leaf in chance.sample([floor.floor_id for floor in tree if floor.parent_floor_id], 2):
        await client.call("MoveHead", session_id=session, floor_id=leaf)
        path = await client.path_ids(session)
        for here in path:
            for there in await siblings(client, here):
                away = await select(client, session, there)
                assert there in away
                assert await select(client, session, here) == path
                assert await select(client, session, there) == away
                assert await select(client, session, here) == path
                switches += there != here
    assert switches > 10


async def test_a_switch_made_below_a_sibling_is_remembered_with_it(client: Client) -> None:
    session = await client.new_session()
    old = await chain(client, session, 3)
    new = await edit(client, old[0].floor_id, "another start")
    low = [await turn(client, session, "below it"), await turn(client, session, "at its end")]
    other = await regenerate(client, low[0].floor_id, "not that one")
    assert await select(client, session, low[0].floor_id) == [f.floor_id for f in (new, *low)]
    await select(client, session, other.floor_id)

    assert await select(client, session, old[0].floor_id) == [floor.floor_id for floor in old]
    assert await select(client, session, new.floor_id) == [new.floor_id, other.floor_id]


async def test_a_sibling_never_visited_is_entered_by_its_highest_ordinals(client: Client) -> None:
    session = await client.new_session()
    first = await turn(client, session, "first")
    await client.call("CreateBranch", session_id=session, name="side", floor_id=first.floor_id)
    await turn(client, session, "main's own")
    low = await turn(client, session, "low", "side")
    high = await regenerate(client, low.floor_id, "high", branch="side")
    last = await turn(client, session, "last", "side")

    # The side branch left `low`; what it remembers is not main's.
    assert await select(client, session, high.floor_id) == [f.floor_id for f in (first, high, last)]


async def test_the_numbers_beside_two_inputs_of_three_replies_each(client: Client) -> None:
    session = await client.new_session()
    await turn(client, session, "before")
    first = await turn(client, session, "one question")
    replies = [await regenerate(client, first.floor_id, f"reply {number}") for number in (2, 3)]
    second = await edit(client, first.floor_id, "another question")
    others = [await regenerate(client, second.floor_id, f"reply {number}") for number in (2, 3)]
    floors = [first, *replies, second, *others]
    numbers = [(1, 2, 1, 3), (1, 2, 2, 3), (1, 2, 3, 3), (2, 2, 1, 3), (2, 2, 2, 3), (2, 2, 3, 3)]

    listed = await client.call("ListSiblings", floor_id=second.floor_id)
    assert [floor.floor_id for floor in listed.floors] == [floor.floor_id for floor in floors]
    assert [_numbers(position) for position in listed.positions] == numbers
    assert listed.current_floor_id == others[-1].floor_id
    for floor, expected in zip(floors, numbers, strict=True):
        assert _numbers((await client.call("GetFloor", floor_id=floor.floor_id)).position) == expected
        path = await client.call("ListPath", session_id=session, floor_id=floor.floor_id)
        assert [_numbers(position) for position in path.positions] == [(1, 1, 1, 1), expected]


def _numbers(position: floor_pb2.Position) -> tuple[int, int, int, int]:
    return position.input_index, position.input_count, position.output_index, position.output_count


@pytest.mark.parametrize("depth", [1, 2, 4])
async def test_an_edit_at_any_depth_leaves_later_turns_below_the_old_sibling(
    client: Client, depth: int
) -> None:
    session = await client.new_session()
    old = [floor.floor_id for floor in await chain(client, session, 4)]
    new = await edit(client, old[depth - 1], "said otherwise")
    assert (new.depth, new.ordinal) == (depth, 1)
    assert await client.path_ids(session) == [*old[: depth - 1], new.floor_id]
    assert await select(client, session, old[depth - 1]) == old


@pytest.mark.parametrize("depth", [1, 2, 4])
async def test_a_regeneration_at_any_depth_shares_the_input(client: Client, depth: int) -> None:
    session = await client.new_session()
    old = await chain(client, session, 4)
    again = await regenerate(client, old[depth - 1].floor_id, "put otherwise")
    assert again.parent_floor_id == old[depth - 1].parent_floor_id
    assert again.input_page.page_id == old[depth - 1].input_page.page_id
    assert await client.path_ids(session) == [*(floor.floor_id for floor in old[: depth - 1]), again.floor_id]


async def test_a_failed_floor_can_be_edited_and_regenerated(client: Client) -> None:
    session = await client.new_session()
    first = await turn(client, session, "first")
    opened = await client.call("OpenFloor", session_id=session, input=[user("given up")])
    failed = (await client.call("AbandonFloor", floor_id=opened.floor.floor_id, reason="no")).floor
    assert failed.state == floor_pb2.FLOOR_STATE_FAILED

    again = await regenerate(client, failed.floor_id, "after all")
    assert again.input_page == failed.input_page
    edited = await edit(client, failed.floor_id, "put better")
    assert [f.parent_floor_id for f in (again, edited)] == [first.floor_id] * 2
    assert [f.ordinal for f in (failed, again, edited)] == [0, 1, 2]
    assert await siblings(client, failed.floor_id) == [again.floor_id, edited.floor_id]
    position = (await client.call("GetFloor", floor_id=again.floor_id)).position
    assert _numbers(position) == (1, 2, 1, 1)


async def test_a_failed_run_can_be_answered_again(client: Client) -> None:
    session = await client.new_session()
    first = await turn(client, session, "first")
    request = request_for("Respond", session_id=session, input={"messages": [user("fail once")]})
    frames = await client.frames("Respond", request)
    assert (frames[-1].failed.code, frames[-1].failed.reason) == (14, "PROVIDER_UNAVAILABLE")
    (branch,) = await client.everything("ListBranches", "branches", session_id=session)
    assert (branch.head_floor_id, branch.pending_floor_id) == (first.floor_id, "")
    failed = (await client.call("GetFloor", floor_id=branch.failed_floor_id)).floor
    assert [text_of(message) for message in failed.output_page.messages] == ["half a "]
    assert failed.output_page.partial

    edited = {"floor_id": failed.floor_id, "messages": [user("better")]}
    again = await client.respond(session, edit=edited)
    assert await client.path_ids(session) == [first.floor_id, again.floor_id]
    (branch,) = await client.everything("ListBranches", "branches", session_id=session)
    assert branch.failed_floor_id == ""


async def test_the_named_floor_counts_and_never_the_newest(client: Client) -> None:
    session = await client.new_session()
    main = await chain(client, session, 3)
    await client.call("CreateBranch", session_id=session, name="side", floor_id=main[0].floor_id)
    side = await chain(client, session, 3, "side")
    heads = {"side": side[-1].floor_id}

    edited = await edit(client, main[1].floor_id, "named on main")
    assert edited.parent_floor_id == main[0].floor_id
    assert await _heads(client, session) == heads | {"main": edited.floor_id}
    again = await regenerate(client, main[2].floor_id, "named on main")
    assert again.parent_floor_id == main[1].floor_id
    assert await _heads(client, session) == heads | {"main": again.floor_id}
    # Named on the other branch: its parent holds, and only the branch that was said moves.
    borrowed = await regenerate(client, side[1].floor_id, "named on side")
    assert borrowed.parent_floor_id == side[0].floor_id
    assert await _heads(client, session) == heads | {"main": borrowed.floor_id}
    generated = await client.respond(session, regenerate={"floor_id": main[0].floor_id})
    assert await client.path_ids(session) == [generated.floor_id]
    assert await _heads(client, session) == heads | {"main": generated.floor_id}


async def _heads(client: Client, session: str) -> dict[str, str]:
    branches = await client.everything("ListBranches", "branches", session_id=session)
    return {branch.name: branch.head_floor_id for branch in branches}
