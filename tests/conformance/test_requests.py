"""Request records (R1): the answer of a repeat, the refusal of other content, one effect of many twins."""

import asyncio
from dataclasses import replace

import pytest

from kernel.errors import AlreadyExists
from kernel.storage.store import SqlStore
from kernel.verbs.records import Answer, Request
from kernel.verbs.store import WriteTx
from tests.conformance.world import World, new_world


async def stored(world: World, request: Request) -> Answer | None:
    return await world.read(lambda tx: tx.answer(request))


async def test_an_answer_comes_back_as_recorded(world: World) -> None:
    ids = [world.new_id() for _ in range(6)]
    full = Answer(ids[0], ids[1], "open", ids[2], ids[3], ids[4], ids[5], replace(world.main, version=2**40))
    for answer in (full, Answer(ids[0]), Answer()):
        request = world.request()
        await world.write(lambda tx, request=request, answer=answer: tx.record(request, answer))
        assert await stored(world, request) == answer


async def test_other_content_is_refused_wherever_it_is_looked_up(world: World) -> None:
    request = world.request()
    await world.write(lambda tx: tx.record(request, Answer()))
    other = replace(request, fingerprint=b"\1" * 32)
    for ask in (world.read, world.write):
        with pytest.raises(AlreadyExists) as caught:
            await ask(lambda tx: tx.answer(other))
        assert caught.value.reason == "REQUEST_ID_REUSED"


async def test_principal_method_and_tenant_are_part_of_the_key(store: SqlStore, world: World) -> None:
    request = world.request()
    await world.write(lambda tx: tx.record(request, Answer()))
    assert await stored(world, replace(request, principal="another")) is None
    assert await stored(world, replace(request, method="Other")) is None
    assert await stored(world, replace(request, request_id=world.new_id())) is None
    assert await stored(await new_world(store), request) is None
    for other in (replace(request, principal="another"), replace(request, method="Other")):
        await world.write(lambda tx, other=other: tx.record(other, Answer(other.request_id)))
        assert await stored(world, other) == Answer(other.request_id)
    assert await stored(world, request) == Answer()


async def test_twins_have_one_effect_and_one_answer(store: SqlStore, world: World) -> None:
    """Twelve equal calls at once that lock nothing: the key alone decides, and the losers see the winner."""
    request, runs = world.request(), 0

    async def call() -> Answer:
        async def work(tx: WriteTx) -> Answer:
            nonlocal runs
            runs += 1
            known = await tx.answer(request)
            if known is not None:
                return known
            answer = Answer(world.new_id())
            await tx.insert_project(answer.session_id, "effect")
            tx.emit(world.session.project_id, world.event())
            await tx.record(request, answer)
            return answer

        return await store.write(world.tenant, work)

    answers = await asyncio.gather(*(call() for _ in range(12)))
    assert len(set(answers)) == 1
    assert runs >= 12
    assert len(await world.read(lambda tx: tx.events(world.session.project_id, 0, 99))) == 1
    assert await stored(world, request) == answers[0]
