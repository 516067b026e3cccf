"""Figures for Prometheus: what is counted, by which labels, and that nobody's words are among them."""

import re
import uuid
from collections.abc import AsyncIterator, Iterator

import grpc
import httpx
import pytest
import pytest_asyncio

from gateway.app import build as build_gateway
from gateway.settings import Settings as GatewaySettings
from kernel.telemetry.endpoint import CannotServeMetrics, metrics_served
from kernel.telemetry.metrics import MOST_PROJECTS, Metrics, Sent
from tests.conftest import DatabaseFactory
from tests.support.client import Client, assistant, connect, user
from tests.support.service import RunningService, running_service

pytestmark = pytest.mark.asyncio(loop_scope="module")

CANARY = "canary words"


@pytest.fixture(scope="module")
def database_url(database_factory: DatabaseFactory) -> Iterator[str]:
    with database_factory("sqlite") as url:
        yield url


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def service(database_url: str) -> AsyncIterator[RunningService]:
    async with running_service(database_url, conversation_metrics="127.0.0.1:0") as service:
        yield service


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client(service: RunningService) -> AsyncIterator[Client]:
    async with connect(service.address) as client:
        yield client


async def figures(service: RunningService) -> dict[str, float]:
    """Every sample by its name with labels."""
    async with httpx.AsyncClient(trust_env=False) as http:
        answer = await http.get(f"http://{service.service.metrics}/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert CANARY not in answer.text
    found = re.findall(r"^(stemma_\S+?(?:\{[^}]*\})?) (\S+)$", answer.text, re.MULTILINE)
    return {name: float(value) for name, value in found}


async def test_calls_runs_and_contexts_are_counted(service: RunningService, client: Client) -> None:
    created = (await client.call("CreateSession")).session
    session_id, project = created.session_id, f'{{project="{created.project_id}"}}'
    words = {"input": [user(CANARY)], "output": [assistant(CANARY)]}
    first = (await client.call("AppendFloor", session_id=session_id, **words)).floor.floor_id
    await client.call("EditFloor", floor_id=first, **words)
    await client.respond(session_id, input={"messages": [user(CANARY)]})
    with pytest.raises(grpc.aio.AioRpcError):
        await client.call("AppendFloor", session_id=session_id, expected_head=first, **words)
    found = await figures(service)
    append = "/stemma.conversation.v1.FloorService/AppendFloor"
    assert found[f'stemma_call_seconds_count{{code="OK",method="{append}"}}'] == 1
    assert found[f'stemma_call_seconds_count{{code="ABORTED",method="{append}"}}'] == 1
    assert found['stemma_refusals_total{reason="HEAD_MOVED"}'] == 1
    assert found[f"stemma_head_mismatches_total{project}"] == 1
    assert found[f"stemma_tokens_sent_total{project}"] > 0
    assert found[f"stemma_tokens_abandoned_total{project}"] > 0
    assert found[f"stemma_tokens_trimmed_total{project}"] == 0
    assert found['stemma_run_seconds_count{outcome="floorcommitted"}'] == 1
    assert found['stemma_first_word_seconds_count{provider="scripted"}'] == 1
    assert found["stemma_context_mismatches_total"] == 0
    assert found["stemma_runs_in_work"] == 0
    assert found["stemma_appends_total"] >= found["stemma_append_batches_total"] > 0


async def test_only_metrics_are_there(service: RunningService) -> None:
    async with httpx.AsyncClient(base_url=f"http://{service.service.metrics}", trust_env=False) as http:
        assert (await http.get("/")).status_code == 404
        assert (await http.post("/metrics")).status_code == 404


async def test_an_address_that_is_taken(service: RunningService) -> None:
    with pytest.raises(CannotServeMetrics, match="choose another"):
        async with metrics_served(service.service.metrics, bytes):
            raise AssertionError


async def test_projects_beyond_a_number_are_one() -> None:
    metrics = Metrics()
    for number in range(MOST_PROJECTS + 10):
        metrics.sent(Sent(f"p{number}", 1, 0, 0))
    metrics.sent(Sent("p0", 1, 0, 0))
    text = metrics.text().decode()
    assert 'stemma_tokens_sent_total{project="other"} 10.0' in text
    assert 'stemma_tokens_sent_total{project="p0"} 2.0' in text
    assert text.count("stemma_tokens_sent_total{") == MOST_PROJECTS + 1


async def test_the_gateway_counts_by_route_and_status(service: RunningService) -> None:
    settings = GatewaySettings(
        conversation=service.address, draft=service.address, gateway_metrics="127.0.0.1:0"
    )
    app = build_gateway(settings)
    transport = httpx.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", trust_env=False) as http,
    ):
        assert (await http.get("/v1/projects")).status_code == 200
        assert (await http.get(f"/v1/sessions/{uuid.uuid4()}")).status_code == 404
        async with httpx.AsyncClient(trust_env=False) as scraper:
            text = (await scraper.get(f"http://{app.state.metrics}/metrics")).text
    assert 'stemma_call_seconds_count{code="200",method="GET /v1/projects"} 1.0' in text
    assert 'stemma_call_seconds_count{code="404",method="GET /v1/sessions/{session_id}"} 1.0' in text
