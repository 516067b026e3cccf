"""PATCH: what is to change is named by a mask, one string of paths in lowerCamelCase."""

import httpx
import pytest

from tests.gateway.fake_service import FakeService
from tests.gateway.test_requests import assert_refused

pytestmark = pytest.mark.asyncio(loop_scope="session")

PATHS = ("/v1/projects/p-1", "/v1/sessions/s-1")


@pytest.mark.parametrize("path", PATHS)
async def test_a_mask_is_one_string(client: httpx.AsyncClient, fake: FakeService, path: str) -> None:
    body = {
        "title": "T",
        "config": {"model": {"topP": 0.5, "maxOutputTokens": 7}, "systemPrompt": ""},
        "expectedVersion": "3",
        "updateMask": "title,config.model.topP,config.systemPrompt",
    }
    assert (await client.patch(path, json=body)).status_code == 200
    request = fake.last.request
    assert list(request.update_mask.paths) == ["title", "config.model.top_p", "config.system_prompt"]
    assert (request.title, request.expected_version, request.config.model.top_p) == ("T", 3, 0.5)
    # Present and empty is not the same as absent.
    assert request.config.HasField("system_prompt")
    assert "1" in (getattr(request, "project_id", "") or request.session_id)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "mask",
    ["", ",", "title,", "title,,config", "config.model.top_p", "*", "a b", ["title"], {"paths": []}, 1],
)
async def test_bad_input_42_what_is_no_mask(
    client: httpx.AsyncClient, fake: FakeService, path: str, mask: object
) -> None:
    assert_refused(await client.patch(path, json={"updateMask": mask}), fake, "update_mask")


async def test_bad_input_42_the_service_judges_the_paths(
    client: httpx.AsyncClient, fake: FakeService
) -> None:
    for body, paths in (
        ({}, []),
        ({"updateMask": None}, []),
        ({"updateMask": "createTime,no.such"}, ["create_time", "no.such"]),
    ):
        assert (await client.patch("/v1/sessions/s", json=body)).status_code == 200
        assert list(fake.last.request.update_mask.paths) == paths
    assert not fake.last.request.HasField("config")


async def test_both_spellings_of_a_mask(client: httpx.AsyncClient, fake: FakeService) -> None:
    body = {"updateMask": "title", "update_mask": "title"}
    assert_refused(await client.patch("/v1/sessions/s", json=body), fake, "update_mask")
