"""Drafts: made from a frozen copy, read, listed, talked in."""

import uuid

import pytest
from stemma.draft.v1 import draft_pb2

from tests.drafts.stage import PURPOSE, Stage
from tests.support.client import assistant, request_for, texts, user

pytestmark = pytest.mark.asyncio(loop_scope="session")

USER, ASSISTANT = 2, 3
HISTORY = [(USER, "user 1"), (ASSISTANT, "answer 1"), (USER, "user 2"), (ASSISTANT, "answer 2")]


async def test_a_draft_of_a_session_goes_on_after_its_head(stage: Stage) -> None:
    session_id = await stage.session()
    head = (await stage.client.path_ids(session_id))[-1]
    made = await stage.draft.call(
        "CreateDraft",
        session_id=session_id,
        purpose=PURPOSE,
        title="a title",
        metadata={"b": "2", "a": "1"},
        origin={"run_id": str(uuid.uuid4())},
    )
    draft = made.draft
    assert (draft.source_session_id, draft.source_floor_id, draft.title) == (session_id, head, "a title")
    assert draft.state == draft_pb2.DRAFT_STATE_ACTIVE
    assert draft.retention_policy == draft_pb2.RETENTION_POLICY_DELETE_ON_FINALIZE
    assert draft.visibility == draft_pb2.VISIBILITY_CLIENT_VISIBLE
    assert draft.expire_time.seconds - draft.create_time.seconds == 7 * 24 * 3600
    assert dict(draft.metadata) == {"a": "1", "b": "2"}
    assert not draft.HasField("end_time")
    assert not draft.HasField("purge_time")
    assert len(draft.snapshot_digest) == len(draft.config_digest) == 64
    assert (made.branch.name, made.branch.depth) == ("main", 0)
    assert await stage.draft.get(draft.draft_id) == draft

    floor = await stage.draft.respond(draft.draft_id, "what now?")
    assert floor.session_id == draft.draft_id
    assert stage.draft.context() == [*HISTORY, (USER, "what now?")]
    # D1, D2: canon knows nothing of it.
    assert await stage.client.path_ids(session_id) == await stage.client.path_ids(session_id)
    listed = await stage.client.everything("ListSessions", "sessions")
    assert draft.draft_id not in {session.session_id for session in listed}
    assert (await stage.client.refused("GetSession", session_id=draft.draft_id)).code == "NOT_FOUND"


async def test_without_history_the_model_is_sent_the_draft_alone(stage: Stage) -> None:
    draft = await stage.draft.draft(session_id=await stage.session(), include_history=False)
    await stage.draft.respond(draft.draft_id, "alone")
    assert stage.draft.context() == [(USER, "alone")]


async def test_an_earlier_floor_is_the_end_of_the_history(stage: Stage) -> None:
    session_id = await stage.session(3)
    second = (await stage.client.path_ids(session_id))[1]
    draft = await stage.draft.draft(session_id=session_id, floor_id=second)
    assert draft.source_floor_id == second
    await stage.draft.respond(draft.draft_id, "from here")
    assert stage.draft.context() == [*HISTORY, (USER, "from here")]


async def test_a_reply_begins_with_the_source_floors_input(stage: Stage) -> None:
    session_id = await stage.session()
    head = (await stage.client.path_ids(session_id))[-1]
    made = await stage.draft.call(
        "CreateDraft",
        session_id=session_id,
        purpose=PURPOSE,
        position=draft_pb2.DRAFT_POSITION_REPLY_TO_FLOOR,
    )
    draft_id, pending = made.draft.draft_id, made.branch.pending_floor_id
    assert made.draft.source_floor_id == head
    assert pending
    refusal = await stage.draft.refused("AppendMessage", draft_id=draft_id, message=user("no"))
    assert refusal.reason == "FLOOR_PENDING"
    first = await stage.draft.respond(draft_id, resume={"floor_id": pending})
    assert stage.draft.context() == [*HISTORY[:2], (USER, "user 2")]
    assert texts(first.input_page) == ["user 2"]
    second = await stage.draft.respond(draft_id, regenerate={"floor_id": first.floor_id})
    assert stage.draft.context() == [*HISTORY[:2], (USER, "user 2")]
    assert second.parent_floor_id == first.parent_floor_id


