"""Quotas of the services as they are: what a tenant stores, and what models take for it in a day."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import grpc
import pytest
from google.protobuf.descriptor import MethodDescriptor
from google.rpc import error_details_pb2, status_pb2

from conversation_service.domain.quotas import FREE, GENERATING
from draft_service.domain import quotas as drafts
from kernel.rpc.kinds import is_write
from kernel.rpc.quotas import Limits
from kernel.verbs.quotas import QuotaLimits, Quotas
from tests.bad_inputs.world import a_world
from tests.conftest import DatabaseFactory
from tests.drafts.stage import on_stage
from tests.runs.test_reconciliation import Held
from tests.support.client import (
    DRAFT_METHODS,
    METHODS,
    Client,
    Refusal,
    answer_of,
    assistant,
    connect,
    refusal_of,
    request_for,
    user,
)
from tests.support.service import running_service

KIB = "x" * 1_024
STORED = Refusal("RESOURCE_EXHAUSTED", "QUOTA", {"limit": "stored_bytes"})
TOKENS = Refusal("RESOURCE_EXHAUSTED", "QUOTA", {"limit": "tokens_per_day"})


def quotas_of(limits: Limits) -> Quotas:
    assert limits.quotas is not None
    return limits.quotas


async def append(client: Client, session: str) -> Any:
    return await client.call("AppendFloor", session_id=session, input=[user(KIB)], output=[assistant(KIB)])


async def until_refused(client: Client, session: str) -> tuple[int, grpc.aio.AioRpcError]:
    """-> how many appends were done, and how the next one was refused"""
    for done in range(1_000):
        try:
            await append(client, session)
        except grpc.aio.AioRpcError as error:
            return done, error
    raise AssertionError("a thousand appends were taken")


def retry_seconds(error: grpc.aio.AioRpcError) -> int | None:
    trailers = dict(error.trailing_metadata() or ())
    details = status_pb2.Status.FromString(trailers["grpc-status-details-bin"]).details
    retry = error_details_pb2.RetryInfo()
    return next((retry.retry_delay.seconds for detail in details if detail.Unpack(retry)), None)


def test_every_write_is_charged_or_free_on_purpose() -> None:
    """A new write is charged, unless somebody says why not."""
    charged = {
        "AddPage", "AcceptStagedWrite", "AppendFloor", "CreateBranch", "CreateProject", "CreateSession",
        "EditFloor", "ForkSession", "OpenFloor", "RegenerateFloor", "Respond", "RestoreConfigVersion",
        "StageWrite", "UpdateProject", "UpdateSession", "WriteState",
    }  # fmt: skip
    streaming = {name for name, method in METHODS.items() if method.client_streaming}
    assert writes(METHODS) - FREE - streaming == charged
    assert writes(DRAFT_METHODS) - drafts.FREE == {
        "CreateDraft", "AppendMessage", "Respond", "EditFloor", "RegenerateFloor", "ExportDraft",
    }  # fmt: skip
    assert streaming <= writes(METHODS) - FREE
    assert GENERATING == drafts.GENERATING == {"Respond"}


def writes(methods: dict[str, MethodDescriptor]) -> set[str]:
    return {method.name for method in methods.values() if is_write(method.name, method.input_type)}


async def test_bad_input_54_stored_bytes(migrated_url: str) -> None:
    async with (
        running_service(migrated_url, tenant_stored_bytes=20_000) as running,
        connect(running.address) as client,
    ):
        quotas = quotas_of(running.service.limits)
        session, other = await client.new_session(), await client.new_session()
        first = request_for("AppendFloor", session_id=session, input=[user("first")])
        answer = await client.raw("AppendFloor", first)
        done, error = await until_refused(client, session)
        assert 8 <= done <= 10, "two KiB each, of twenty thousand bytes"
        assert refusal_of(error) == STORED
        assert retry_seconds(error) is None, "no time helps"
        # By the rows alone: the words, and a little around them.
        await quotas.look(sum_now=True)
        assert done * 2_048 <= quotas._tenants["local"].used.stored_bytes <= done * 2_200 + 500
        # A repeat is answered as it was (R1), and what reads, moves or makes room goes on.
        assert await client.raw("AppendFloor", first) == answer
        path = await client.path_ids(session)
        await client.call("MoveHead", session_id=session, floor_id=path[0])
        await client.call("DeleteSession", session_id=session)
        await quotas.look(sum_now=True)
        await append(client, other)


async def test_a_process_that_starts_goes_by_what_was_summed(migrated_url: str) -> None:
    async with running_service(migrated_url, tenant_stored_bytes=2_000) as running:
        async with connect(running.address) as client:
            session = await client.new_session()
            await append(client, session)
        await quotas_of(running.service.limits).look(sum_now=True)
    async with (
        running_service(migrated_url, tenant_stored_bytes=2_000) as running,
        connect(running.address) as client,
    ):
        assert await client.refused("AppendFloor", session_id=session, input=[user("more")]) == STORED


async def test_a_stream_ends_at_the_quota_and_what_came_before_is_answered(migrated_url: str) -> None:
    async with (
        running_service(migrated_url, tenant_stored_bytes=20_000) as running,
        connect(running.address) as client,
    ):
        session = await client.new_session()
        call = client._channel.stream_stream(
            "/stemma.conversation.v1.FloorService/AppendFloors",
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=lambda raw: answer_of("AppendFloors", raw),
        )()
        for number in range(40):
            item = request_for("AppendFloors", session_id=session, input=[user(KIB)])
            item.after_previous = number > 0
            await call.write(item)
        await call.done_writing()
        made: list[str] = []
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await _take(call, made)
        assert refusal_of(caught.value) == STORED
        assert 15 <= len(made) <= 19
        assert await client.path_ids(session) == made, "all that was written was answered"


async def _take(call: Any, made: list[str]) -> None:
    async for answer in call:
        made.append(answer.floor.floor_id)


@pytest.fixture
def sqlite_url(database_factory: DatabaseFactory) -> Iterator[str]:
    with database_factory("sqlite") as url:
        yield url


async def test_every_write_that_stores_asks_for_the_quota(sqlite_url: str) -> None:
    """And no other call is ever refused by it."""
    async with a_world(sqlite_url, tenant_stored_bytes=10**9) as world:
        quotas_of(world.service.service.limits).limits = QuotaLimits(stored_bytes=1)
        await quotas_of(world.service.service.limits).look(sum_now=True)
        for name in (name for name in METHODS if not METHODS[name].client_streaming):
            answer = await world.ask(name, world.sample(name))
            refused = answer.code.name == "RESOURCE_EXHAUSTED" and answer.info.reason == "QUOTA"
            assert refused == (name in writes(METHODS) - FREE), (name, answer)


class Today:
    """A clock that can be set to another day."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, 18, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


