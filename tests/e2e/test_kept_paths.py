"""Paths are kept as bytes: what is answered from them is what the database says, whoever wrote it."""

import asyncio
from random import Random
from typing import Any

from stemma.kernel.v1 import floor_pb2

from tests.support.client import Client, Refusal, assistant, connect, user
from tests.support.service import running_service

STEPS = 30


async def changed(client: Client, random: Random, session: str, floors: list[str]) -> None:
    """One random write; what the tree's state refuses is fine."""
    branch = random.choice(("main", "main", "side"))
    fields: dict[str, Any] = {"session_id": session, "branch": branch, "on_pending": 2}
    turn = {"input": [user(f"u{random.random()}")], "output": [assistant("a")]}
    floor_id = random.choice(floors) if floors else ""
    match random.choice(("append", "append", "append", "edit", "regenerate", "open", "commit", "move")):
        case "append":
            done = await client.call("AppendFloor", **fields, **turn)
        case "edit" if floor_id:
            done = await client.call("EditFloor", floor_id=floor_id, **fields, **turn)
        case "regenerate" if floor_id:
            done = await client.call(
                "RegenerateFloor", floor_id=floor_id, output=[assistant("again")], **fields
            )
        case "open":
            done = await client.call("OpenFloor", input=turn["input"], **fields)
            return
        case "commit":
            branches = (await client.call("ListBranches", session_id=session)).branches
            pending = [one.pending_floor_id for one in branches if one.pending_floor_id]
            for one in pending[:1]:
                await client.call("CommitFloor", floor_id=one)
                floors.append(one)
            return
        case "move" if floor_id:
            await client.call("MoveHead", floor_id=floor_id, **fields)
            return
        case _:
            return
    floors.append(done.floor.floor_id)


async def walked(client: Client, session: str, branch: str) -> tuple[list[Any], list[Any], str]:
    """The path floor by floor, from the head up its parents."""
    found = (await client.call("ListBranches", session_id=session)).branches
    (tip,) = [one for one in found if one.name == branch]
    floors, positions, floor_id = [], [], tip.head_floor_id
    while floor_id:
        answer = await client.call("GetFloor", floor_id=floor_id)
        floor_id = answer.floor.parent_floor_id
        if floor_id:
            floors.append(answer.floor)
            positions.append(answer.position)
    return floors[::-1], positions[::-1], tip.pending_floor_id


async def listed(
    client: Client, random: Random, session: str, branch: str
) -> tuple[list[Any], list[Any], str]:
    """The path by ListPath, in pages of a random size and either order."""
    order = random.choice((floor_pb2.PATH_ORDER_ROOT_FIRST, floor_pb2.PATH_ORDER_HEAD_FIRST))
    size = random.choice((1, 3, 7, 1000))
    floors, positions, pending, token = [], [], "", ""
    while True:
        answer = await client.call(
            "ListPath", session_id=session, branch=branch, order=order, page_size=size, page_token=token
        )
        floors += answer.floors
        positions += answer.positions
        pending = pending or answer.pending_floor.floor_id
        token = answer.next_page_token
        if not token:
            break
    if order == floor_pb2.PATH_ORDER_HEAD_FIRST:
        floors.reverse()
        positions.reverse()
    return floors, positions, pending


async def test_a_reader_that_keeps_paths_sees_what_another_process_writes(postgres_database: str) -> None:
    async with (
        running_service(postgres_database) as writer,
        running_service(postgres_database) as reader,
        connect(writer.address) as writing,
        connect(reader.address) as reading,
    ):
        await compared(writing, reading)


async def test_a_process_that_keeps_paths_sees_its_own_writes(migrated_url: str) -> None:
    async with running_service(migrated_url) as service, connect(service.address) as client:
        await compared(client, client)


async def compared(writing: Client, reading: Client) -> None:
    random, floors = Random(3), list[str]()
    session = await writing.new_session()
    root = (await writing.call("ListBranches", session_id=session)).branches[0].head_floor_id
    await writing.call("CreateBranch", session_id=session, name="side", floor_id=root)
    for _ in range(STEPS):
        await changed(writing, random, session, floors)
        for branch in ("main", "side"):
            expected = await walked(writing, session, branch)
            assert await listed(reading, random, session, branch) == expected
    counts = [position.output_count for position in (await listed(reading, random, session, "main"))[1]]
    assert max(counts) > 1, "the program forked"


async def test_a_kept_path_of_a_deleted_session_is_not_shown(migrated_url: str) -> None:
    async with running_service(migrated_url) as service, connect(service.address) as client:
        session = await client.new_session()
        await client.call("AppendFloor", session_id=session, input=[user("secret")])
        for _ in range(2):
            assert len(await client.path_ids(session)) == 1
        await client.call("DeleteSession", session_id=session)
        assert await client.refused("ListPath", session_id=session) == Refusal("NOT_FOUND", "NOT_FOUND", {})


async def test_readers_at_once_get_the_same(migrated_url: str) -> None:
    async with running_service(migrated_url) as service, connect(service.address) as client:
        session = await client.new_session()
        for number in range(70):
            await client.call("AppendFloor", session_id=session, input=[user(f"{number}")])
        found = await asyncio.gather(
            *(client.call("ListPath", session_id=session, page_size=1000) for _ in range(20))
        )
        assert all(one == found[0] for one in found)
        assert len(found[0].floors) == 70


async def test_a_sibling_that_commits_late_changes_the_positions_that_are_kept(migrated_url: str) -> None:
    async with running_service(migrated_url) as service, connect(service.address) as client:
        session = await client.new_session()
        here = {"session_id": session}
        first = (await client.call("AppendFloor", **here, input=[user("one")])).floor.floor_id
        await client.call("CreateBranch", **here, name="side", floor_id=first)
        opened = (await client.call("OpenFloor", **here, input=[user("late")])).floor.floor_id
        # The open floor has the place below the first: this one goes beside it, alone until that commits.
        await client.call("AppendFloor", **here, branch="side", input=[user("beside")])

        async def counted() -> list[int]:
            path = await client.call("ListPath", **here, branch="side")
            return [position.input_count for position in path.positions]

        assert [await counted(), await counted()] == [[1, 1], [1, 1]]
        await client.call("CommitFloor", floor_id=opened)
        assert await counted() == [1, 2]
        await client.call("EditFloor", floor_id=first, input=[user("1")], output=[assistant("2")])
        assert await counted() == [2, 2]
