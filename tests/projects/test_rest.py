"""The same over REST: paths, masks in lowerCamel, versions in the path, bodies without one."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import pytest_asyncio

from tests.gateway.harness import serve_gateway
from tests.projects.stage import Stage, new_id

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(loop_scope="session")
async def rest(stage: Stage) -> AsyncIterator[httpx.AsyncClient]:
    async with serve_gateway(stage.service.address) as url, httpx.AsyncClient(base_url=url) as client:
        yield client


async def ok(answer: Any) -> Any:
    response = await answer
    assert response.status_code == 200, response.text
    return response.json()


async def test_projects_and_configuration_over_rest(rest: httpx.AsyncClient) -> None:
    made = await ok(rest.post("/v1/projects", json={"requestId": new_id(), "title": "a"}))
    project = f"/v1/projects/{made['project']['projectId']}"
    body = {
        "requestId": new_id(),
        "title": "b",
        "config": {
            "model": {"topP": 0.5, "seed": "9007199254740993"},
            "variablesJson": '{"n":9007199254740993}',
        },
        "expectedVersion": "1",
        "updateMask": "title,config.model.topP,config.model.seed,config.variablesJson",
    }
    updated = (await ok(rest.patch(project, json=body)))["project"]
    assert (updated["title"], updated["version"], updated["state"]) == ("b", "2", "SESSION_STATE_ACTIVE")
    assert updated["config"]["model"]["seed"] == "9007199254740993"
    found = await ok(rest.get(f"{project}/effectiveConfig"))
    assert found["sources"]["model.top_p"] == "project"
    assert found["config"]["variablesJson"] == '{"n":9007199254740993}'
    stale = await rest.patch(project, json=body | {"requestId": new_id()})
    assert stale.status_code == 409
    assert stale.json()["details"][0] == {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": "VERSION_MOVED",
        "domain": "stemma",
        "metadata": {"current_version": "2"},
    }
    versions = (await ok(rest.get(f"{project}/configVersions")))["configVersions"]
    assert [version["version"] for version in versions] == ["2", "1"]
    first = await ok(rest.get(f"{project}/configVersions/1"))
    assert first["configVersion"] == versions[1]
    restored = await ok(rest.post(f"{project}/configVersions/1:restore", json={"requestId": new_id()}))
    assert (restored["configVersion"]["restoredFrom"], restored["project"]["version"]) == ("1", "3")
    member = {"requestId": new_id(), "principal": "ada", "role": "MEMBER_ROLE_OBSERVER"}
    await ok(rest.post(f"{project}/members", json=member))
    assert len((await ok(rest.get(f"{project}/members")))["members"]) == 2
    await ok(rest.post(f"{project}/members:remove", json={"requestId": new_id(), "principal": "ada"}))
    assert (await ok(rest.post(f"{project}:archive", json={"requestId": new_id()})))["project"]["state"][
        -8:
    ] == "ARCHIVED"
    await ok(rest.post(f"{project}:restore", json={"requestId": new_id()}))
    assert (await ok(rest.get("/v1/projects/default")))["project"]["title"] == "default"


async def test_sessions_and_branches_over_rest(rest: httpx.AsyncClient) -> None:
    opened = {"requestId": new_id(), "config": {"greetings": ["hi"]}, "greetingIndex": 0}
    made = await ok(rest.post("/v1/sessions", json=opened))
    session, head = f"/v1/sessions/{made['session']['sessionId']}", made["branch"]["headFloorId"]
    branch = {"requestId": new_id(), "name": "side", "floorId": head}
    await ok(rest.post(f"{session}/branches", json=branch))
    turn = {
        "requestId": new_id(),
        "branch": "side",
        "input": [{"role": "ROLE_USER", "parts": [{"text": {"text": "q"}}]}],
    }
    tip = (await ok(rest.post(f"{session}/floors", json=turn)))["floor"]["floorId"]
    diff = await ok(rest.get(f"{session}/branches:diff", params={"base": "main", "target": "side"}))
    assert (diff["forkFloor"]["floorId"], [f["floorId"] for f in diff["targetFloors"]]) == (head, [tip])
    merge = {"requestId": new_id(), "sourceBranch": "side"}
    merged = await ok(rest.post(f"{session}/branches/main:merge", json=merge))
    assert merged["branch"]["headFloorId"] == tip
    fork = await ok(rest.post(f"{session}:fork", json={"requestId": new_id(), "floorId": tip}))
    patch = {"requestId": new_id(), "title": "t", "updateMask": "title"}
    assert (await ok(rest.patch(session, json=patch)))["session"]["title"] == "t"
    await ok(rest.post(f"{session}:archive", json={"requestId": new_id()}))
    refused = await rest.patch(session, json=patch | {"requestId": new_id()})
    assert (refused.status_code, refused.json()["details"][0]["reason"]) == (400, "ARCHIVED")
    assert (await ok(rest.get(f"{session}/configVersions/1")))["configVersion"]["config"]["greetings"] == [
        "hi"
    ]
    receipt = (await ok(rest.delete(session, params={"requestId": new_id()})))["receipt"]
    assert {"store": "session", "rows": "1"} in receipt
    assert (await rest.get(session)).status_code == 404
    assert (await rest.get(f"/v1/sessions/{fork['session']['sessionId']}/path")).status_code == 200