async def test_a_draft_of_a_project_has_its_configuration_and_no_history(stage: Stage) -> None:
    config = {"system_prompt": "be brief", "variables_json": '{"hp": 3}'}
    project = (await stage.client.call("CreateProject", title="p", config=config)).project
    draft = await stage.draft.draft(project_id=project.project_id)
    assert (draft.project_id, draft.source_session_id, draft.source_floor_id) == (project.project_id, "", "")
    await stage.draft.respond(draft.draft_id, "hello")
    assert stage.draft.context() == [(1, "be brief"), (USER, "hello")]
    replaced = await stage.draft.draft(
        project_id=project.project_id, replace_system_prompt=True, config={"greetings": ["hi"]}
    )
    await stage.draft.respond(replaced.draft_id, "hello")
    assert stage.draft.context() == [(USER, "hello")]
    own = await stage.draft.draft(
        project_id=project.project_id,
        replace_system_prompt=True,
        config={"system_prompt": "you change settings; hp was {{hp}}"},
    )
    await stage.draft.respond(own.draft_id, "hello")
    assert stage.draft.context()[0] == (1, "you change settings; hp was 3")
    assert len({draft.config_digest, replaced.config_digest, own.config_digest}) == 3


async def test_state_and_live_values_are_frozen_with_the_rest(stage: Stage) -> None:
    """C2: what is on the path is visible in the draft; effects inside it change the draft's own (D6)."""
    config = {"system_prompt": "{{mood}} {{score}} {{shared}}"}
    project_id = (await stage.client.call("CreateProject", title="p", config=config)).project.project_id
    session_id = await stage.session(1, project_id=project_id)
    writes = [
        {"scope": 1, "key": "mood", "value_json": '"calm"'},
        {"scope": 2, "key": "score", "value_json": "7"},
        {"scope": 3, "key": "shared", "value_json": "8"},
    ]
    await stage.client.call(
        "AppendFloor",
        session_id=session_id,
        input=[user("x")],
        effects={"variables": writes, "memory": [{"op": 1, "kind": 1, "text": "likes tea"}]},
    )
    draft = await stage.draft.draft(session_id=session_id)
    await stage.draft.respond(draft.draft_id, "go")
    sent = stage.draft.context()
    assert sent[0] == (1, "calm 7 8")
    assert "likes tea" in sent[1][1]
    inside = await stage.draft.say(draft.draft_id, "change")
    changed = [{**write, "value_json": "0"} for write in writes]
    await stage.draft.call(
        "EditFloor",
        draft_id=draft.draft_id,
        floor_id=inside.floor_id,
        input=[user("change")],
        output=[assistant("done")],
        effects={"variables": changed},
    )
    await stage.draft.respond(draft.draft_id, "and now")
    assert stage.draft.context()[0] == (1, "0 0 0")
    state = await stage.client.call("GetState", session_id=session_id)
    assert [variable.value_json for variable in state.variables] == ['"calm"', "7", "8"]


async def test_messages_are_appended_without_a_model(stage: Stage) -> None:
    draft = await stage.draft.draft(session_id=await stage.session(0))
    sent = len(stage.draft.sent)
    said = await stage.draft.say(draft.draft_id, "mine")
    answered = await stage.draft.call(
        "AppendMessage", draft_id=draft.draft_id, expected_head=said.floor_id, message=assistant("yours")
    )
    assert texts(said.input_page) == ["mine"]
    assert texts(answered.floor.output_page) == ["yours"]
    assert not answered.floor.HasField("input_page")
    assert len(stage.draft.sent) == sent
    stale = await stage.draft.refused(
        "AppendMessage", draft_id=draft.draft_id, expected_head=said.floor_id, message=user("late")
    )
    assert (stale.code, stale.reason) == ("ABORTED", "HEAD_MOVED")


