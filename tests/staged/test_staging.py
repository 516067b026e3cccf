"""Staging: an entry and nothing else (D1, L1), and how entries are found."""

import json

import pytest
from stemma.kernel.v1 import floor_pb2

from tests.staged.stage import STAGED, Stage, add, added, effects, new_id, page, patch
from tests.state.stage import fact, own, path, shared, slot
from tests.support.client import assistant, request_for, texts, user

pytestmark = pytest.mark.asyncio(loop_scope="session")
DIGEST = "ab" * 32


async def test_staging_leaves_the_entry_its_request_and_its_event(stage: Stage) -> None:
    """Row by row, for every kind of target. The feed's row counts its events, and is the one that changes."""
    floor = await stage.turn()
    opened = (await stage.client.call("OpenFloor", session_id=stage.session_id, input=[user("q")])).floor
    for target, parts in (
        (stage.target("NEXT_FLOOR"), [page(asked="well?"), patch(add("/systemPrompt", "x"))]),
        ({"floor_id": floor.floor_id, "placement": "PLACEMENT_OUTPUT_OF_FLOOR"}, [page()]),
        ({"floor_id": opened.floor_id, "placement": "PLACEMENT_OUTPUT_OF_FLOOR"}, [page()]),
        (stage.target(), [effects(variables=[own("a", 1), shared("b", 2), path("c", 3)])]),
        ({"project_id": stage.project_id}, [patch(add("/systemPrompt", "x"))]),
        ({"project_id": "default"}, [effects(variables=[shared("a", 1)])]),
    ):
        before = await stage.rows()
        await stage.staged(*parts, target=target)
        after = await stage.rows()
        for table in ("feed", "search_cursor", "audit_head"):
            before.pop(table)
            after.pop(table)
        assert added(before, after) == {"staged_write": 1, "request": 1, "event": 1, "audit_entry": 1}, target
    event = (await stage.events())[-1]
    assert event.type == "staged_write.staged"
    assert set(json.loads(event.payload_json)) == {"staged_write_id", "principal"}


async def test_an_entry_is_what_was_staged(stage: Stage) -> None:
    floor = await stage.turn(memory=[fact("It rains.")])
    parts = [
        patch(add("/variables_json", '{"big":9007199254740993}')),
        effects(
            variables=[
                {**own("coins", 0), "value_json": "9007199254740993"},
                {"scope": 1, "key": "gone", "delete": True},
            ],
            memory=[fact("It pours.", covers_floor_id="")],
            slots=[slot("place", "inn")],
        ),
        page("So it does.", asked="Does it rain?"),
    ]
    origin = {
        "draft_id": new_id(),
        "page_id": new_id(),
        "snapshot_digest": DIGEST,
        "base_floor_id": floor.floor_id,
        "base_version": 1,
    }
    entry = await stage.staged(*parts, origin=origin, reason="from a draft", on_behalf_of="somebody")
    assert (entry.state, entry.staged_by, entry.reason) == (STAGED, "somebody", "from a draft")
    assert (entry.decided_by, entry.decision_reason, entry.result_floor_id) == ("", "", "")
    assert not entry.HasField("decide_time")
    assert entry.expire_time.seconds - entry.create_time.seconds == 30 * 86_400
    assert entry.target.session_id == stage.session_id
    assert (entry.target.project_id, entry.target.branch) == ("", "main")
    asked = request_for("StageWrite", target=stage.target("NEXT_FLOOR"), parts=parts, origin=origin)
    assert list(entry.parts) == list(asked.parts)
    assert entry.origin == asked.origin
    assert await stage.entry(entry) == entry


async def test_without_a_base_it_is_what_the_target_is_now(stage: Stage) -> None:
    floor = await stage.turn()
    entry = await stage.staged(page())
    assert entry.origin.base_floor_id == floor.floor_id
    named = await stage.staged(page(), target=stage.target("NEXT_FLOOR", floor_id=floor.floor_id))
    assert named.origin.base_floor_id == floor.floor_id
    await stage.client.call("WriteState", session_id=stage.session_id, variables=[own("a", 1)])
    versions = [
        (await stage.staged(part)).origin.base_version
        for part in (
            patch(add("/systemPrompt", "x")),
            effects(variables=[own("a", 2)]),
            effects(variables=[shared("a", 2)]),
            # Of two layers there is no one version.
            effects(variables=[own("a", 2), shared("a", 2)]),
        )
    ]
    assert versions == [1, 2, 1, 0]
    other = {"base_floor_id": new_id()}
    refused = await stage.client.refused(
        "StageWrite", target=stage.target("NEXT_FLOOR", floor_id=floor.floor_id), parts=[page()], origin=other
    )
    assert refused.code == "INVALID_ARGUMENT"


