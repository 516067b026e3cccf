"""An expected head that is not the head: 24 and 25, for every RPC that takes one."""

from typing import Any

import pytest
from stemma.kernel.v1 import floor_pb2

from tests.bad_inputs.world import RPCS, World, fields_of, refused, unknown
from tests.rpc.plumbing import Answer
from tests.support.client import user

pytestmark = pytest.mark.asyncio(loop_scope="session")

WITH_HEAD = tuple(name for name in RPCS if "expected_head" in fields_of(name))


def actions(world: World) -> list[dict[str, Any]]:
    """The other ways to Respond."""
    at = world.places
    return [
        {"edit": {"floor_id": at.second, "messages": [user("x")]}},
        {"regenerate": {"floor_id": at.second}},
        {"resume": {"floor_id": at.opened}},
    ]


def moved(answer: Answer, branch: str, head: str) -> None:
    refused(answer, "ABORTED", "HEAD_MOVED")
    assert dict(answer.info.metadata) == {"branch": branch, "current_head": head}


async def assert_all_moved(world: World, expected_head: str) -> None:
    at = world.places
    # Whose pending floor is on `side`, or whose branch is `spare`: both stand on the first floor.
    elsewhere = {"CommitFloor": "side", "MergeBranch": "spare"}
    for name in WITH_HEAD:
        branch = elsewhere.get(name, "main")
        head = at.second if branch == "main" else at.first
        if expected_head == head:
            continue
        answer = await world.ask(name, world.sample(name, expected_head=expected_head))
        moved(answer, branch, head)
    for action in actions(world):
        request = world.sample("Respond", expected_head=expected_head)
        request.MergeFrom(type(request)(**action))
        branch, head = ("side", at.first) if "resume" in action else ("main", at.second)
        if expected_head != head:
            moved(await world.ask("Respond", request), branch, head)


async def test_bad_input_24_a_stale_head(world: World) -> None:
    assert len(WITH_HEAD) >= 8
    for stale in (world.places.root, world.places.first, world.places.edited):
        await assert_all_moved(world, stale)


async def test_bad_input_25_a_head_that_never_was(world: World) -> None:
    """Nothing says which: unknown, another session's, of another kind or failed, all are told the same."""
    at = world.places
    zero = "00000000-0000-0000-0000-000000000000"
    for never in (unknown(), zero, at.other_floor, at.session, at.page, at.failed, at.opened):
        await assert_all_moved(world, never)


async def test_bad_input_25_nothing_is_abandoned_for_it(world: World) -> None:
    abandon = {"on_pending": floor_pb2.ON_PENDING_ABANDON, "branch": "side", "expected_head": unknown()}
    for name in WITH_HEAD:
        if "on_pending" in fields_of(name):
            moved(await world.ask(name, world.sample(name, **abandon)), "side", world.places.first)
