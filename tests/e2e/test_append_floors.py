"""AppendFloors: many appends up one stream, each answered by itself."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Sequence
from typing import Any

import grpc
import pytest
from stemma.conversation.v1 import floor_service_pb2 as pb

from conversation_service.rpc.floor_stream import FloorStream, StreamLimits
from tests.support.client import Client, Refusal, assistant, connect, refusal_of, request_for, user
from tests.support.service import running_service

METHOD = "/stemma.conversation.v1.FloorService/AppendFloors"


def item(session_id: str, text: str, **fields: Any) -> pb.AppendFloorsRequest:
    fields = {"request_id": str(uuid.uuid4()), **fields}
    return pb.AppendFloorsRequest(
        session_id=session_id, input=[user(text)], output=[assistant(f"to {text}")], **fields
    )


def opened(address_channel: grpc.aio.Channel, items: Any) -> Any:
    call = address_channel.stream_stream(
        METHOD,
        request_serializer=pb.AppendFloorsRequest.SerializeToString,
        response_deserializer=pb.AppendFloorsResponse.FromString,
    )
    return call(items)


async def answers(address: str, items: Any) -> list[pb.AppendFloorsResponse]:
    async with grpc.aio.insecure_channel(address) as channel:
        return [answer async for answer in opened(channel, items)]


async def broken_off(call: Any) -> tuple[list[pb.AppendFloorsResponse], Refusal]:
    """What a stream that ends with an error answers before, and the error."""
    found: list[pb.AppendFloorsResponse] = []
    try:
        async for answer in call:
            found.append(answer)
    except grpc.aio.AioRpcError as error:
        return found, refusal_of(error)
    raise AssertionError("the stream ended well")


def by_id(found: Sequence[pb.AppendFloorsResponse]) -> dict[str, pb.AppendFloorsResponse]:
    assert len({answer.request_id for answer in found}) == len(found)
    return {answer.request_id: answer for answer in found}


async def path_texts(client: Client, session_id: str) -> list[str]:
    floors = await client.everything("ListPath", "floors", session_id=session_id)
    return [floor.input_page.messages[0].parts[0].text.text for floor in floors]


async def test_items_of_a_session_go_in_their_order_and_sessions_side_by_side(migrated_url: str) -> None:
    async with running_service(migrated_url) as service, connect(service.address) as client:
        sessions = [await client.new_session() for _ in range(8)]
        items = [item(one, f"{turn}") for turn in range(12) for one in sessions]
        found = by_id(await answers(service.address, items))
        assert set(found) == {one.request_id for one in items}
        for one in sessions:
            assert await path_texts(client, one) == [f"{turn}" for turn in range(12)]
        for sent in items:
            answer = found[sent.request_id]
            stored = await client.call("GetFloor", floor_id=answer.floor.floor_id)
            assert answer.floor == stored.floor
            assert (answer.branch.head_floor_id, answer.branch.name) == (answer.floor.floor_id, "main")


async def test_a_repeat_of_a_whole_stream_gets_the_same_answers(migrated_url: str) -> None:
    async with running_service(migrated_url) as service, connect(service.address) as client:
        session = await client.new_session()
        items = [item(session, "0"), *(item(session, f"{n}", after_previous=True) for n in range(1, 6))]
        first = by_id(await answers(service.address, items))
        assert by_id(await answers(service.address, items)) == first
        assert await path_texts(client, session) == [f"{n}" for n in range(6)]


async def test_an_item_that_fails_fails_alone_and_what_was_to_follow_it(migrated_url: str) -> None:
    async with running_service(migrated_url) as service, connect(service.address) as client:
        session, other = await client.new_session(), await client.new_session()
        good = item(session, "good")
        stale = item(session, "stale", expected_head=str(uuid.uuid4()))
        after = item(session, "after", after_previous=True)
        after_that = item(session, "after that", after_previous=True)
        elsewhere = item(other, "elsewhere")
        later = item(session, "later")
        found = by_id(await answers(service.address, [good, stale, after, after_that, elsewhere, later]))
        head = found[good.request_id].floor.floor_id
        error = found[stale.request_id].error
        assert (error.code, error.reason) == (10, "HEAD_MOVED")
        assert dict(error.metadata) == {"branch": "main", "current_head": head}
        for one in (after, after_that):
            error = found[one.request_id].error
            assert (error.code, error.reason) == (10, "PREVIOUS_FAILED")
        assert found[later.request_id].floor.parent_floor_id == head
        assert await path_texts(client, session) == ["good", "later"]
        assert await path_texts(client, other) == ["elsewhere"]


async def test_a_bad_item_is_answered_with_its_fields_and_the_stream_goes_on(migrated_url: str) -> None:
    async with running_service(migrated_url) as service, connect(service.address) as client:
        session = await client.new_session()
        first = item(session, "first", after_previous=True)
        both = item(session, "both", after_previous=True, expected_head=str(uuid.uuid4()))
        empty = pb.AppendFloorsRequest(request_id=str(uuid.uuid4()), session_id=session)
        nameless = item(session, "nameless", request_id="x" * 300)
        nowhere = item(str(uuid.uuid4()), "nowhere")
        good = item(session, "good")
        found = await answers(service.address, [first, both, empty, nameless, nowhere, good])
        errors = {answer.request_id: (answer.error.code, answer.error.message) for answer in found}
        assert errors[first.request_id] == (
            3,
            "after_previous: no item of this session and branch came before on this stream",
        )
        assert errors[both.request_id] == (3, "after_previous: not together with expected_head")
        assert errors[empty.request_id] == (3, "input: a floor needs an input, an output or effects")
        assert errors["x" * 64][0] == 3
        assert errors[nowhere.request_id] == (5, "There is no such session.")
        assert errors[good.request_id] == (0, "")
        assert await path_texts(client, session) == ["good"]


async def test_it_is_a_write_of_its_own_name(migrated_url: str) -> None:
    async with running_service(migrated_url) as service, connect(service.address) as client:
        session, given = await client.new_session(), str(uuid.uuid4())
        (made,) = await answers(service.address, [item(session, "a", request_id=given)])
        (reused,) = await answers(service.address, [item(session, "b", request_id=given)])
        assert (reused.error.code, reused.error.reason) == (6, "REQUEST_ID_REUSED")
        alone = request_for("AppendFloor", session_id=session, input=[user("c")], request_id=given)
        assert (await client.send("AppendFloor", alone)).floor.parent_floor_id == made.floor.floor_id


async def test_bad_input_51_streams_that_are_none(migrated_url: str) -> None:
    async with running_service(migrated_url) as service, connect(service.address) as client:
        session = await client.new_session()
        async with grpc.aio.insecure_channel(service.address) as channel:
            found, refused = await broken_off(opened(channel, []))
            assert (found, refused.code) == ([], "INVALID_ARGUMENT")
            bytes_up: Any = channel.stream_stream(
                METHOD, response_deserializer=pb.AppendFloorsResponse.FromString
            )
            raw = [item(session, "whole").SerializeToString(), b"\xff\xff"]
            found, refused = await broken_off(bytes_up(raw))
            assert ([one.floor.session_id for one in found], refused.code) == ([session], "INVALID_ARGUMENT")
        assert await path_texts(client, session) == ["whole"]


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers with limits that a test can reach."""
    make = FloorStream.__init__
    limits = StreamLimits(items=20, waiting=2, bytes=100, silence=0.2)
    monkeypatch.setattr(FloorStream, "__init__", lambda self, env: make(self, env, limits))


