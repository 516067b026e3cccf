"""Projects: making, changing, archiving, members; and `default`, which always exists."""

import asyncio

import pytest
from stemma.conversation.v1 import project_service_pb2 as pb
from stemma.kernel.v1 import session_pb2

from tests.projects.stage import Stage, mask, new_id, on_stage
from tests.support.client import Refusal, request_for, user

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_the_default_project_is_there_before_anything_is(own_stage: Stage) -> None:
    project = (await own_stage.call("GetProject", project_id="default")).project
    assert (project.title, project.version, project.state) == ("default", 1, session_pb2.SESSION_STATE_ACTIVE)
    assert (await own_stage.call("GetProject", project_id=project.project_id)).project == project
    assert list((await own_stage.call("ListProjects")).projects) == [project]
    assert await own_stage.types() == []
    session = await own_stage.session()
    assert session.project_id == project.project_id
    versions = (await own_stage.call("ListConfigVersions", project_id="default")).config_versions
    assert [version.version for version in versions] == [1]


async def test_the_default_project_is_listed_on_a_fresh_database(own_stage: Stage) -> None:
    (project,) = (await own_stage.call("ListProjects")).projects
    assert project.title == "default"


async def test_a_project_is_made_once_with_its_owner(stage: Stage) -> None:
    request = request_for("CreateProject", title="Mine", config={"system_prompt": "Be brief."})
    answers = await asyncio.gather(*(stage.client.raw("CreateProject", request) for _ in range(8)))
    assert len(set(answers)) == 1
    project = pb.CreateProjectResponse.FromString(answers[0]).project
    assert (project.title, project.config.system_prompt, project.version) == ("Mine", "Be brief.", 1)
    members = (await stage.call("ListProjectMembers", project_id=project.project_id)).members
    assert [(m.principal, m.role) for m in members] == [("local", pb.MEMBER_ROLE_OWNER)]
    assert await stage.facts(project.project_id) == [("project.created", {"title": "Mine"})]
    request.title = "Other"
    assert (await stage.client.refusal("CreateProject", request)).reason == "REQUEST_ID_REUSED"


async def test_unknown_projects_are_not_found_everywhere(stage: Stage) -> None:
    unknown = new_id()
    calls = {
        "GetProject": {},
        "UpdateProject": {"title": "x", "update_mask": mask("title")},
        "ArchiveProject": {},
        "RestoreProject": {},
        "SetProjectMember": {"principal": "p", "role": pb.MEMBER_ROLE_OWNER},
        "RemoveProjectMember": {"principal": "p"},
        "ListProjectMembers": {},
        "GetEffectiveConfig": {},
        "ListConfigVersions": {},
        "GetConfigVersion": {"version": 1},
        "RestoreConfigVersion": {"version": 1},
        "CreateSession": {},
    }
    for name, fields in calls.items():
        refusal = await stage.client.refused(name, project_id=unknown, **fields)
        assert refusal == Refusal("NOT_FOUND", "NOT_FOUND", {}), name


async def test_projects_are_listed_newest_first_by_state(own_stage: Stage) -> None:
    made = [await own_stage.project(title=str(number)) for number in range(3)]
    await own_stage.call("ArchiveProject", project_id=made[1].project_id)
    names = [p.title for p in await own_stage.client.everything("ListProjects", "projects", page_size=1)]
    assert sorted(names) == ["0", "1", "2", "default"]
    assert [name for name in names if name != "default"] == ["2", "1", "0"]
    archived = session_pb2.SESSION_STATE_ARCHIVED
    assert [p.title for p in (await own_stage.call("ListProjects", state=archived)).projects] == ["1"]


async def test_an_update_changes_what_the_mask_names_and_nothing_else(stage: Stage) -> None:
    project = await stage.project(title="a", config={"system_prompt": "p", "model": {"temperature": 1}})
    updated = (
        await stage.call(
            "UpdateProject",
            project_id=project.project_id,
            title="b",
            config={"system_prompt": "not named", "model": {"top_p": 0.5}},
            update_mask=mask("title", "config.model.topP"),
        )
    ).project
    assert (updated.title, updated.version, updated.config.system_prompt) == ("b", 2, "p")
    assert (updated.config.model.temperature, updated.config.model.top_p) == (1, 0.5)
    assert (await stage.call("GetProject", project_id=project.project_id)).project == updated
    assert await stage.facts(project.project_id) == [
        ("project.created", {"title": "a"}),
        ("project.updated", {"version": 2}),
        ("config.changed", {"version": 2}),
    ]


async def test_an_update_that_changes_nothing_leaves_no_trace(stage: Stage) -> None:
    project = await stage.project(title="a")
    for paths in (("title",), ("config",), ("title", "config.model")):
        same = await stage.call(
            "UpdateProject", project_id=project.project_id, title="a", update_mask=mask(*paths)
        )
        assert same.project == project
    assert await stage.types(project.project_id) == ["project.created"]


