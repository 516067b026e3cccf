"""Three replicas of both services behind Envoy, on PostgreSQL, restarted one after the other under load."""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from stemma.conversation.v1 import admin_service_pb2, floor_service_pb2
from stemma_client import AsyncStemma

from tests.conftest import DatabaseFactory
from tests.deploy.front import Front, address_of, front_door
from tests.deploy.load import Load
from tests.deploy.replicas import Replica, replicas
from tests.gateway.harness import serve_gateway
from tests.support.service import SECRET_KEY

# A reply takes as long as a run may have to end by itself when its service stops, at most.
SCRIPT = json.dumps({"replies": [{"text": "word " * 20, "delay_ms": 20}] * 1})
REPLICAS = 3


@pytest.fixture
def databases(database_factory: DatabaseFactory) -> Iterator[list[str]]:
    """Empty ones, for the conversation services and for the draft services."""
    with (
        database_factory("postgres", migrated=False) as conversation,
        database_factory("postgres", migrated=False) as draft,
    ):
        yield [conversation, draft]


@pytest.fixture
async def services(
    databases: list[str], tmp_path: Path
) -> AsyncIterator[tuple[Front, dict[str, list[Replica]]]]:
    async with AsyncExitStack() as stack:
        common = {"STEMMA_SECRET_KEY": SECRET_KEY, "STEMMA_PROVIDER": "scripted", "STEMMA_SCRIPT": SCRIPT}
        conversation = {"STEMMA_CONVERSATION_DATABASE_URL": databases[0], **common}
        found = {
            "conversation": replicas("conversation_service", "STEMMA_CONVERSATION", conversation, REPLICAS)
        }
        await started(stack, found["conversation"])
        draft = {
            "STEMMA_DRAFT_DATABASE_URL": databases[1],
            "STEMMA_CONVERSATION": ",".join(addresses(found["conversation"])),
            **common,
        }
        found["draft"] = replicas("draft_service", "STEMMA_DRAFT", draft, REPLICAS)
        await started(stack, found["draft"])
        endpoints = {name: addresses(several) for name, several in found.items()}
        dialled = {name: ",".join(several) for name, several in endpoints.items()}
        gateway = await stack.enter_async_context(
            serve_gateway(dialled["conversation"], draft=dialled["draft"])
        )
        door = front_door(tmp_path, {**endpoints, "gateway": [address_of(gateway)]})
        yield await stack.enter_async_context(door), found


async def started(stack: AsyncExitStack, several: list[Replica]) -> None:
    # One after the other: the first one migrates.
    for replica in several:
        await replica.start()
        stack.push_async_callback(replica.stop)


def addresses(several: list[Replica]) -> list[str]:
    return [replica.address for replica in several]


async def test_a_rolling_restart_loses_nothing(services: tuple[Front, dict[str, list[Replica]]]) -> None:
    front, found = services
    async with AsyncStemma(front.address, drafts=front.address) as stemma:
        load = Load(stemma)
        async with load.running(writers=4, talkers=2) as account:
            for name, several in found.items():
                for replica in several:
                    await replica.stop()
                    await replica.start()
                    await front.until_healthy(name, REPLICAS)
        await check(stemma, load)
        print({name: len(value) for name, value in vars(account).items()})


async def check(stemma: AsyncStemma, load: Load) -> None:
    account = load.account
    assert account.positions == list(range(1, len(account.positions) + 1))
    assert account.accepted
    assert account.replies
    for seen, kept in account.replies:
        assert seen == kept
    for session_id, turns in account.turns.items():
        assert [text async for text in path(stemma, session_id)] == turns
        verified = await stemma.admin.VerifySession(
            admin_service_pb2.VerifySessionRequest(session_id=session_id)
        )
        assert not verified.problems


async def path(stemma: AsyncStemma, session_id: str) -> AsyncIterator[str]:
    """What the first message of each turn says, from the root."""
    token = ""
    while True:
        request = floor_service_pb2.ListPathRequest(session_id=session_id, page_size=1000, page_token=token)
        answer = await stemma.floors.ListPath(request)
        for floor in answer.floors:
            page = floor.input_page if floor.HasField("input_page") else floor.output_page
            yield page.messages[0].parts[0].text.text
        token = answer.next_page_token
        if not token:
            return
