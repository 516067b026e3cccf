"""Many writers at once (T3, R1). Only rounds in which the calls overlapped count."""

import asyncio
import uuid
from typing import Any

from google.protobuf.message import Message
from stemma.conversation.v1 import floor_service_pb2
from stemma.kernel.v1 import floor_pb2

from tests.e2e.crowd import CHANNELS, WRITERS, Call, rounds, writers
from tests.support.client import Refusal, assistant, connect, request_for, user
from tests.support.service import running_service


def turn(number: int, **fields: Any) -> Message:
    return request_for(
        "AppendFloor", input=[user(f"from {number}")], output=[assistant(f"to {number}")], **fields
    )


def floors_of(calls: list[Call]) -> list[floor_pb2.Floor]:
    answers = [call.answer for call in calls if isinstance(call.answer, bytes)]
    return [floor_service_pb2.AppendFloorResponse.FromString(raw).floor for raw in answers]


async def test_of_32_writers_on_one_head_one_wins(migrated_url: str) -> None:
    async with running_service(migrated_url) as service, writers(service.address) as many:
        created = await many.one.call("CreateSession")
        session, path = created.session.session_id, [created.branch.head_floor_id]

        async def one_round() -> list[Call]:
            fields = {"session_id": session, "expected_head": path[-1]}
            calls = await many.at_once("AppendFloor", [turn(number, **fields) for number in range(WRITERS)])
            (winner,) = floors_of(calls)
            assert winner.parent_floor_id == path[-1]
            path.append(winner.floor_id)
            lost = [call.answer for call in calls if isinstance(call.answer, Refusal)]
            moved = {"branch": "main", "current_head": winner.floor_id}
            assert lost == [Refusal("ABORTED", "HEAD_MOVED", moved)] * (WRITERS - 1)
            assert await many.one.path_ids(session) == path[1:]
            return calls

        await rounds(service.service.store, "append", one_round)


async def test_edits_and_regenerations_race_like_any_writer(migrated_url: str) -> None:
    async with running_service(migrated_url) as service, writers(service.address) as many:
        session = await many.one.new_session()
        first = (await many.one.send("AppendFloor", turn(0, session_id=session))).floor.floor_id
        heads = [first]

        async def one_round() -> list[Call]:
            fields = {"session_id": session, "expected_head": heads[-1], "floor_id": first}
            edits = [
                request_for("EditFloor", input=[user("e")], output=[assistant("e")], **fields)
                for _ in range(WRITERS // 2)
            ]
            again = [
                request_for("RegenerateFloor", output=[assistant("r")], **fields) for _ in range(WRITERS // 2)
            ]
            both = await asyncio.gather(
                many.at_once("EditFloor", edits), many.at_once("RegenerateFloor", again)
            )
            calls = [call for side in both for call in side]
            (winner,) = floors_of(calls)
            assert winner.depth == 1
            heads.append(winner.floor_id)
            lost = [call.answer for call in calls if isinstance(call.answer, Refusal)]
            moved = {"branch": "main", "current_head": winner.floor_id}
            assert lost == [Refusal("ABORTED", "HEAD_MOVED", moved)] * (WRITERS - 1)
            return calls

        await rounds(service.service.store, "write", one_round)
        siblings = await many.one.everything("ListSiblings", "floors", floor_id=first)
        assert [floor.floor_id for floor in siblings] == heads


async def test_one_request_id_32_times_at_once_is_one_floor(migrated_url: str) -> None:
    asked: list[tuple[Message, bytes]] = []
    async with running_service(migrated_url) as service, writers(service.address) as many:
        session = await many.one.new_session()

        async def one_round() -> list[Call]:
            request = turn(len(asked), session_id=session)
            calls = await many.at_once("AppendFloor", [request] * WRITERS)
            answers = {call.answer for call in calls if isinstance(call.answer, bytes)}
            assert [call.answer for call in calls if isinstance(call.answer, Refusal)] == []
            (answer,) = answers
            asked.append((request, answer))
            assert len(await many.one.path_ids(session)) == len(asked)
            return calls

        await rounds(service.service.store, "append", one_round)
        path = await many.one.path_ids(session)

    async with running_service(migrated_url) as service, connect(service.address) as client:
        for request, answer in asked:
            assert await client.raw("AppendFloor", request) == answer
        assert await client.path_ids(session) == path
        changed = type(asked[0][0])()
        changed.CopyFrom(asked[0][0])
        changed.input.append(user("more"))
        reused = await client.refusal("AppendFloor", changed)
        assert (reused.code, reused.reason) == ("ALREADY_EXISTS", "REQUEST_ID_REUSED")


async def test_without_an_expected_head_all_32_succeed_in_a_line(migrated_url: str) -> None:
    async with running_service(migrated_url) as service, writers(service.address) as many:
        created = await many.one.call("CreateSession")
        session, line = created.session.session_id, [created.branch.head_floor_id]

        async def one_round() -> list[Call]:
            calls = await many.at_once(
                "AppendFloor", [turn(number, session_id=session) for number in range(WRITERS)]
            )
            floors = sorted(floors_of(calls), key=lambda floor: floor.depth)
            assert len(floors) == WRITERS
            for floor in floors:
                assert floor.parent_floor_id == line[-1]
                line.append(floor.floor_id)
            assert await many.one.path_ids(session) == line[1:]
            return calls

        await rounds(service.service.store, "append", one_round)
        moves = await many.one.everything("ListHeadMoves", "head_moves", session_id=session, branch="main")
        assert [move.to_floor_id for move in reversed(moves)] == line[1:]


async def test_one_respond_sent_many_times_at_once_is_one_run(migrated_url: str) -> None:
    async with running_service(migrated_url) as service, writers(service.address) as many:
        session = await many.one.new_session()
        request = request_for(
            "Respond", session_id=session, request_id=str(uuid.uuid4()), input={"messages": [user("hello")]}
        )
        runs = await asyncio.gather(*(many.one.frames("Respond", request) for _ in range(CHANNELS)))
        late = await many.one.frames("Respond", request)
        ends = {frames[-1].SerializeToString(deterministic=True) for frames in [*runs, late]}
        assert len(ends) == 1
        floor = late[-1].floor_committed.floor
        assert await many.one.path_ids(session) == [floor.floor_id]
        assert len(service.sent) == 1
