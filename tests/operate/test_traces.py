"""One trace from the gateway through the draft service to the ledger, and nobody's words in it."""

import sys
import uuid
from collections.abc import Iterator

import httpx
import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from kernel.telemetry.tracing import NoTraces, Traces, traces
from tests.conftest import DatabaseFactory
from tests.drafts.conftest import draft_databases
from tests.drafts.stage import on_stage
from tests.gateway.harness import serve_gateway

__all__ = ["draft_databases"]

CANARY = "canary words"
ASKED = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.fixture
def urls(database_factory: DatabaseFactory) -> Iterator[tuple[str, str]]:
    with database_factory("sqlite") as canon, database_factory("sqlite", migrated=False) as drafts:
        yield canon, drafts


@pytest.fixture
def exported() -> Iterator[InMemorySpanExporter]:
    exporter = InMemorySpanExporter()
    with traces.through("test", SimpleSpanProcessor(exporter)):
        yield exporter
    assert not traces.on


async def test_an_export_is_one_trace_from_rest_to_the_ledger(
    urls: tuple[str, str], exported: InMemorySpanExporter
) -> None:
    async with (
        on_stage(*urls) as stage,
        serve_gateway(stage.canon.address, draft=stage.draft.service.address) as gateway,
        httpx.AsyncClient(base_url=gateway, trust_env=False, timeout=20) as http,
    ):
        session_id = await stage.session(1)
        draft = await stage.draft.draft(session_id=session_id)
        await stage.draft.respond(draft.draft_id, CANARY)
        exported.clear()
        body = {
            "requestId": str(uuid.uuid4()),
            "target": {"sessionId": session_id, "placement": "PLACEMENT_NEXT_FLOOR"},
            "parts": [{"outputPage": {}}],
            "reason": CANARY,
        }
        headers = {"traceparent": ASKED}
        answer = await http.post(f"/v1/drafts/{draft.draft_id}:export", json=body, headers=headers)
        assert answer.status_code == 200, answer.text
    spans = [span for span in exported.get_finished_spans() if trace_of(span) == ASKED[3:35]]
    assert names(spans) == [
        "POST /v1/drafts/{draft_id}:export",
        "stemma.draft.v1.DraftService/ExportDraft",
        "StageWrite",
        "stemma.conversation.v1.StagedWriteService/StageWrite",
    ]
    said = " ".join(span.to_json() for span in exported.get_finished_spans())
    assert CANARY not in said
    assert session_id not in said


async def test_a_run_is_below_its_call(urls: tuple[str, str], exported: InMemorySpanExporter) -> None:
    async with on_stage(*urls) as stage:
        session_id = await stage.session(1)
        await stage.client.respond(session_id, input={"messages": []})
        await stage.canon.service.generation.hub.wait_idle()
    found = {span.name: span for span in exported.get_finished_spans()}
    run, call = found["run"], found["stemma.conversation.v1.RunService/Respond"]
    assert run.parent is not None
    assert run.parent.span_id == call.context.span_id
    assert run.attributes == {"stemma.outcome": "floorcommitted"}


def trace_of(span: ReadableSpan) -> str:
    return f"{span.context.trace_id:032x}"


def names(spans: list[ReadableSpan]) -> list[str]:
    """From the outermost inwards."""
    below = {span.parent.span_id if span.parent else 0: span for span in spans}
    at, found = int(ASKED[36:52], 16), []
    while at in below:
        found.append(below[at].name)
        at = below[at].context.span_id
    assert len(found) == len(spans)
    return found


def test_without_a_collector_nothing_is_traced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_ENDPOINT", raising=False)
    own = Traces()
    with own.through("test"), own.serving("x", {}) as span:
        assert not own.on
        assert span.trace_id == ""
        assert own.headers() == ()


def test_a_collector_without_what_sends_to_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.resources", None)
    with pytest.raises(NoTraces, match=r"stemma\[traces\]"), Traces().through("test"):
        raise AssertionError