async def test_a_stale_version_is_refused_with_the_current_one(stage: Stage) -> None:
    project = await stage.project()
    fields = {"project_id": project.project_id, "title": "x", "update_mask": mask("title")}
    await stage.call("UpdateProject", expected_version=1, **fields)
    refusal = await stage.client.refused("UpdateProject", expected_version=1, **fields)
    assert refusal == Refusal("ABORTED", "VERSION_MOVED", {"current_version": "2"})
    refusal = await stage.client.refused("UpdateProject", expected_version=-1, **fields)
    assert refusal.reason == "INVALID"


async def test_an_archived_project_refuses_writes_in_it_and_in_its_sessions(migrated_url: str) -> None:
    started, go = asyncio.Event(), asyncio.Event()

    async def gate(index: int) -> None:
        if index:
            started.set()
            await go.wait()

    async with on_stage(migrated_url, gate) as stage:
        project = (await stage.project(title="p")).project_id
        idle, busy = [(await stage.session(project_id=project)).session_id for _ in range(2)]
        floor = await stage.turn(idle)
        run = stage.client.stream(
            "Respond", request_for("Respond", session_id=busy, input={"messages": [user("a b c")]})
        )
        first = (await anext(aiter(run))).event
        await asyncio.wait_for(started.wait(), 20)
        await stage.call("ArchiveProject", project_id=project)
        last = [answer.event async for answer in run][-1]
        assert last.WhichOneof("event") == "cancelled"
        assert last.cancelled.floor.failure_reason == "ARCHIVED"
        assert (await stage.call("GetRun", run_id=first.run_id)).run.state == 6
        archived = Refusal("FAILED_PRECONDITION", "ARCHIVED", {})
        refused = {
            "CreateSession": {"project_id": project},
            "UpdateProject": {"project_id": project, "title": "x", "update_mask": mask("title")},
            "ArchiveProject": {"project_id": project},
            "SetProjectMember": {"project_id": project, "principal": "p", "role": pb.MEMBER_ROLE_OWNER},
            "RestoreConfigVersion": {"project_id": project, "version": 1},
            "AppendFloor": {"session_id": idle, "input": [user("x")]},
            "ForkSession": {"session_id": idle, "floor_id": floor.floor_id},
            "ArchiveSession": {"session_id": idle},
            "RestoreSession": {"session_id": idle},
        }
        for name, fields in refused.items():
            assert await stage.client.refused(name, **fields) == archived, name
        assert await stage.client.path_ids(idle) == [floor.floor_id]
        go.set()
        await stage.call("RestoreProject", project_id=project)
        await stage.turn(idle)
        await stage.session(project_id=project)
        types = await stage.types(project)
        assert types.count("project.archived") == types.count("project.restored") == 1


async def test_an_active_project_stays_as_it_is_when_restored(stage: Stage) -> None:
    project = await stage.project()
    assert (await stage.call("RestoreProject", project_id=project.project_id)).project == project
    assert await stage.types(project.project_id) == ["project.created"]


async def test_a_session_that_races_an_archiving_is_in_or_refused(stage: Stage) -> None:
    project = (await stage.project()).project_id
    calls = [stage.call("CreateSession", project_id=project) for _ in range(8)]
    done = await asyncio.gather(
        stage.call("ArchiveProject", project_id=project), *calls, return_exceptions=True
    )
    made = [answer.session.session_id for answer in done[1:] if not isinstance(answer, BaseException)]
    for session_id in made:
        refusal = await stage.client.refused("AppendFloor", session_id=session_id, input=[user("late")])
        assert refusal.reason == "ARCHIVED"
    assert await stage.types(project) == [
        "project.created",
        *["session.created"] * len(made),
        "project.archived",
    ]


async def test_members_are_set_changed_and_removed(stage: Stage) -> None:
    project = (await stage.project()).project_id
    names = {"project_id": project, "principal": "ada"}
    made = (await stage.call("SetProjectMember", role=pb.MEMBER_ROLE_OBSERVER, **names)).member
    assert (made.project_id, made.principal, made.role) == (project, "ada", pb.MEMBER_ROLE_OBSERVER)
    changed = (await stage.call("SetProjectMember", role=pb.MEMBER_ROLE_CONTRIBUTOR, **names)).member
    assert (changed.role, changed.create_time) == (pb.MEMBER_ROLE_CONTRIBUTOR, made.create_time)
    found = await stage.client.everything("ListProjectMembers", "members", project_id=project, page_size=1)
    assert [member.principal for member in found] == ["ada", "local"]
    removed = await stage.call("RemoveProjectMember", **names)
    assert removed.member == changed
    assert (await stage.client.refused("RemoveProjectMember", **names)).reason == "NOT_FOUND"


@pytest.mark.parametrize(
    "fields",
    [{"principal": ""}, {"principal": "x" * 201}, {"principal": "a\0"}, {"role": 0}, {"role": 9}],
)
async def test_bad_members_are_invalid(stage: Stage, fields: dict[str, object]) -> None:
    good = {"project_id": "default", "principal": "p", "role": pb.MEMBER_ROLE_OWNER}
    refusal = await stage.client.refused("SetProjectMember", **(good | fields))
    assert (refusal.code, refusal.reason) == ("INVALID_ARGUMENT", "INVALID")
