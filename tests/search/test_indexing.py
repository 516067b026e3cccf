"""The index follows the feed: everything once, whoever does it, whatever stops it."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from sqlalchemy import func, select, update

from conversation_service.app import index_entries
from conversation_service.app.indexer import Indexer, index_next
from conversation_service.app.projects import project_id_of
from kernel.storage import tables as t
from kernel.storage.engine import Engines
from kernel.storage.search_writes import SearchWrites
from kernel.verbs.search_store import Indexed
from tests.projects.stage import TENANT, Stage, on_stage
from tests.search.finding import found, hits, indexed
from tests.support.client import assistant, user
from tests.transfers.files import Files, chunk, header, serving

PROJECT = project_id_of(TENANT, "")


@pytest.fixture
def still(monkeypatch: pytest.MonkeyPatch) -> None:
    """No indexer works by itself."""

    async def wait(self: Indexer) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(Indexer, "run", wait)


@pytest.fixture
async def idle(still: None, migrated_url: str) -> AsyncIterator[Stage]:
    """A service whose index the test writes, batch by batch."""
    async with on_stage(migrated_url) as stage:
        yield stage


async def step(stage: Stage) -> bool:
    return await index_next(stage.service.service.env, TENANT, PROJECT)


async def position(stage: Stage) -> int:
    async with stage.service.service.env.store.reading(TENANT) as tx:
        return (await tx.indexed(PROJECT) or Indexed()).position


async def search(stage: Stage, query: str) -> Any:
    """One page, of what is indexed by now."""
    return await stage.call("SearchMessages", project_id="default", query=query, scope=2, page_size=100)


async def entries(stage: Stage) -> list[tuple[str, int]]:
    """(floor, number) of every entry."""
    engines = Engines(stage.url)
    try:
        async with engines.reading() as connection:
            query = select(t.search_message.c.floor_id, t.search_message.c.number)
            return sorted((row.floor_id, row.number) for row in await connection.execute(query))
    finally:
        await engines.close()


async def test_indexed_through_says_what_is_found(idle: Stage) -> None:
    session_id = (await idle.session()).session_id
    await idle.turn(session_id, "word")
    answer = await search(idle, "word")
    assert (len(answer.hits), answer.indexed_through) == (0, 0)
    assert await step(idle)
    answer = await search(idle, "word")
    assert (len(answer.hits), answer.indexed_through) == (2, 2)
    await idle.turn(session_id, "word")
    assert (await search(idle, "word")).indexed_through == 2
    assert await step(idle)
    assert not await step(idle)
    assert (await search(idle, "word")).indexed_through == 3


async def test_a_batch_that_fails_leaves_nothing_and_is_done_again(
    idle: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    session_id = (await idle.session()).session_id
    await idle.turn(session_id, "word")
    with monkeypatch.context() as broken:

        async def fail(*_: object) -> None:
            raise ZeroDivisionError

        broken.setattr(SearchWrites, "set_indexed", fail)
        with pytest.raises(ZeroDivisionError):
            await step(idle)
    assert await entries(idle) == []
    assert await step(idle)
    assert len(await entries(idle)) == 2


async def test_of_two_that_read_the_same_one_writes(idle: Stage) -> None:
    """They have both read before either writes."""
    session_id = (await idle.session()).session_id
    for _ in range(3):
        await idle.turn(session_id, "word")
    done = await asyncio.gather(*(step(idle) for _ in range(4)))
    assert done.count(True) == 1
    assert len(await entries(idle)) == len(set(await entries(idle))) == 6
    assert await position(idle) == 4


@pytest.mark.parametrize(
    "limits", [{"_EVENTS": 3}, {"_FLOORS": 2}, {"_PIECE": 2, "_BYTES": 1}, {"_PIECE": 3}], ids=str
)
async def test_small_batches_make_the_same_index(
    idle: Stage, limits: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, limit in limits.items():
        monkeypatch.setattr(index_entries, name, limit)
    session_id = (await idle.session()).session_id
    floors = [(await idle.turn(session_id, f"word {n}")).floor_id for n in range(7)]
    last = await position(idle)
    while await step(idle):
        assert await position(idle) > last
        last = await position(idle)
    assert last == 8
    assert [hit.floor_id for hit in (await search(idle, "word")).hits][::2] == floors[::-1]


async def test_what_was_written_before_a_restart_is_indexed_after_it(
    migrated_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def nothing(*_: object) -> bool:
        return False

    with monkeypatch.context() as off:
        off.setattr("conversation_service.app.indexer.index_next", nothing)
        async with on_stage(migrated_url) as stage:
            floor = await stage.turn((await stage.session()).session_id, "word")
            assert not (await search(stage, "word")).hits
    async with on_stage(migrated_url) as stage:
        assert set(await found(stage, "word")) == {floor.floor_id}


async def test_a_service_indexes_by_itself(migrated_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """And through an error."""
    done, calls = asyncio.Event(), 0

    async def seen(env: Any, tenant_id: str, project_id: str) -> bool:
        nonlocal calls
        calls += 1
        more = await index_next(env, tenant_id, project_id)
        async with env.store.reading(tenant_id) as tx:
            if (await tx.indexed(project_id) or Indexed()).position == 2:
                done.set()
        return more

    monkeypatch.setattr("conversation_service.app.indexer.index_next", seen)
    async with on_stage(migrated_url) as stage:
        floor = await stage.turn((await stage.session()).session_id, "word")
        await asyncio.wait_for(done.wait(), 20)
        assert {hit.floor_id for hit in (await search(stage, "word")).hits} == {floor.floor_id}
    assert calls


@pytest.mark.parametrize("engine", ["postgres"])
async def test_two_replicas_index_everything_once(migrated_url: str) -> None:
    async with on_stage(migrated_url) as one, on_stage(migrated_url) as two:
        sessions = [(await one.session()).session_id for _ in range(8)]

        async def write(number: int) -> None:
            stage = (one, two)[number % 2]
            for _ in range(6):
                await stage.turn(sessions[number], "word")

        async with asyncio.TaskGroup() as group:
            for number in range(8):
                group.create_task(write(number))
            for stage in (one, two):
                group.create_task(indexed(stage))
        for stage in (one, two):
            assert len(await hits(stage, "word")) == 2 * 8 * 6
        made = await entries(one)
        assert len(made) == len(set(made)) == 2 * 8 * 6
        assert await position(one) == 8 + 8 * 6


async def test_deletions_while_it_is_indexed_leave_no_word(migrated_url: str) -> None:
    async with on_stage(migrated_url) as stage:
        sessions = [(await stage.session()).session_id for _ in range(10)]

        async def live(number: int) -> None:
            for _ in range(3):
                await stage.turn(sessions[number], "secret")
            if number % 2:
                await stage.call("DeleteSession", session_id=sessions[number])

        async with asyncio.TaskGroup() as group:
            for number in range(10):
                group.create_task(live(number))
            group.create_task(indexed(stage))
        left = await hits(stage, "secret")
        assert {hit.session_id for hit in left} == set(sessions[::2])
        assert len(left) == 2 * 3 * 5
        engines = Engines(stage.url)
        try:
            async with engines.reading() as connection:
                dead = t.search_message.c.session_id.in_(sessions[1::2])
                query = select(func.count()).select_from(t.search_message).where(dead)
                assert (await connection.execute(query)).scalar_one() == 0
        finally:
            await engines.close()


# A question with two answers, and a turn below the first.
LOG = b"""{"id": "a", "role": "user", "content": "word one"}
{"id": "b", "role": "assistant", "content": "word two", "parent": "a"}
{"id": "c", "role": "assistant", "content": "word three", "regenerates": "b"}
{"id": "d", "role": "user", "content": "word four", "parent": "b"}
"""


async def imported(files: Files, data: bytes = LOG) -> str:
    async def messages() -> AsyncIterator[Any]:
        yield header("log-jsonl")
        yield chunk(data)

    (result,) = await files.results(messages())
    assert result.session_id, result
    return str(result.session_id)


@pytest.mark.parametrize("floors", [1, 64])
async def test_an_import_is_found_whole_and_once(
    still: None, migrated_url: str, floors: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In pieces, with what was appended to it before it was indexed."""
    monkeypatch.setattr(index_entries, "_FLOORS", floors)
    monkeypatch.setattr(index_entries, "_PIECE", min(floors, 2))
    async with serving(migrated_url) as files:
        stage = Stage(files.service, files.client, migrated_url)
        session_id = await imported(files)
        later = await stage.turn(session_id, "word five")
        pieces = 0
        while await step(stage):
            pieces += 1
        assert pieces > 1 or floors == 64
        shown = await hits(stage, "word", session_id=session_id)
        # The question is on both floors that answer it.
        assert sorted(hit.snippet for hit in shown) == sorted(
            ["word one", "word one", "word two", "word three", "word four", "word five", "re: word five"]
        )
        assert len({(hit.floor_id, hit.message_id) for hit in shown}) == len(shown)
        assert shown[0].floor_id == later.floor_id
        assert await position(stage) == 2