async def test_bad_input_57_what_there_is_not_and_what_is_archived(stage: Stage) -> None:
    floor = await stage.turn()
    elsewhere = (await stage.client.call("CreateSession")).session.session_id
    sibling = {"placement": "PLACEMENT_OUTPUT_OF_FLOOR"}
    before = await stage.rows()
    for target in (
        {"project_id": new_id()},
        stage.target("NEXT_FLOOR", session_id=new_id()),
        stage.target("NEXT_FLOOR", branch="nowhere"),
        {"floor_id": new_id(), **sibling},
        {"floor_id": floor.floor_id, "session_id": elsewhere, **sibling},
        {"floor_id": floor.floor_id, "session_id": elsewhere, "placement": "PLACEMENT_NEXT_FLOOR"},
    ):
        part = patch(add("/systemPrompt", "x")) if "project_id" in target else page()
        refused = await stage.client.refused("StageWrite", target=target, parts=[part])
        assert (refused.code, refused.reason) == ("NOT_FOUND", "NOT_FOUND"), target
    assert await stage.rows() == before
    await stage.client.call("ArchiveSession", session_id=elsewhere)
    refused = await stage.client.refused(
        "StageWrite", target={"session_id": elsewhere, "placement": "PLACEMENT_NEXT_FLOOR"}, parts=[page()]
    )
    assert (refused.code, refused.reason) == ("FAILED_PRECONDITION", "ARCHIVED")
    await stage.client.call("DeleteSession", session_id=elsewhere)
    refused = await stage.client.refused(
        "StageWrite", target={"session_id": elsewhere, "placement": "PLACEMENT_NEXT_FLOOR"}, parts=[page()]
    )
    assert refused.code == "NOT_FOUND"
    project = (await stage.client.call("CreateProject", title="p")).project.project_id
    await stage.client.call("ArchiveProject", project_id=project)
    refused = await stage.client.refused(
        "StageWrite", target={"project_id": project}, parts=[patch(add("/systemPrompt", "x"))]
    )
    assert refused.reason == "ARCHIVED"


async def test_what_is_no_entry(stage: Stage) -> None:
    floor = await stage.turn()
    here, project = stage.target("NEXT_FLOOR"), {"project_id": stage.project_id}
    sibling = {"floor_id": floor.floor_id, "placement": "PLACEMENT_OUTPUT_OF_FLOOR"}
    text = {"config_patch": {"operations_json": "[]"}}
    root = (await stage.client.call("GetSession", session_id=stage.session_id)).session.root_floor_id
    for fields in (
        {"target": here},
        {"target": here, "parts": [{}]},
        {"target": here, "parts": [{"output_page": {}}]},
        {"target": here, "parts": [page(), page()]},
        {"target": here, "parts": [effects()]},
        {"target": here, "parts": [text]},
        {"target": here, "parts": [effects(variables=[{"key": "", "value_json": "1"}])]},
        {"target": stage.target(), "parts": [page()]},
        {"target": {"session_id": stage.session_id, "placement": 9}, "parts": [page()]},
        {"target": stage.target("OUTPUT_OF_FLOOR"), "parts": [page()]},
        {"target": sibling, "parts": [page(asked="again?")]},
        {"target": {**sibling, "floor_id": root}, "parts": [page()]},
        {"target": {}, "parts": [page()]},
        {"parts": [page()]},
        {"target": {**project, **here}, "parts": [page()]},
        {"target": {**project, "placement": "PLACEMENT_NEXT_FLOOR"}, "parts": [page()]},
        {"target": {**project, "branch": "main"}, "parts": [patch(add("/systemPrompt", "x"))]},
        {"target": project, "parts": [effects(variables=[own("a", 1)])]},
        {"target": project, "parts": [effects(variables=[path("a", 1)])]},
        {"target": project, "parts": [effects(memory=[fact("a")])]},
        {"target": here, "parts": [page()], "reason": "x" * 501},
        {"target": here, "parts": [page()], "on_behalf_of": "x" * 201},
        {"target": here, "parts": [page()], "origin": {"base_version": -1}},
        {"target": here, "parts": [page()], "origin": {"snapshot_digest": "AB" * 32}},
        {"target": here, "parts": [page()], "origin": {"draft_id": "no id"}},
    ):
        refused = await stage.client.refused("StageWrite", **fields)
        assert (refused.code, refused.reason) == ("INVALID_ARGUMENT", "INVALID"), fields


async def test_what_does_not_fit_one_answer(stage: Stage) -> None:
    large = [user("x" * 1_040_000) for _ in range(2)]
    whole = {"output_page": {"input": large, "output": large}}
    refused = await stage.client.refused("StageWrite", target=stage.target("NEXT_FLOOR"), parts=[whole])
    assert refused.code == "INVALID_ARGUMENT"
    fits = {"output_page": {"input": large, "output": [assistant("x" * 900_000)]}}
    entry = await stage.staged(fits)
    accepted = await stage.accept(entry)
    assert accepted.floor.input_page.token_count > 0
    assert accepted.staged_write.parts[0].HasField("output_page")
    assert texts(accepted.floor.output_page) == ["x" * 900_000]
    shown = (await stage.preview(entry)).diff
    assert all(len(change.after) <= 16_385 for change in shown.changes)


