"""SearchMessages: which messages are found, on which branch, in which order."""

import pytest
from stemma.kernel.v1 import floor_pb2, message_pb2

from kernel.rpc.call import Identity, LocalAuthenticator
from tests.projects.stage import Stage, mask, new_id
from tests.search.finding import ALL, PATH, found, hits, indexed
from tests.support.client import Refusal, assistant, say, user

GONE = Refusal("NOT_FOUND", "NOT_FOUND", {})


async def turn(stage: Stage, session_id: str, asked: str, said: str, **fields: object) -> floor_pb2.Floor:
    answer = await stage.call(
        "AppendFloor", session_id=session_id, input=[user(asked)], output=[assistant(said)], **fields
    )
    return answer.floor


async def test_a_hit_names_the_message_and_shows_it(stage: Stage) -> None:
    session_id = (await stage.session()).session_id
    floor = await turn(stage, session_id, "Where is the Green Chapel?", "Two miles hence.")
    (hit,) = await hits(stage, "green", session_id=session_id)
    message = floor.input_page.messages[0]
    assert (hit.session_id, hit.floor_id, hit.message_id) == (session_id, floor.floor_id, message.message_id)
    assert (hit.branch, hit.role) == ("main", message_pb2.ROLE_USER)
    assert hit.snippet == "Where is the Green Chapel?"
    (hit,) = await hits(stage, "MILES two", session_id=session_id)
    assert (hit.role, hit.snippet) == (message_pb2.ROLE_ASSISTANT, "Two miles hence.")


async def test_all_words_of_one_message_and_whole_words(stage: Stage) -> None:
    session_id = (await stage.session()).session_id
    floor = await turn(stage, session_id, "a green knight", "with a green girdle")
    assert await found(stage, "green girdle") == [floor.floor_id]
    assert await found(stage, "knight girdle") == []
    assert await found(stage, "gird") == []
    assert await found(stage, "Knîght") == [floor.floor_id]


async def test_the_newest_come_first_and_pages_make_the_whole(stage: Stage) -> None:
    sessions = [(await stage.session()).session_id for _ in range(2)]
    floors = [(await turn(stage, sessions[n % 2], f"word {n}", "word again")).floor_id for n in range(5)]
    twice = [floor_id for floor_id in reversed(floors) for _ in range(2)]
    for size in (1, 3, 100):
        assert await found(stage, "word", page_size=size) == twice
    roles = [hit.role for hit in await hits(stage, "word", page_size=3)]
    assert roles == [message_pb2.ROLE_ASSISTANT, message_pb2.ROLE_USER] * 5
    in_first = [floor_id for floor_id in twice if floor_id in floors[::2]]
    assert await found(stage, "word", session_id=sessions[0], page_size=3) == in_first


async def test_pages_stand_still_while_more_is_written(stage: Stage) -> None:
    session_id = (await stage.session()).session_id
    floors = [(await turn(stage, session_id, f"word {n}", "other")).floor_id for n in range(4)]
    await indexed(stage)
    fields = {"session_id": session_id, "query": "word", "page_size": 2}
    first = await stage.call("SearchMessages", **fields)
    await turn(stage, session_id, "word 5", "other")
    await indexed(stage)
    second = await stage.call("SearchMessages", **fields, page_token=first.next_page_token)
    shown = [hit.floor_id for answer in (first, second) for hit in answer.hits]
    assert shown == floors[::-1]
    assert not second.next_page_token


async def test_a_path_has_what_it_shows_and_all_has_the_rest(stage: Stage) -> None:
    """Edited, rolled back, on a branch, on none: the path follows, and every hit says where it is."""
    session_id = (await stage.session()).session_id
    first = await turn(stage, session_id, "word one", "x")
    second = await turn(stage, session_id, "word two", "x")
    edit = {"floor_id": second.floor_id, "input": [user("word two, edited")], "output": [assistant("x")]}
    edited = (await stage.call("EditFloor", **edit)).floor
    await stage.call("CreateBranch", session_id=session_id, name="side", floor_id=second.floor_id)
    third = await turn(stage, session_id, "word three", "x")
    assert await found(stage, "word", session_id=session_id, scope=PATH) == [
        third.floor_id,
        edited.floor_id,
        first.floor_id,
    ]
    side = {"session_id": session_id, "scope": PATH, "branch": "side"}
    assert await found(stage, "word", **side) == [second.floor_id, first.floor_id]
    where = [(hit.floor_id, hit.branch) for hit in await hits(stage, "word", session_id=session_id)]
    assert where == [
        (third.floor_id, "main"),
        (edited.floor_id, "main"),
        (second.floor_id, "side"),
        (first.floor_id, "main"),
    ]
    await stage.call("MoveHead", session_id=session_id, floor_id=first.floor_id)
    await stage.call("DeleteBranch", session_id=session_id, branch="side")
    assert await found(stage, "word", session_id=session_id, scope=PATH) == [first.floor_id]
    where = [(hit.floor_id, hit.branch) for hit in await hits(stage, "word", session_id=session_id)]
    assert where == [
        (third.floor_id, ""),
        (edited.floor_id, ""),
        (second.floor_id, ""),
        (first.floor_id, "main"),
    ]