async def test_the_verbs_of_the_tree_are_the_kernels(stage: Stage) -> None:
    draft_id = (await stage.draft.draft(session_id=await stage.session())).draft_id
    first = await stage.draft.respond(draft_id, "fifteen")
    edited = await stage.draft.respond(
        draft_id, edit={"floor_id": first.floor_id, "messages": [user("fifty")]}
    )
    assert stage.draft.context() == [*HISTORY, (USER, "fifty")]
    again = await stage.draft.call(
        "RegenerateFloor", draft_id=draft_id, floor_id=edited.floor_id, output=[assistant("by hand")]
    )
    assert again.branch.head_floor_id == again.floor.floor_id
    back = await stage.draft.call("SelectSibling", draft_id=draft_id, floor_id=first.floor_id)
    assert back.branch.head_floor_id == first.floor_id
    root = await stage.draft.call("MoveHead", draft_id=draft_id, floor_id=first.parent_floor_id)
    assert root.branch.depth == 0
    opened = await stage.draft.call(
        "EditFloor", draft_id=draft_id, floor_id=first.floor_id, input=[user("open")]
    )
    committed = await stage.draft.call("CommitFloor", draft_id=draft_id, floor_id=opened.floor.floor_id)
    assert committed.branch.head_floor_id == opened.floor.floor_id
    tree = await stage.client_of_drafts.everything("draft.GetTree", "floors", draft_id=draft_id, page_size=2)
    assert len(tree) == 5
    assert not tree[0].parent_floor_id


async def test_no_verb_takes_a_floor_of_the_history(stage: Stage) -> None:
    session_id = await stage.session()
    source = (await stage.client.path_ids(session_id))[0]
    draft_id = (await stage.draft.draft(session_id=session_id)).draft_id
    other = await stage.draft.draft(session_id=session_id)
    foreign = await stage.draft.say(other.draft_id, "elsewhere")
    for floor_id in (source, foreign.floor_id, str(uuid.uuid4())):
        at = {"draft_id": draft_id, "floor_id": floor_id}
        for name, fields in {
            "EditFloor": {**at, "input": [user("x")]},
            "RegenerateFloor": {**at, "output": [assistant("x")]},
            "CommitFloor": at,
            "MoveHead": at,
            "SelectSibling": at,
        }.items():
            refusal = await stage.draft.refused(name, **fields)
            assert (refusal.code, refusal.reason) == ("NOT_FOUND", "NOT_FOUND"), name
        for action in (
            {"edit": {"floor_id": floor_id, "messages": [user("x")]}},
            {"resume": {"floor_id": floor_id}},
        ):
            refusal = await stage.draft.refused("Respond", draft_id=draft_id, **action)
            assert refusal.code == "NOT_FOUND"


async def test_the_transcript_shows_the_history_when_it_is_wanted(stage: Stage) -> None:
    session_id = await stage.session(3)
    draft_id = (await stage.draft.draft(session_id=session_id)).draft_id
    for number in range(3):
        await stage.draft.respond(draft_id, f"own {number}")
    plain = await stage.draft.call("GetTranscript", draft_id=draft_id)
    assert [texts(floor.input_page) for floor in plain.floors] == [[f"own {n}"] for n in range(3)]
    assert [(p.output_index, p.output_count) for p in plain.positions] == [(1, 1)] * 3
    assert not plain.snapshot_floors
    assert plain.branch.head_floor_id == plain.floors[-1].floor_id
    whole = await stage.draft.call("GetTranscript", draft_id=draft_id, include_snapshot=True)
    path = await stage.client.everything("ListPath", "floors", session_id=session_id)
    assert [floor.floor_id for floor in whole.snapshot_floors] == [floor.floor_id for floor in path]
    assert [floor.input_page for floor in whole.snapshot_floors] == [floor.input_page for floor in path]
    assert [floor.output_page for floor in whole.snapshot_floors] == [floor.output_page for floor in path]
    assert list(whole.floors) == list(plain.floors)
    paged, token = [], ""
    while True:
        page = await stage.draft.call(
            "GetTranscript", draft_id=draft_id, include_snapshot=True, page_size=2, page_token=token
        )
        paged += [*page.snapshot_floors, *page.floors]
        token = page.next_page_token
        if not token:
            break
        await stage.draft.say(draft_id, "later")
    assert paged == [*whole.snapshot_floors, *whole.floors]


