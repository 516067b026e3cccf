"""Bad inputs 45 and 48 of the list, for drafts: answers to calls that are none, and providers that fail.

What a provider can do in all is in tests/generation/test_bad_input_48.py.
"""

from typing import Any

import grpc
import pytest
from stemma.kernel.v1 import floor_pb2, run_pb2

from kernel.generation.openai_compatible import OpenAICompatibleProvider, OpenAISettings
from kernel.generation.retries import Retries
from tests.bad_inputs.test_providers import SHOWN
from tests.drafts import life
from tests.drafts.stage import Stage
from tests.generation.endpoint import endpoint
from tests.generation.test_bad_input_48 import QUICK
from tests.support.client import request_for, texts, user
from tests.tools_runs.acts import calls, decision, first, result, then

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def waiting(stage: Stage) -> dict[str, str]:
    """A run of a draft that waits for the answer to `a`, and for somebody to approve `b`."""
    project = (await stage.client.call("CreateProject", title="p", config={"tools": life.TOOLS})).project
    draft_id = (await stage.draft.draft(project_id=project.project_id)).draft_id
    part = stage.draft.part(first(calls("ask", "a", n=1), calls("roll_dice", "b", dice="d6")), then())
    frames = await stage.draft.frames(draft_id, input=part.input)
    assert frames[-1].WhichOneof("event") == "requires_action"
    return {"draft_id": draft_id, "run_id": frames[0].run_id}


async def test_bad_input_45(stage: Stage) -> None:
    """An unknown call id, a second result, a result of 10 MiB; and the run waits on as it did."""
    run = await waiting(stage)

    async def refused(**fields: Any) -> tuple[str, str]:
        found = await stage.draft.refused("SubmitToolResults", **{**run, **fields})
        return found.code, found.reason

    before = (await stage.draft.call("GetRun", **run)).run
    assert before.state == run_pb2.RUN_STATE_WAITING
    assert await refused(results=[result("nobody's")]) == ("NOT_FOUND", "NOT_FOUND")
    assert await refused(approvals=[decision("nobody's")]) == ("NOT_FOUND", "NOT_FOUND")
    assert await refused(results=[result("a"), result("nobody's")]) == ("NOT_FOUND", "NOT_FOUND")
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await stage.draft.call("SubmitToolResults", **run, results=[result("a", "x" * (10 << 20))])
    # The transport reads no such request.
    assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    too_long = result("a", "x" * ((1 << 20) + 1))
    assert await refused(results=[too_long]) == ("RESOURCE_EXHAUSTED", "LIMIT")
    other = (await waiting(stage))["draft_id"]
    assert await refused(draft_id=other, results=[result("a")]) == ("NOT_FOUND", "NOT_FOUND")
    assert (await stage.draft.call("GetRun", **run)).run == before
    await stage.draft.call("SubmitToolResults", **run, results=[result("a")])
    assert await refused(results=[result("a")]) == ("ALREADY_EXISTS", "ALREADY_DECIDED")
    await stage.draft.call("SubmitToolResults", **run, approvals=[decision("b")])
    end = (await stage.client_of_drafts.frames("draft.AttachRun", request_for("draft.AttachRun", **run)))[-1]
    assert end.WhichOneof("event") == "floor_committed"
    assert await refused(results=[result("a")]) == ("ALREADY_EXISTS", "ALREADY_DECIDED")


async def test_bad_input_45_after_the_drafts_end(stage: Stage) -> None:
    """A run that waited ends with its draft, and hears no answer any more."""
    run = await waiting(stage)
    await stage.draft.call("DiscardDraft", draft_id=run["draft_id"])
    assert (await stage.draft.call("GetRun", **run)).run.state == run_pb2.RUN_STATE_CANCELLED
    late = await stage.draft.refused("SubmitToolResults", **run, results=[result("a")])
    assert (late.code, late.reason, late.metadata) == (
        "FAILED_PRECONDITION",
        "DRAFT_NOT_ACTIVE",
        {"state": "discarded"},
    )


@pytest.fixture(scope="session")
def shared_engine() -> str:
    """What a provider does is the same to both."""
    return "sqlite"


@pytest.mark.parametrize("case", SHOWN)
async def test_bad_input_48(stage: Stage, case: str) -> None:
    """The run ends FAILED with its reason, the stream ends OK, and the draft goes on."""
    behaviour, reason, partial = SHOWN[case]
    draft_id = (await stage.draft.draft(session_id=await stage.session(0))).draft_id
    async with endpoint(behaviour) as server:
        retries = Retries(attempts=2, first_seconds=0.001)
        provider = OpenAICompatibleProvider(
            OpenAISettings(server.base_url, model="m", timeouts=QUICK, retries=retries)
        )
        stage.draft.service.generation.providers.use(provider)
        frames = await stage.draft.frames(
            draft_id, input={"messages": [user("hi")]}, overrides={"model": {"provider": "openai"}}
        )
        await provider.aclose()
    failed = frames[-1].failed
    assert (failed.reason, failed.floor.state) == (reason, floor_pb2.FLOOR_STATE_FAILED)
    assert "SECRET" not in str(failed)
    assert texts(failed.floor.output_page) == ([partial] if partial else [])
    # A page that broke off is there to be read, and not to be exported.
    refused = await stage.draft.refused(
        "ExportDraft", draft_id=draft_id, target={"placement": 2}, parts=[{"output_page": {}}]
    )
    assert refused.reason == "NOT_EXPORTABLE"
    again = await stage.draft.respond(draft_id, regenerate={"floor_id": failed.floor.floor_id})
    assert texts(again.input_page) == ["hi"]
