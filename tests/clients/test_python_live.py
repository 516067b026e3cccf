"""Both Python clients against a real service, through a network that is cut again and again."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from stemma.conversation.v1 import event_service_pb2, floor_service_pb2, run_service_pb2, session_service_pb2
from stemma.kernel.v1 import message_pb2, run_pb2
from stemma_client import AsyncStemma, Retries, Stemma, errors

from tests.cli.proxy import Proxy, proxied
from tests.conftest import DatabaseFactory
from tests.support.client import user
from tests.support.service import running_service

WORDS = " ".join(f"word{number}" for number in range(40))
SCRIPT = f'{{"replies": [{{"text": "{WORDS}", "delay_ms": 5}}]}}'
QUICK = Retries(first=0.01, most=0.02)


@pytest.fixture
async def proxy(database_factory: DatabaseFactory) -> AsyncIterator[Proxy]:
    with database_factory("sqlite") as url:
        async with running_service(url, script=SCRIPT) as service, proxied(service.address) as made:
            yield made


def joined(events: list[run_pb2.RunEvent]) -> str:
    return "".join(event.text_delta.text for event in events)


def respond_request(session_id: str) -> run_service_pb2.RespondRequest:
    request = run_service_pb2.RespondRequest(session_id=session_id)
    request.input.messages.append(user("count"))
    return request


def check_run(events: list[run_pb2.RunEvent]) -> None:
    assert joined(events) == WORDS
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert events[-1].WhichOneof("event") == "floor_committed"


async def test_the_asynchronous_client_loses_nothing_in_a_bad_network(proxy: Proxy) -> None:
    async with AsyncStemma(proxy.address, retries=QUICK) as stemma:
        session = (await stemma.sessions.CreateSession(session_service_pb2.CreateSessionRequest())).session
        watched = asyncio.create_task(until_committed(stemma.watch("default")))
        events: list[run_pb2.RunEvent] = []
        async for event in stemma.respond(respond_request(session.session_id)):
            events.append(event)
            if event.seq % 5 == 0:
                proxy.cut()
        check_run(events)
        async with asyncio.timeout(20):
            seen = await watched
        assert [event.position for event in seen] == list(range(1, len(seen) + 1))
        path = await stemma.floors.ListPath(floor_service_pb2.ListPathRequest(session_id=session.session_id))
        assert len(path.floors) == 1


async def until_committed(events: AsyncIterator[event_service_pb2.Event]) -> list[event_service_pb2.Event]:
    seen = []
    async for event in events:
        seen.append(event)
        if event.type == "floor.committed":
            break
    return seen


async def test_the_synchronous_client_loses_nothing_in_a_bad_network(proxy: Proxy) -> None:
    loop = asyncio.get_running_loop()

    def story() -> tuple[list[run_pb2.RunEvent], Any]:
        with Stemma(proxy.address, retries=QUICK) as stemma:
            session = stemma.sessions.CreateSession(session_service_pb2.CreateSessionRequest()).session
            events = list(cutting(stemma.respond(respond_request(session.session_id))))
            loop.call_soon_threadsafe(proxy.cut)
            path = stemma.floors.ListPath(floor_service_pb2.ListPathRequest(session_id=session.session_id))
            return events, path

    def cutting(events: Iterator[run_pb2.RunEvent]) -> Iterator[run_pb2.RunEvent]:
        for event in events:
            if event.seq % 5 == 0:
                loop.call_soon_threadsafe(proxy.cut)
            yield event

    events, path = await asyncio.to_thread(story)
    check_run(events)
    assert len(path.floors) == 1


async def test_a_stale_head_says_which_is_the_current_one(proxy: Proxy) -> None:
    async with AsyncStemma(proxy.address) as stemma:
        session = (await stemma.sessions.CreateSession(session_service_pb2.CreateSessionRequest())).session
        root = session.root_floor_id
        turn = floor_service_pb2.AppendFloorRequest(
            session_id=session.session_id,
            expected_head=root,
            output=[message_pb2.Message(role="ROLE_ASSISTANT", parts=[{"text": {"text": "a"}}])],
        )
        first = (await stemma.floors.AppendFloor(turn)).floor
        with pytest.raises(errors.HeadMoved) as refused:
            await stemma.floors.AppendFloor(turn)
        assert refused.value.current_head == first.floor_id


async def test_a_service_that_is_away_is_waited_for_and_then_named() -> None:
    async with AsyncStemma("127.0.0.1:1", retries=QUICK) as stemma:
        with pytest.raises(errors.Unavailable) as refused:
            await stemma.sessions.GetSession(session_service_pb2.GetSessionRequest(), timeout=0.3)
    assert refused.value.address == "127.0.0.1:1"