async def test_the_path_of_a_branch_in_all_sessions_of_a_project(stage: Stage) -> None:
    """Sessions without such a branch have nothing on it."""
    project = (await stage.project()).project_id
    with_side, without = [(await stage.session(project_id=project)).session_id for _ in range(2)]
    elsewhere = await turn(stage, (await stage.session()).session_id, "word", "x")
    one = await turn(stage, with_side, "word", "x")
    await stage.call("CreateBranch", session_id=with_side, name="side", floor_id=one.floor_id)
    on_side = await turn(stage, with_side, "word", "x", branch="side")
    other = await turn(stage, without, "word", "x")
    fields = {"project_id": project, "scope": PATH}
    assert await found(stage, "word", **fields, branch="side") == [on_side.floor_id, one.floor_id]
    assert await found(stage, "word", **fields) == [other.floor_id, one.floor_id]
    assert await found(stage, "word", project_id=project) == [
        other.floor_id,
        on_side.floor_id,
        one.floor_id,
    ]
    assert await found(stage, "word") == [elsewhere.floor_id]


async def test_pages_that_are_all_off_the_path_lead_on(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is looked at for one page is bounded: the token is there although no hit is."""
    monkeypatch.setattr("conversation_service.app.search._LOOKED_AT", 2)
    session_id = (await stage.session()).session_id
    first = await turn(stage, session_id, "word", "x")
    for _ in range(5):
        await turn(stage, session_id, "word", "x")
    await stage.call("MoveHead", session_id=session_id, floor_id=first.floor_id)
    await indexed(stage)
    answer = await stage.call("SearchMessages", session_id=session_id, query="word")
    assert not answer.hits
    assert answer.next_page_token
    assert await found(stage, "word", session_id=session_id, scope=PATH) == [first.floor_id]


async def test_what_is_not_said_or_not_shown_is_not_found(stage: Stage) -> None:
    """Hidden messages, reasoning and tools; pages that were not chosen; floors that are open or failed."""
    session_id = (await stage.session()).session_id
    shown = await stage.call(
        "AppendFloor",
        session_id=session_id,
        input=[user("word hidden", hidden=True), say(message_pb2.ROLE_SYSTEM, "word said")],
        output=[
            message_pb2.Message(
                role=message_pb2.ROLE_ASSISTANT,
                parts=[
                    {"reasoning": {"text": "word thought"}},
                    {"tool_call": {"call_id": "1", "name": "word", "arguments_json": '{"word":1}'}},
                ],
            )
        ],
    )
    opened = (await stage.call("OpenFloor", session_id=session_id, input=[user("word open")])).floor
    fields = {"floor_id": opened.floor_id, "slot": 2}
    await stage.call("AddPage", **fields, messages=[assistant("word not chosen")])
    chosen = (await stage.call("AddPage", **fields, messages=[assistant("word chosen")], activate=True)).page
    (hit,) = await hits(stage, "word")
    assert (hit.floor_id, hit.snippet) == (shown.floor.floor_id, "word said")
    await stage.call("CommitFloor", floor_id=opened.floor_id, page_id=chosen.page_id)
    failed = (await stage.call("OpenFloor", session_id=session_id, input=[user("word failed")])).floor
    await stage.call("AbandonFloor", floor_id=failed.floor_id)
    snippets = [hit.snippet for hit in await hits(stage, "word")]
    assert snippets == ["word chosen", "word open", "word said"]


async def test_a_message_that_floors_share_is_found_on_each(stage: Stage) -> None:
    session_id = (await stage.session()).session_id
    first = await turn(stage, session_id, "word", "one")
    again = (await stage.call("RegenerateFloor", floor_id=first.floor_id, output=[assistant("two")])).floor
    found_on = await hits(stage, "word", session_id=session_id)
    assert [hit.floor_id for hit in found_on] == [again.floor_id, first.floor_id]
    assert len({hit.message_id for hit in found_on}) == 1
    assert await found(stage, "word", session_id=session_id, scope=PATH) == [again.floor_id]


async def test_a_run_is_found(stage: Stage) -> None:
    session_id = (await stage.session()).session_id
    floor = await stage.client.respond(session_id, input={"messages": [user("xylophone")]})
    assert set(await found(stage, "xylophone", session_id=session_id)) == {floor.floor_id}


async def test_a_deleted_session_is_found_no_more(stage: Stage) -> None:
    kept, gone = [(await stage.session()).session_id for _ in range(2)]
    floors = [await turn(stage, session_id, "word", "x") for session_id in (kept, gone)]
    assert len(await found(stage, "word")) == 2
    receipt = (await stage.call("DeleteSession", session_id=gone)).receipt
    assert {one.store: one.rows for one in receipt}["search_message"] == 2
    assert await found(stage, "word") == [floors[0].floor_id]
    assert await stage.client.refused("SearchMessages", session_id=gone, query="word") == GONE


async def test_archived_is_found(stage: Stage) -> None:
    project = (await stage.project()).project_id
    session_id = (await stage.session(project_id=project)).session_id
    floor = await turn(stage, session_id, "word", "x")
    await stage.call("ArchiveSession", session_id=session_id)
    await stage.call("ArchiveProject", project_id=project)
    assert await found(stage, "word", session_id=session_id) == [floor.floor_id]
    assert await found(stage, "word", project_id=project) == [floor.floor_id]


async def test_bad_input_16_what_is_not_ones_own_is_not_there(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = (await stage.project()).project_id
    session_id = (await stage.session(project_id=project)).session_id
    await turn(stage, session_id, "word", "x")
    await indexed(stage)
    with monkeypatch.context() as elsewhere:
        other = Identity("other", "local", frozenset({"owner"}))
        elsewhere.setattr(LocalAuthenticator, "_LOCAL", other)
        for where in ({"session_id": session_id}, {"project_id": project}, {"session_id": new_id()}):
            assert await stage.client.refused("SearchMessages", query="word", **where) == GONE
        assert await found(stage, "word") == []


async def test_a_branch_that_is_not_there(stage: Stage) -> None:
    session_id = (await stage.session()).session_id
    refusal = await stage.client.refused("SearchMessages", session_id=session_id, query="a", branch="no")
    assert refusal == GONE


async def test_which_requests_are_wrong(stage: Stage) -> None:
    session_id = (await stage.session()).session_id
    wrong = [
        {"query": "a"},
        {"query": "a", "session_id": session_id, "project_id": "default"},
        {"session_id": session_id},
        {"query": "+-*/", "session_id": session_id},
        {"query": "a", "session_id": session_id, "scope": ALL, "branch": "main"},
        {"query": "a", "session_id": session_id, "scope": 3},
        {"query": "a\0b", "session_id": session_id},
        {"query": "a", "session_id": session_id, "page_size": -1},
        {"query": " ".join(f"w{n}" for n in range(65)), "session_id": session_id},
    ]
    for fields in wrong:
        assert (await stage.client.refused("SearchMessages", **fields)).reason == "INVALID", fields
    assert await found(stage, " ".join(f"w{n}" for n in range(64)), session_id=session_id) == []


async def test_bad_input_36_a_token_of_another_search(stage: Stage) -> None:
    sessions = [(await stage.session()).session_id for _ in range(2)]
    for _ in range(3):
        for session_id in sessions:
            await turn(stage, session_id, "word other", "x")
    await indexed(stage)
    asked = {"session_id": sessions[0], "query": "word", "page_size": 1, "scope": ALL}
    token = (await stage.call("SearchMessages", **asked)).next_page_token
    assert (await stage.call("SearchMessages", **asked, page_token=token)).hits
    for change in (
        {"session_id": sessions[1]},
        {"session_id": "", "project_id": "default"},
        {"query": "other"},
        {"scope": PATH},
    ):
        fields = asked | change | {"page_token": token}
        assert (await stage.client.refused("SearchMessages", **fields)).reason == "INVALID", change
    await stage.call("UpdateSession", session_id=sessions[0], title="t", update_mask=mask("title"))
    # The same words in another writing are the same search.
    assert (await stage.call("SearchMessages", **asked | {"query": "Wörd!"}, page_token=token)).hits
