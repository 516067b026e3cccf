"""Envoy with our configuration and our gateway answer REST alike: they read the same annotations."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import httpx
import pytest
import pytest_asyncio

from tests.bad_inputs.rest import BINDINGS, Binding
from tests.bad_inputs.test_over_rest import parts
from tests.bad_inputs.world import World, a_world, unknown
from tests.conftest import DatabaseFactory
from tests.deploy.front import address_of, front_door
from tests.gateway.harness import serve_gateway
from tests.support.client import METHODS, Client

pytestmark = pytest.mark.asyncio(loop_scope="module")

UNARY = tuple(binding for binding in BINDINGS if not METHODS[binding.name].server_streaming)
WITH_ID = tuple(binding for binding in UNARY if binding.variables and binding.variables[0].endswith("_id"))


@pytest.fixture(scope="module")
def database_url(database_factory: DatabaseFactory) -> Any:
    with database_factory("sqlite") as url:
        yield url


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(database_url: str) -> AsyncIterator[World]:
    async with a_world(database_url) as world:
        yield world


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def doors(world: World, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[str, str]]:
    """The gateway's base URL, and Envoy's."""
    service = world.service.address
    async with serve_gateway(service) as gateway:
        behind = {"conversation": [service], "draft": [service], "gateway": [address_of(gateway)]}
        async with front_door(Path(tmp_path_factory.mktemp("envoy")), behind) as front:
            yield gateway, f"http://{front.address}"


async def both(doors: tuple[str, str], binding: Binding, target: str, body: bytes) -> list[tuple[int, Any]]:
    """The request's answers through each, as status and content."""
    found = []
    for base_url in doors:
        headers = {"content-type": "application/json"} if binding.body else {}
        async with httpx.AsyncClient(base_url=base_url, trust_env=False, timeout=20) as client:
            answer = await client.request(binding.verb, target, content=body, headers=headers)
        found.append((answer.status_code, answer.json()))
    return found


async def test_every_unary_form_is_answered_alike(world: World, doors: tuple[str, str]) -> None:
    """A write is sent twice, once through each: the second is the first one's repeat (R1)."""
    different, answered = {}, 0
    for binding in UNARY:
        target, body = parts(world, binding)
        through_gateway, through_envoy = await both(doors, binding, target, body)
        answered += through_gateway[0] == 200
        if through_gateway != through_envoy:
            different[f"{binding.verb} {target}"] = (through_gateway, through_envoy)
    assert different == {}
    # The samples are right, one by one; what an earlier one changed may refuse a later one.
    assert answered > len(UNARY) / 2, answered


async def test_refusals_are_alike(world: World, doors: tuple[str, str]) -> None:
    different = {}
    for binding in WITH_ID:
        for given in (unknown(), "no-id"):
            target, body = parts(world, binding, **{binding.variables[0]: given})
            through_gateway, through_envoy = await both(doors, binding, target, body)
            assert through_gateway[0] in {400, 404}
            if through_gateway != through_envoy:
                different[f"{binding.verb} {target}"] = (through_gateway, through_envoy)
    assert different == {}


async def test_what_is_not_transcoded_is_the_gateways(doors: tuple[str, str]) -> None:
    _, envoy = doors
    async with httpx.AsyncClient(base_url=envoy, trust_env=False, timeout=20) as client:
        assert (await client.get("/healthz")).status_code == 200
        assert "Stemma" in (await client.get("/openapi.json")).json()["info"]["title"]
        assert (await client.get("/console/")).headers["content-type"].startswith("text/html")


async def test_events_keep_their_ids_to_resume_by(world: World, doors: tuple[str, str]) -> None:
    _, envoy = doors
    content = json.dumps({"request_id": unknown(), "branch": "long", "input": {"messages": []}})
    headers = {"accept": "text/event-stream", "content-type": "application/json"}
    path = f"/v1/sessions/{world.places.session}:respond"
    async with httpx.AsyncClient(base_url=envoy, trust_env=False, timeout=20) as client:
        answer = await client.post(path, content=content, headers=headers)
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert "id: 1.1\n" in answer.text.replace("\r\n", "\n")
    assert "floorCommitted" in answer.text


async def test_grpc_goes_through_with_its_errors_whole(world: World, doors: tuple[str, str]) -> None:
    _, envoy = doors
    async with grpc.aio.insecure_channel(address_of(envoy)) as channel:
        client = Client(channel)
        found = await client.call("GetSession", session_id=world.places.session)
        assert found.session.session_id == world.places.session
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await client.call("GetSession", session_id=unknown())
    assert refused.value.code() is grpc.StatusCode.NOT_FOUND
    assert any(key == "grpc-status-details-bin" for key, _ in refused.value.trailing_metadata() or ())
