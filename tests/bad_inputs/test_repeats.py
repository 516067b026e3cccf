"""Request ids that come again: 22 and 23, for every write, on both engines."""

import asyncio
from typing import Any

from stemma.kernel.v1 import floor_pb2, run_pb2

from tests.bad_inputs.test_samples import FIRST, LAST, STANDING
from tests.bad_inputs.world import WRITES, World, a_world, fields_of, refused, unknown
from tests.rpc.plumbing import Answer

ORDER = [name for name in FIRST + tuple(n for n in WRITES if n not in FIRST + LAST) + LAST if name in WRITES]
AT_ONCE = 32


def sample(world: World, name: str) -> Any:
    abandon = {"on_pending": floor_pb2.ON_PENDING_ABANDON} if "on_pending" in fields_of(name) else {}
    return world.sample(name, **abandon)


def otherwise(name: str, request: Any) -> Any:
    """The same request id with other content, where it has any beside whose it is."""
    fields = fields_of(name)
    other: dict[str, Any] = {
        "expected_head": unknown(),
        "title": "quite another",
        "expected_version": 7,
        "reason": "another reason",
        "activate": True,
        "keep": run_pb2.KEEP_FAIL,
        "principal": "somebody else",
        "page_id": unknown(),
        "branch": "long",
    }
    field = next((field for field in other if field in fields), None)
    if field is None:
        return None
    return type(request).FromString(
        request.SerializeToString() + type(request)(**{field: other[field]}).SerializeToString()
    )


def last(answer: Answer) -> tuple[str, tuple[bytes, ...]]:
    """The code and the last message: how a run's text was cut into frames is another matter."""
    return answer.code.name, answer.messages[-1:]


async def told(world: World, name: str, request: Any) -> Answer:
    """The answer; a call that finds no free connection is to be made again, with the same request id."""
    while (answer := await world.ask(name, request)).code.name == "UNAVAILABLE":
        pass
    return answer


async def test_bad_input_22_a_request_id_with_other_content(migrated_url: str) -> None:
    async with a_world(migrated_url) as world:
        reused = set()
        for name in ORDER:
            request = sample(world, name)
            answer = await world.ask(name, request)
            assert answer.code.name == STANDING.get(name, "OK"), (name, answer)
            if name in STANDING:
                # A failure is not remembered.
                continue
            before = await world.rows()
            other = otherwise(name, request)
            if other is not None:
                refused(await world.ask(name, other), "ALREADY_EXISTS", "REQUEST_ID_REUSED")
                reused.add(name)
            assert last(await world.ask(name, request)) == last(answer), name
            assert await world.rows() == before, name
        assert len(reused) > 15
        assert await world.healthy()


async def test_bad_input_23_one_request_32_times_at_once(migrated_url: str) -> None:
    async with a_world(migrated_url) as world:
        for name in ORDER:
            request = sample(world, name)
            known = len((await world.rows())["request"])
            answers = await asyncio.gather(*[told(world, name, request) for _ in range(AT_ONCE)])
            assert {last(answer)[0] for answer in answers} == {STANDING.get(name, "OK")}, (name, answers[0])
            assert len({last(answer) for answer in answers}) == 1, name
            after = await world.rows()
            assert len(after["request"]) == known + (name not in STANDING), name
            assert last(await world.ask(name, request)) == last(answers[0])
            assert await world.rows() == after, name
        assert await world.healthy()