async def test_a_fork_is_found_in_itself(idle: Stage) -> None:
    session_id = (await idle.session()).session_id
    first, second = [await idle.turn(session_id, f"word {n}") for n in range(2)]
    fork = await idle.call("ForkSession", session_id=session_id, floor_id=first.floor_id)
    forked = fork.session.session_id
    await idle.turn(forked, "word of the fork")
    while await step(idle):
        pass
    shown = [hit.snippet for hit in await hits(idle, "word", session_id=forked)]
    assert shown == ["re: word of the fork", "word of the fork", "re: word 0", "word 0"]
    assert {hit.branch for hit in await hits(idle, "word", session_id=forked)} == {"main"}
    of_source = await found(idle, "word", session_id=session_id)
    assert set(of_source) == {first.floor_id, second.floor_id}


async def damage(stage: Stage, floor_id: str) -> None:
    async with stage.service.service.store._engines.writing() as connection:
        damaged = t.floor.c.floor_id == floor_id
        await connection.execute(update(t.floor).where(damaged).values(input_blob=b"\xff\xff"))


async def test_bad_input_56_one_damaged_floor_hides_no_other(stage: Stage) -> None:
    session_id = (await stage.session()).session_id
    floors = [(await stage.turn(session_id, "word")).floor_id for _ in range(3)]
    await indexed(stage)
    await damage(stage, floors[1])
    assert set(await found(stage, "word", page_size=1)) == {floors[0], floors[2]}


async def test_bad_input_56_a_damaged_floor_does_not_stop_the_index(idle: Stage) -> None:
    session_id = (await idle.session()).session_id
    floors = [(await idle.turn(session_id, "word")).floor_id for _ in range(3)]
    await damage(idle, floors[1])
    while await step(idle):
        pass
    assert await position(idle) == 4
    assert {hit.floor_id for hit in (await search(idle, "word")).hits} == {floors[0], floors[2]}


async def test_a_message_without_words_has_no_entry(idle: Stage) -> None:
    session_id = (await idle.session()).session_id
    fields = {"session_id": session_id, "input": [user("!?"), user("a")], "output": [assistant("...")]}
    floor = (await idle.call("AppendFloor", **fields)).floor
    while await step(idle):
        pass
    assert await entries(idle) == [(floor.floor_id, 0)]
    (hit,) = (await search(idle, "a")).hits
    assert hit.message_id == floor.input_page.messages[1].message_id
