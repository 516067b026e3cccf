"""Drafts of a source that asks its model at an endpoint of its own: said at once, and by name."""

from typing import Any

import grpc
import pytest

from tests.drafts.stage import PURPOSE, Stage
from tests.support.client import request_for

pytestmark = pytest.mark.asyncio(loop_scope="session")

MODEL = {"base_url": "https://1.1.1.1/v1", "api_key": "sk-canary", "name": "their-model", "temperature": 0.5}


async def sources(stage: Stage) -> list[dict[str, str]]:
    """A project with such a model, and sessions that have it from their project and by themselves."""
    project = (await stage.client.call("CreateProject", title="p", config={"model": MODEL})).project
    return [
        {"project_id": project.project_id},
        {"session_id": await stage.session(1, project_id=project.project_id)},
        {"session_id": await stage.session(1, config={"model": MODEL})},
    ]


async def test_a_draft_that_does_not_say_what_it_asks_is_not_made(stage: Stage) -> None:
    silent: list[dict[str, Any]] = [
        {},
        {"model": {"temperature": 1, "name": "x"}},
        {"model": {"base_url": ""}},
    ]
    for source in await sources(stage):
        for config in silent:
            request = request_for("draft.CreateDraft", purpose=PURPOSE, config=config, **source)
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await stage.client_of_drafts.send("draft.CreateDraft", request)
            assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT
            assert str(refused.value.details()).startswith(
                "config.model: must name a provider, or a base_url"
            )
        assert not (await stage.draft.call("ListDrafts", **source)).drafts


async def test_a_draft_that_says_it_speaks_with_that(stage: Stage) -> None:
    for source in await sources(stage):
        draft_id = (await stage.draft.draft(config={"model": {"provider": "scripted"}}, **source)).draft_id
        await stage.draft.respond(draft_id, "hello")
        sent = stage.draft.sent[-1].model
        assert (sent.name, sent.base_url, sent.api_key, sent.temperature) == (None, None, None, 0.5)


async def test_an_endpoint_of_the_drafts_own_is_taken(stage: Stage) -> None:
    """Nothing is asked there before a turn is."""
    (source, *_) = await sources(stage)
    own = {"model": {"base_url": "https://1.0.0.1/v1", "api_key": "sk-other", "name": "mine"}}
    assert (await stage.draft.draft(config=own, **source)).draft_id


async def test_a_session_that_asks_elsewhere_than_its_project_is_plain(stage: Stage) -> None:
    (project, *_) = await sources(stage)
    plain = {"model": {"base_url": "", "provider": "scripted", "name": "own"}}
    session_id = await stage.session(1, config=plain, **project)
    draft_id = (await stage.draft.draft(session_id=session_id)).draft_id
    await stage.draft.respond(draft_id, "hello")
    assert stage.draft.sent[-1].model.name == "own"