async def test_bad_input_54_tokens_of_a_day(migrated_url: str) -> None:
    today = Today()
    async with (
        running_service(migrated_url, tenant_tokens_per_day=10, clock=today) as running,
        connect(running.address) as client,
    ):
        quotas = quotas_of(running.service.limits)
        session = await client.new_session()
        ask = {"session_id": session, "input": {"messages": [user("say something " * 20)]}}
        await client.frames("Respond", respond := request_for("Respond", **ask))
        await quotas.look()
        usage = (await client.call("GetFloor", floor_id=(await client.path_ids(session))[-1])).floor.usage
        assert quotas._tenants["local"].used.tokens == usage.tokens_in + usage.tokens_out > 10
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await client.frames("Respond", request_for("Respond", **ask))
        assert refusal_of(caught.value) == TOKENS
        assert retry_seconds(caught.value) == 6 * 3600
        # A repeat attaches to its run; what asks no model goes on; nothing is given back for a deletion.
        assert (await client.frames("Respond", respond))[-1].WhichOneof("event") == "floor_committed"
        await append(client, session)
        await client.call("DeleteSession", session_id=session)
        await quotas.look()
        ask["session_id"] = await client.new_session()
        assert await client.refused("Respond", **ask) == TOKENS
        today.now = datetime(2026, 3, 2, tzinfo=UTC)
        await client.frames("Respond", request_for("Respond", **ask))


async def test_what_a_model_took_until_it_was_cut_off_counts(migrated_url: str) -> None:
    """Else whoever gives up each floor in time would have its models for nothing."""
    held = Held()
    async with (
        running_service(migrated_url, tenant_tokens_per_day=1_000, gate=held) as running,
        connect(running.address) as client,
    ):
        session = await client.new_session()
        path = (await append(client, session)).floor.path_tokens
        ask = request_for(
            "Respond", session_id=session, input={"messages": [user("one two three four five")]}
        )
        stream = client.stream("Respond", ask)
        started = await stream.read()
        await held.reached.wait()
        await client.call("AbandonFloor", floor_id=started.event.floor_id)
        failed = (await client.call("GetFloor", floor_id=started.event.floor_id)).floor
        written = failed.output_page.token_count
        assert written > 0
        quotas = quotas_of(running.service.limits)
        await quotas.look()
        assert quotas._tenants["local"].used.tokens == path + written
        held.go_on.set()


async def test_drafts_have_quotas_of_their_own(migrated_url: str, draft_url: str) -> None:
    async with on_stage(migrated_url, draft_url, tenant_tokens_per_day=10) as stage:
        quotas = quotas_of(stage.draft.service.limits)
        draft = await stage.draft.draft(session_id=await stage.session())
        stage.draft.part()
        await stage.draft.respond(draft.draft_id, "go on " * 20)
        await quotas.look()
        again = {"draft_id": draft.draft_id, "input": {"messages": [user("and then?")]}}
        assert await stage.draft.refused("Respond", **again) == TOKENS
        await stage.draft.say(draft.draft_id, "I shall write it myself.")
        quotas.limits = QuotaLimits(stored_bytes=1)
        await quotas.look(sum_now=True)
        assert (
            await stage.draft.refused("AppendMessage", draft_id=draft.draft_id, message=user("x")) == STORED
        )
        await stage.draft.call("DiscardDraft", draft_id=draft.draft_id)
