"""Each committed fact has exactly one event, a repeat and a refused call none (C3): every write there is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import grpc
import pytest
from stemma.kernel.v1 import floor_pb2

from tests.projects.stage import Stage, mask, new_id
from tests.support.client import METHODS, assistant, request_for, user, writes

SAID = {"input": [user("asked")], "output": [assistant("said")]}


@dataclass(frozen=True)
class Places:
    project: str
    session: str
    first: str
    second: str
    side: str
    opened: str
    page: str
    staged: str


async def places(stage: Stage) -> Places:
    project = (await stage.project()).project_id
    await stage.call("SetProjectMember", project_id=project, principal="one", role=1)
    session = (await stage.session(project_id=project)).session_id
    first, second = [(await stage.turn(session)).floor_id for _ in range(2)]
    await stage.call("CreateBranch", session_id=session, name="side", floor_id=first)
    side = (await stage.turn(session, branch="side")).floor_id
    await stage.call("CreateBranch", session_id=session, name="spare", floor_id=first)
    await stage.call("CreateBranch", session_id=session, name="open", floor_id=first)
    opened = (await stage.call("OpenFloor", session_id=session, branch="open", input=[user("q")])).floor
    page = (await stage.call("AddPage", floor_id=opened.floor_id, slot=2, messages=[assistant("a")])).page
    staged = (await stage.call("StageWrite", **proposal(session))).staged_write.staged_write_id
    return Places(project, session, first, second, side, opened.floor_id, page.page_id, staged)


def proposal(session: str) -> dict[str, Any]:
    target = {"session_id": session, "placement": "PLACEMENT_NEXT_FLOOR"}
    return {"target": target, "parts": [{"output_page": {"output": [assistant("proposed")]}}]}


Fields = Callable[[Places], dict[str, Any]]

# What one call of each write makes true, by its events.
FACTS: dict[str, list[tuple[Fields, list[str]]]] = {
    "UpdateProject": [
        (
            lambda p: {"project_id": p.project, "title": "t", "update_mask": mask("title")},
            ["project.updated"],
        ),
        (
            lambda p: {
                "project_id": p.project,
                "config": {"system_prompt": "s"},
                "update_mask": mask("config"),
            },
            ["config.changed"],
        ),
    ],
    "ArchiveProject": [(lambda p: {"project_id": p.project}, ["project.archived"])],
    "SetProjectMember": [
        (lambda p: {"project_id": p.project, "principal": "two", "role": 2}, ["project.updated"])
    ],
    "RemoveProjectMember": [
        (lambda p: {"project_id": p.project, "principal": "one"}, ["project.updated"]),
        (lambda p: {"project_id": p.project, "principal": "nobody"}, []),
    ],
    "CreateSession": [
        (lambda p: {"project_id": p.project}, ["session.created"]),
    ],
    "UpdateSession": [
        (lambda p: {"session_id": p.session, "title": "t", "update_mask": mask("title")}, ["session.updated"])
    ],
    "RestoreConfigVersion": [(lambda p: {"project_id": p.project, "version": 1}, ["config.changed"])],
    "ArchiveSession": [(lambda p: {"session_id": p.session}, ["session.archived"])],
    "DeleteSession": [(lambda p: {"session_id": p.session}, ["session.deleted"])],
    "ForkSession": [
        (lambda p: {"session_id": p.session, "floor_id": p.second}, ["session.forked"]),
        (lambda p: {"session_id": p.session, "floor_id": p.opened}, []),
    ],
    "AppendFloor": [
        (lambda p: {"session_id": p.session, **SAID}, ["floor.committed"]),
        (lambda p: {"session_id": p.session, "expected_head": new_id(), **SAID}, []),
        (lambda p: {"session_id": p.session, "branch": "open", **SAID}, []),
        (
            lambda p: {
                "session_id": p.session,
                "branch": "open",
                "on_pending": floor_pb2.ON_PENDING_ABANDON,
                **SAID,
            },
            ["floor.committed"],
        ),
    ],
    "OpenFloor": [(lambda p: {"session_id": p.session, "input": [user("q")]}, [])],
    "AddPage": [(lambda p: {"floor_id": p.opened, "slot": 2, "messages": [assistant("b")]}, [])],
    "ActivatePage": [(lambda p: {"page_id": p.page}, [])],
    "CommitFloor": [(lambda p: {"floor_id": p.opened}, ["floor.committed"])],
    "AbandonFloor": [(lambda p: {"floor_id": p.opened}, [])],
    "EditFloor": [
        (lambda p: {"floor_id": p.second, **SAID}, ["floor.committed"]),
        (lambda p: {"floor_id": p.second, "input": [user("only")]}, []),
    ],
    "RegenerateFloor": [
        (lambda p: {"floor_id": p.second, "output": [assistant("again")]}, ["floor.committed"]),
        (lambda p: {"floor_id": p.second}, []),
    ],
    "MoveHead": [
        (lambda p: {"session_id": p.session, "floor_id": p.first}, ["head.moved"]),
        (lambda p: {"session_id": p.session, "floor_id": p.opened}, []),
    ],
    "SelectSibling": [(lambda p: {"session_id": p.session, "floor_id": p.side}, ["head.moved"])],
    "CreateBranch": [
        (lambda p: {"session_id": p.session, "name": "new", "floor_id": p.first}, ["branch.created"]),
        (lambda p: {"session_id": p.session, "name": "side", "floor_id": p.first}, []),
    ],
    "DeleteBranch": [(lambda p: {"session_id": p.session, "branch": "spare"}, ["branch.deleted"])],
    "MergeBranch": [
        (lambda p: {"session_id": p.session, "branch": "spare", "source_branch": "main"}, ["head.moved"]),
        (lambda p: {"session_id": p.session, "source_branch": "side"}, []),
    ],
    "StageWrite": [(lambda p: proposal(p.session), ["staged_write.staged"])],
    "AcceptStagedWrite": [
        (
            lambda p: {"staged_write_id": p.staged, "reason": "r"},
            ["floor.committed", "staged_write.accepted"],
        ),
        (lambda p: {"staged_write_id": p.staged, "reason": "r", "expected_head": p.side}, []),
    ],
    "RejectStagedWrite": [
        (lambda p: {"staged_write_id": p.staged, "reason": "r"}, ["staged_write.rejected"])
    ],
    "WithdrawStagedWrite": [
        (lambda p: {"staged_write_id": p.staged, "reason": "r"}, ["staged_write.withdrawn"])
    ],
    "Respond": [
        (lambda p: {"session_id": p.session, "input": {"messages": [user("m")]}}, ["floor.committed"])
    ],
}
# Told below, because they need another ground; and writes of other kinds of state, with their own tests.
APART = {
    "CreateProject",
    "RestoreProject",
    "RestoreSession",
    "ImportSessions",
    "CancelRun",
    "AppendFloors",
    "SubmitToolResults",
}
# Keys are of no project.
OTHERS = {"WriteState", "CreateApiKey", "RevokeApiKey", "ErasePrincipal"}


def test_no_write_is_forgotten() -> None:
    assert set(filter(writes, METHODS)) - APART - OTHERS == set(FACTS)


CASES = [(name, number) for name, cases in FACTS.items() for number in range(len(cases))]


async def events_of(stage: Stage, project: str, after: int) -> list[Any]:
    return list((await stage.call("ListEvents", project_id=project, after=after)).events)


async def ask(stage: Stage, name: str, request: Any) -> None:
    """Answered or refused."""
    try:
        if METHODS[name].server_streaming:
            await stage.client.frames(name, request)
        else:
            await stage.client.raw(name, request)
    except grpc.aio.AioRpcError as error:
        if error.code().name not in ("ABORTED", "FAILED_PRECONDITION", "ALREADY_EXISTS", "NOT_FOUND"):
            raise


async def test_each_write_has_its_events_and_a_repeat_has_none(stage: Stage) -> None:
    for name, number in CASES:
        fields, expected = FACTS[name][number]
        at = await places(stage)
        before = len(await events_of(stage, at.project, 0))
        request = request_for(name, **fields(at))
        for _ in range(2):
            await ask(stage, name, request)
            new = await events_of(stage, at.project, before)
            assert [event.type for event in new] == expected, (name, number)
        everything = await events_of(stage, at.project, 0)
        assert [event.position for event in everything] == list(range(1, len(everything) + 1))
        assert len({event.event_id for event in everything}) == len(everything)


async def test_projects_and_sessions_begin_and_come_back_once(stage: Stage) -> None:
    created = request_for("CreateProject", title="t")
    project = (await stage.client.send("CreateProject", created)).project.project_id
    await stage.client.send("CreateProject", created)
    session = (await stage.session(project_id=project)).session_id
    expected = ["project.created", "session.created"]
    for name, fields in (
        ("ArchiveSession", {"session_id": session}),
        ("RestoreSession", {"session_id": session}),
        ("ArchiveProject", {"project_id": project}),
        ("RestoreProject", {"project_id": project}),
    ):
        request = request_for(name, **fields)
        for _ in range(2):
            await stage.client.send(name, request)
        expected.append(name.removesuffix("Session").removesuffix("Project").lower() + "d")
        assert [event.type.rpartition(".")[2] for event in await events_of(stage, project, 2)] == expected[2:]
    assert [event.type for event in (await events_of(stage, project, 0))[:2]] == expected[:2]


async def test_a_run_that_fails_has_none_and_one_that_is_cancelled_and_kept_has_one(stage: Stage) -> None:
    session = (await stage.session()).session_id
    floor = await stage.client.respond(session, input={"messages": [user("m")]})
    assert (await stage.types())[-1] == "floor.committed"
    count = len(await stage.types())
    late = await stage.client.refused("CancelRun", run_id=floor.run_id)
    assert late.code == "FAILED_PRECONDITION"
    assert len(await stage.types()) == count


@pytest.mark.parametrize("greeting", [None, 0])
async def test_a_greeting_is_a_fact_of_its_own(stage: Stage, greeting: int | None) -> None:
    project = (await stage.project(config={"greetings": ["Hello."]})).project_id
    fields = {} if greeting is None else {"greeting_index": greeting}
    await stage.call("CreateSession", project_id=project, **fields)
    expected = ["session.created"] + ([] if greeting is None else ["floor.committed"])
    assert [event.type for event in await events_of(stage, project, 1)] == expected
