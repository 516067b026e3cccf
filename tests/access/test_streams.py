"""A stream goes on only while its caller may have it."""

import asyncio
from collections.abc import AsyncIterator

import grpc
import pytest
import pytest_asyncio
from stemma.conversation.v1 import floor_service_pb2 as pb

from kernel.rpc import policy
from tests.access.stage import AccessStage, new_key
from tests.support.client import Client, refusal_of, request_for, user

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(loop_scope="session")
async def soon(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[None]:
    """The look comes each tenth of a second."""
    monkeypatch.setattr(policy, "RECHECK", 0.1)
    yield


async def ended(call: grpc.aio.UnaryStreamCall) -> str:
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await to_the_end(call)
    return refusal_of(refused.value).code


async def to_the_end(call: grpc.aio.UnaryStreamCall) -> None:
    async with asyncio.timeout(20):
        while await call.read() is not grpc.aio.EOF:
            pass


async def member(stage: AccessStage, name: str, role: int = 3) -> tuple[str, Client]:
    key_id, secret = await new_key(stage.store, name)
    await stage.as_("boss").call("SetProjectMember", project_id="default", principal=name, role=role)
    return key_id, stage.client.bringing((("authorization", f"Bearer {secret}"),))


async def test_a_watcher_that_is_no_member_any_more(stage: AccessStage, soon: None) -> None:
    _, client = await member(stage, "leaver")
    call = client.stream("WatchEvents", request_for("WatchEvents", project_id="default"))
    assert await call.read() is not grpc.aio.EOF
    await stage.as_("boss").call("RemoveProjectMember", project_id="default", principal="leaver")
    assert await ended(call) == "NOT_FOUND"


async def test_a_watcher_whose_key_is_revoked(stage: AccessStage, soon: None) -> None:
    key_id, client = await member(stage, "revoked-later")
    call = client.stream("WatchEvents", request_for("WatchEvents", project_id="default"))
    assert await call.read() is not grpc.aio.EOF
    await stage.as_("admin").call("RevokeApiKey", api_key_id=key_id)
    assert await ended(call) == "UNAUTHENTICATED"


async def test_a_run_goes_on_when_its_caller_may_not_see_it_any_more(stage: AccessStage, soon: None) -> None:
    _, client = await member(stage, "talker")
    session_id = await stage.as_("boss").new_session()
    words = {"messages": [user("tell me")]}
    stage.model_goes_on.clear()
    call = client.stream("Respond", request_for("Respond", session_id=session_id, input=words))
    assert await call.read() is not grpc.aio.EOF
    await stage.as_("boss").call("RemoveProjectMember", project_id="default", principal="talker")
    assert await ended(call) == "NOT_FOUND"
    stage.model_goes_on.set()
    await stage.service.service.generation.hub.wait_idle()
    [floor] = await stage.as_("boss").everything("ListPath", "floors", session_id=session_id)
    assert floor.output_page.messages


async def test_items_of_a_stream_are_asked_about_one_by_one(stage: AccessStage) -> None:
    owner, boss = stage.as_("owner"), stage.as_("boss")
    mine = await owner.new_session()
    theirs = (await boss.call("CreateSession", project_id=stage.other_project)).session.session_id
    call = owner._channel.stream_stream(
        "/stemma.conversation.v1.FloorService/AppendFloors",
        request_serializer=lambda message: message.SerializeToString(),
    )(metadata=owner.metadata, timeout=20)
    for session_id in (mine, theirs, mine):
        await call.write(request_for("AppendFloors", session_id=session_id, input=[user("words")]))
    await call.done_writing()
    answers = [pb.AppendFloorsResponse.FromString(raw) async for raw in call]
    assert sorted(answer.error.reason for answer in answers) == ["", "", "NOT_FOUND"]
    assert await boss.path_ids(theirs) == []
    assert len(await boss.path_ids(mine)) == 2