@pytest.mark.usefixtures("few")
async def test_bad_input_51_too_many_items_and_silence(migrated_url: str) -> None:
    async with running_service(migrated_url) as service, connect(service.address) as client:
        session = await client.new_session()
        async with grpc.aio.insecure_channel(service.address) as channel:
            flood = [item(session, f"{n}") for n in range(21)]
            found, refused = await broken_off(opened(channel, flood))
            assert (refused.code, refused.reason) == ("RESOURCE_EXHAUSTED", "LIMIT")
            assert len(found) == 20, "what was read before is answered"

            async def silent() -> AsyncIterator[pb.AppendFloorsRequest]:
                yield item(session, "and then")
                await asyncio.Event().wait()

            found, refused = await broken_off(opened(channel, silent()))
            assert ([one.floor.session_id for one in found], refused.code) == ([session], "DEADLINE_EXCEEDED")
        assert len(await path_texts(client, session)) == 21


async def test_a_client_that_leaves_takes_nothing_with_it(migrated_url: str) -> None:
    """What was sent is done whole or not at all, in order, and the next stream goes on (R3)."""
    async with running_service(migrated_url) as service, connect(service.address) as client:
        session = await client.new_session()
        items = [item(session, f"{n}") for n in range(40)]
        async with grpc.aio.insecure_channel(service.address) as channel:
            call = opened(channel, items)
            await call.read()
            call.cancel()
        await service.service.store.idle()
        done = await path_texts(client, session)
        assert done == [f"{n}" for n in range(len(done))]
        assert done
        found = by_id(await answers(service.address, items))
        assert not [answer for answer in found.values() if answer.HasField("error")]
        assert await path_texts(client, session) == [f"{n}" for n in range(40)]


async def test_effects_come_with_items_and_are_shown_on_the_path(migrated_url: str) -> None:
    async with running_service(migrated_url) as service, connect(service.address) as client:
        session = await client.new_session()
        effects = {"variables": [{"key": "hp", "value_json": "9007199254740993"}]}
        items = [item(session, "plain"), item(session, "hit", effects=effects, after_previous=True)]
        found = by_id(await answers(service.address, items))
        made = found[items[1].request_id].floor
        assert made.effects.variables[0].value_json == "9007199254740993"
        for _ in range(2):
            path = await client.call("ListPath", session_id=session)
            assert path.floors[-1] == made
        state = await client.call("GetState", session_id=session)
        assert [(one.key, one.value_json) for one in state.variables] == [("hp", "9007199254740993")]