async def test_drafts_are_listed_newest_first(stage: Stage) -> None:
    session_id = await stage.session(1)
    made = [(await stage.draft.draft(session_id=session_id)).draft_id for _ in range(3)]
    await stage.draft.call("DiscardDraft", draft_id=made[1])
    everything = stage.client_of_drafts.everything
    found = await everything("draft.ListDrafts", "drafts", session_id=session_id, page_size=1)
    assert [draft.draft_id for draft in found] == made[::-1]
    active = await everything(
        "draft.ListDrafts", "drafts", session_id=session_id, state=draft_pb2.DRAFT_STATE_ACTIVE
    )
    assert [draft.draft_id for draft in active] == [made[2], made[0]]
    project_id = found[0].project_id
    assert len(await everything("draft.ListDrafts", "drafts", project_id=project_id)) >= 3
    page = await stage.draft.call("ListDrafts", session_id=session_id, page_size=1)
    other = await stage.draft.refused("ListDrafts", page_size=1, page_token=page.next_page_token)
    assert other.code == "INVALID_ARGUMENT"


async def test_a_repeat_is_answered_byte_for_byte(stage: Stage) -> None:
    session_id = await stage.session(1)
    request = request_for("draft.CreateDraft", session_id=session_id, purpose=PURPOSE)
    client = stage.client_of_drafts
    first = await client.raw("draft.CreateDraft", request)
    draft_id = (await client.send("draft.CreateDraft", request)).draft.draft_id
    await stage.draft.say(draft_id, "x")
    end = request_for("draft.FinalizeDraft", draft_id=draft_id, reason="done")
    ended = await client.raw("draft.FinalizeDraft", end)
    assert await client.raw("draft.FinalizeDraft", end) == ended
    assert await client.raw("draft.CreateDraft", request) == first
    request.purpose = "another"
    assert (await client.refusal("draft.CreateDraft", request)).reason == "REQUEST_ID_REUSED"


async def test_runs_are_read_and_cancelled_by_their_draft(stage: Stage) -> None:
    session_id = await stage.session(1)
    draft_id = (await stage.draft.draft(session_id=session_id)).draft_id
    other = (await stage.draft.draft(session_id=session_id)).draft_id
    floor = await stage.draft.respond(draft_id, "hello")
    run = (await stage.draft.call("GetRun", draft_id=draft_id, run_id=floor.run_id)).run
    assert (run.draft_id, run.session_id, run.floor_id) == (draft_id, "", floor.floor_id)
    for name in ("GetRun", "CancelRun", "AttachRun"):
        refusal = await stage.draft.refused(name, draft_id=other, run_id=floor.run_id)
        assert refusal.code == "NOT_FOUND", name
    ended = await stage.draft.refused("CancelRun", draft_id=draft_id, run_id=floor.run_id)
    assert ended.code == "FAILED_PRECONDITION"


async def test_the_source_is_refused_as_it_refuses(stage: Stage) -> None:
    missing = await stage.draft.refused("CreateDraft", session_id=str(uuid.uuid4()), purpose=PURPOSE)
    assert (missing.code, missing.reason) == ("NOT_FOUND", "NOT_FOUND")
    session_id = await stage.session(1)
    wrong = await stage.draft.refused(
        "CreateDraft", session_id=session_id, floor_id=str(uuid.uuid4()), purpose=PURPOSE
    )
    assert wrong == missing
