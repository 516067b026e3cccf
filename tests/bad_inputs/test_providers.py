"""Bad input 48 over gRPC: the run ends FAILED with its reason, and its stream ends OK, saying so.

What a provider can do in all is in tests/generation/test_bad_input_48.py.
"""

from collections.abc import AsyncIterator, Iterator

import pytest
from stemma.kernel.v1 import floor_pb2

from kernel.generation.openai_compatible import OpenAICompatibleProvider, OpenAISettings
from kernel.generation.retries import Retries
from tests.conftest import DatabaseFactory
from tests.generation.endpoint import Behaviour, endpoint
from tests.generation.test_bad_input_48 import CASES, FLOODS, QUICK
from tests.support.client import Client, connect, request_for, texts, user
from tests.support.service import RunningService, running_service

SHOWN: dict[str, tuple[Behaviour, str, str]] = {
    **{
        name: CASES[name]
        for name in (
            *("never answers", "byte by byte", "no UTF-8", "no JSON", "half a surrogate pair"),
            *("duplicate call ids", "500 then stream", "dies after 500 tokens"),
        )
    },
    "a line without end": (*FLOODS["a line without end"], ""),
}


@pytest.fixture
def sqlite_url(database_factory: DatabaseFactory) -> Iterator[str]:
    with database_factory("sqlite") as url:
        yield url


@pytest.fixture
async def serving(sqlite_url: str) -> AsyncIterator[tuple[RunningService, Client]]:
    async with running_service(sqlite_url) as service, connect(service.address) as client:
        yield service, client


@pytest.mark.parametrize("case", SHOWN)
async def test_bad_input_48_over_grpc(serving: tuple[RunningService, Client], case: str) -> None:
    (service, client), (behaviour, reason, partial) = serving, SHOWN[case]
    async with endpoint(behaviour) as server:
        retries = Retries(attempts=2, first_seconds=0.001)
        provider = OpenAICompatibleProvider(
            OpenAISettings(server.base_url, model="m", timeouts=QUICK, retries=retries)
        )
        service.service.generation.providers.use(provider)
        session = (await client.call("CreateSession", config={"model": {"provider": "openai"}})).session
        request = request_for("Respond", session_id=session.session_id, input={"messages": [user("hi")]})
        # To its end: an error of the call would be raised here.
        frames = await client.frames("Respond", request)
        await provider.aclose()
    failed = frames[-1].failed
    assert (failed.reason, failed.floor.state) == (reason, floor_pb2.FLOOR_STATE_FAILED)
    assert "SECRET" not in str(failed)
    # What was on the screen is there to be read, and in nobody's way.
    assert texts(failed.floor.output_page) == ([partial] if partial else [])
    floor = await client.call("GetFloor", floor_id=failed.floor.floor_id)
    assert floor.floor == failed.floor