async def test_entries_are_listed_newest_first_by_what_they_are(stage: Stage) -> None:
    other = (await stage.client.call("CreateSession", project_id=stage.project_id)).session
    draft = new_id()
    first = await stage.staged(page())
    second = await stage.staged(page(), origin={"draft_id": draft}, on_behalf_of="somebody")
    third = await stage.staged(patch(add("/systemPrompt", "x")), target={"project_id": stage.project_id})
    fourth = await stage.staged(page(), target={**stage.target("NEXT_FLOOR"), "session_id": other.session_id})
    await stage.client.call("RejectStagedWrite", staged_write_id=first.staged_write_id, reason="no")

    async def listed(**fields: object) -> list[str]:
        found = await stage.client.everything("ListStagedWrites", "staged_writes", page_size=1, **fields)
        assert all(not page.output_page.output for entry in found for page in entry.parts)
        return [entry.staged_write_id for entry in found]

    ids = [entry.staged_write_id for entry in (fourth, third, second, first)]
    everything = await stage.client.call("ListStagedWrites", page_size=4)
    assert [entry.staged_write_id for entry in everything.staged_writes] == ids
    mine = {"project_id": stage.project_id}
    assert await listed(**mine) == ids
    assert await listed(session_id=stage.session_id) == [ids[2], ids[3]]
    assert await listed(session_id=other.session_id) == [ids[0]]
    assert await listed(state=STAGED, **mine) == ids[:3]
    assert await listed(draft_id=draft) == await listed(principal="somebody", **mine) == [ids[2]]
    assert await listed(principal="local", state=STAGED, **mine) == [ids[0], ids[1]]
    assert await listed(project_id=new_id()) == await listed(session_id=new_id()) == []
    await stage.staged(patch(add("/systemPrompt", "x")), target={"project_id": "default"})
    assert len(await listed(project_id="default", state=STAGED)) >= 1
    first_page = await stage.client.call("ListStagedWrites", page_size=1)
    refused = await stage.client.refused(
        "ListStagedWrites", page_size=1, page_token=first_page.next_page_token, state=STAGED
    )
    assert refused.code == "INVALID_ARGUMENT"
    for fields in ({"state": 9}, {"session_id": "x"}, {"draft_id": "x"}, {"page_size": -1}):
        assert (await stage.client.refused("ListStagedWrites", **fields)).code == "INVALID_ARGUMENT"


async def test_an_entry_goes_with_its_session(stage: Stage) -> None:
    entry = await stage.staged(page("canary-words"), reason="canary-reason")
    rejected = await stage.staged(page("canary-words"))
    request = request_for("RejectStagedWrite", staged_write_id=rejected.staged_write_id, reason="canary-why")
    await stage.client.send("RejectStagedWrite", request)
    shared_entry = await stage.staged(
        patch(add("/systemPrompt", "x")), target={"project_id": stage.project_id}
    )
    receipt = (await stage.client.call("DeleteSession", session_id=stage.session_id)).receipt
    assert {one.store: one.rows for one in receipt}["staged_write"] == 2
    assert "canary" not in repr(await stage.rows())
    for name in ("GetStagedWrite", "PreviewStagedWrite", "AcceptStagedWrite", "WithdrawStagedWrite"):
        fields = {} if name.startswith(("Get", "Preview")) else {"reason": "r"}
        refused = await stage.client.refused(name, staged_write_id=entry.staged_write_id, **fields)
        assert (refused.code, refused.reason) == ("NOT_FOUND", "NOT_FOUND")
    assert (await stage.client.refusal("RejectStagedWrite", request)).code == "NOT_FOUND"
    assert (await stage.entry(shared_entry)).state == STAGED


async def test_a_repeat_is_the_same_bytes_whatever_became_of_it(stage: Stage) -> None:
    """R1, for staging and every decision, and for the floor that it made."""
    floor: floor_pb2.Floor = await stage.turn()
    here = {"target": stage.target("NEXT_FLOOR"), "parts": [page()], "reason": "why"}
    requests = [("StageWrite", request_for("StageWrite", **here)) for _ in range(3)]
    answers = [await stage.client.raw(name, request) for name, request in requests]
    ids = [
        (await stage.client.send(name, request)).staged_write.staged_write_id for name, request in requests
    ]
    decisions = [
        ("AcceptStagedWrite", {"expected_head": floor.floor_id}),
        ("RejectStagedWrite", {}),
        ("WithdrawStagedWrite", {}),
    ]
    for staged_write_id, (name, more) in zip(ids, decisions, strict=True):
        request = request_for(name, staged_write_id=staged_write_id, reason="because", **more)
        requests.append((name, request))
        answers.append(await stage.client.raw(name, request))
    await stage.turn()
    before = await stage.rows()
    for (name, request), answer in zip(requests, answers, strict=True):
        assert await stage.client.raw(name, request) == answer, name
        request.reason = "another"
        assert (await stage.client.refusal(name, request)).reason == "REQUEST_ID_REUSED"
    assert await stage.rows() == before
