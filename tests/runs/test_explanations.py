"""What a model was sent can be read later, byte for byte, and any two contexts compare (C4)."""

import json
import uuid
from collections.abc import Sequence
from typing import Any

import httpx
import pytest
from google.protobuf import json_format
from stemma.conversation.v1 import context_service_pb2
from stemma.kernel.v1 import floor_pb2, run_pb2

from kernel.generation.provider import ChatRequest
from tests.gateway.harness import serve_gateway
from tests.runs.stage import Part, Stage, end_of
from tests.support.client import TIMEOUT, assistant, text_of, user

pytestmark = pytest.mark.asyncio(loop_scope="session")

PROMPT = "You are brief."


async def explained(stage: Stage, floor_id: str) -> Any:
    return await stage.other.call("ExplainFloor", floor_id=floor_id)


def words(sent: ChatRequest) -> list[tuple[int, str]]:
    return [(int(message.role), message.text) for message in sent.messages]


def said(answer: Any) -> list[tuple[int, str]]:
    return [(message.role, text_of(message)) for message in answer.messages]


async def changed(stage: Stage, session: str, **config: Any) -> None:
    mask = {"paths": [f"config.{name}" for name in config]}
    await stage.client.call("UpdateSession", session_id=session, config=config, update_mask=mask)


async def turn(stage: Stage, session: str, text: str, **fields: Any) -> floor_pb2.Floor:
    spoken = {"input": [user(text)], "output": [assistant(f"re: {text}")]}
    answer = await stage.client.call("AppendFloor", session_id=session, **(spoken | fields))
    return answer.floor


def assert_is(answer: Any, part: Part, frames: Sequence[run_pb2.RunEvent]) -> None:
    """The explanation is of what the provider got, and what the run's first frame said."""
    (sent,) = part.sent
    assert answer.recorded
    assert said(answer) == words(sent)
    assert len(answer.explanation.entries) == len(answer.messages)
    started = frames[0].started
    told = answer.explanation
    assert (told.context_digest, told.tokens_in, len(told.left_out)) == (
        started.context_digest,
        started.tokens_in,
        started.left_out_count,
    )


async def test_it_stays_what_was_sent_whatever_changes(stage: Stage, session: str) -> None:
    await changed(
        stage, session, system_prompt=PROMPT, model={"temperature": 0.5}, budget={"max_input_tokens": 60}
    )
    first = await turn(stage, session, "long ago " * 20)
    await turn(stage, session, "just now", input=[user("seen"), user("unseen", hidden=True)])
    dry = await stage.other.call("AssembleContext", session_id=session)
    part = stage.part()
    frames = await stage.watch(session, part).end()
    floor = end_of(frames)
    before = await explained(stage, floor.floor_id)
    assert_is(before, part, frames)
    assert [out.why for out in before.explanation.left_out] == ["budget", "hidden"]
    assert (before.model.temperature, before.budget.max_input_tokens) == (0.5, 60)
    assert before.explanation.config_version == dry.explanation.config_version

    await changed(
        stage, session, system_prompt="Be long.", budget={"max_input_tokens": 5}, model={"temperature": 1}
    )
    assert await explained(stage, floor.floor_id) == before
    await stage.client.call("MoveHead", session_id=session, floor_id=first.floor_id)
    await turn(stage, session, "elsewhere")
    await stage.client.call("ArchiveSession", session_id=session)
    assert await explained(stage, floor.floor_id) == before


async def test_from_the_start_of_the_run_to_each_of_its_ends(stage: Stage, session: str) -> None:
    ends = {
        "floor_committed": stage.part(hold_at=1),
        "cancelled": stage.part(hold_at=1),
        "failed": stage.part(
            {"deltas": ["Once ", "upon "], "fail": {"reason": "PROVIDER_UNAVAILABLE", "after": 2}}, hold_at=1
        ),
    }
    for end, part in ends.items():
        watch = await stage.watch(session, part).started()
        await part.held()
        generating = await explained(stage, watch.floor_id)
        assert (await stage.floor(watch.floor_id)).state == floor_pb2.FLOOR_STATE_GENERATING
        if end == "cancelled":
            await stage.other.call("CancelRun", run_id=watch.run_id, keep=run_pb2.KEEP_FAIL)
        part.go()
        frames = await watch.end()
        assert frames[-1].WhichOneof("event") == end
        assert_is(generating, part, frames)
        assert await explained(stage, watch.floor_id) == generating


async def test_every_way_to_a_run(stage: Stage, session: str) -> None:
    """Input, none, edit, regenerate, and a floor that was opened before: each floor has its own record."""
    first = end_of(await stage.play(session))
    opened_part, edited_part, again_part, bare_part = (stage.part() for _ in range(4))
    opened = (
        await stage.client.call("OpenFloor", session_id=session, input=opened_part.input["messages"])
    ).floor
    would_be = await explained(stage, opened.floor_id)
    assert not would_be.recorded
    frames = await stage.respond(resume={"floor_id": opened.floor_id}).end()
    resumed = await explained(stage, opened.floor_id)
    assert_is(resumed, opened_part, frames)
    assert (resumed.messages, resumed.explanation) == (would_be.messages, would_be.explanation)

    frames = await stage.respond(edit={"floor_id": first.floor_id, **edited_part.input}).end()
    assert_is(await explained(stage, end_of(frames).floor_id), edited_part, frames)

    fresh = end_of(await stage.watch(session, again_part).end())
    frames = await stage.respond(regenerate={"floor_id": fresh.floor_id}).end()
    assert len(again_part.sent) == 2
    again = await explained(stage, end_of(frames).floor_id)
    assert said(again) == words(again_part.sent[1])
    assert again.explanation.context_digest == frames[0].started.context_digest
    assert [entry.why for entry in again.explanation.entries][-1] == "pending"

    stage.cast.add(bare_part)
    frames = await stage.respond(session_id=session, input={}).end()
    bare = await explained(stage, end_of(frames).floor_id)
    assert bare.explanation.context_digest == frames[0].started.context_digest
    assert "pending" not in [entry.why for entry in bare.explanation.entries]


async def test_overrides_of_the_call_are_in_it(stage: Stage, session: str) -> None:
    part = stage.part()
    overrides = {"system_prompt": "Only now.", "model": {"seed": 2**53 + 1}}
    frames = await stage.watch(session, part, overrides=overrides).end()
    answer = await explained(stage, end_of(frames).floor_id)
    assert_is(answer, part, frames)
    assert said(answer)[0][1] == "Only now."
    assert answer.model.seed == 2**53 + 1
    assert "/call." in answer.explanation.config_version


async def test_a_floor_that_no_model_wrote_shows_what_one_would_be_sent_now(
    stage: Stage, session: str
) -> None:
    floor = await turn(stage, session, "by hand")
    answer = await explained(stage, floor.floor_id)
    assert not answer.recorded
    assert said(answer) == [(1 + 1, "by hand")]
    await changed(stage, session, system_prompt=PROMPT)
    assert said(await explained(stage, floor.floor_id)) == [(1, PROMPT), (2, "by hand")]
    root = (await stage.other.call("GetSession", session_id=session)).session.root_floor_id
    assert said(await explained(stage, root)) == [(1, PROMPT)]
    opened = (await stage.client.call("OpenFloor", session_id=session, input=[user("draft")])).floor
    assert said(await explained(stage, opened.floor_id))[-1] == (2, "draft")


async def test_a_fork_takes_no_record_along(stage: Stage, session: str) -> None:
    """The run, and what was sent in it, stay with the session that it ran in."""
    await changed(stage, session, system_prompt=PROMPT)
    floor = end_of(await stage.play(session))
    forked = await stage.client.call("ForkSession", session_id=session, floor_id=floor.floor_id)
    copy = (await stage.other.path_ids(forked.session.session_id))[-1]
    await changed(stage, forked.session.session_id, system_prompt="Be long.")
    answer = await explained(stage, copy)
    assert not answer.recorded
    assert said(answer)[0] == (1, "Be long.")
    original = await explained(stage, floor.floor_id)
    assert original.recorded
    assert said(original)[0] == (1, PROMPT)


async def test_it_goes_with_its_session(stage: Stage, session: str) -> None:
    await changed(stage, session, system_prompt=PROMPT)
    floor = end_of(await stage.play(session))
    receipt = (await stage.client.call("DeleteSession", session_id=session)).receipt
    assert {"prompt": 1, "prompt_block": 1}.items() <= {one.store: one.rows for one in receipt}.items()
    for name, fields in {
        "ExplainFloor": {"floor_id": floor.floor_id},
        "DiffContexts": {"left_floor_id": floor.floor_id, "right_floor_id": floor.floor_id},
    }.items():
        refusal = await stage.client.refused(name, **fields)
        assert (refusal.code, refusal.reason) == ("NOT_FOUND", "NOT_FOUND")


async def compared(stage: Stage, left: str, right: str) -> Any:
    return await stage.other.call("DiffContexts", left_floor_id=left, right_floor_id=right)


async def test_a_regenerated_sibling_differs_by_the_configuration_alone(stage: Stage, session: str) -> None:
    await changed(stage, session, system_prompt=PROMPT)
    await turn(stage, session, "before")
    left = end_of(await stage.play(session))
    same = end_of(await stage.respond(regenerate={"floor_id": left.floor_id}).end())
    found = await compared(stage, left.floor_id, same.floor_id)
    assert (list(found.removed), list(found.added), len(found.kept)) == ([], [], 4)
    assert found.left.context_digest == found.right.context_digest

    await changed(stage, session, system_prompt="Be long.", model={"temperature": 1})
    right = end_of(await stage.respond(regenerate={"floor_id": left.floor_id}).end())
    found = await compared(stage, left.floor_id, right.floor_id)
    assert [entry.why for entry in found.removed] == ["system_prompt"]
    assert [entry.why for entry in found.added] == ["system_prompt"]
    assert [entry.why for entry in found.kept] == ["path", "path", "pending"]
    assert found.left.config_version != found.right.config_version
    assert found.left.context_digest != found.right.context_digest
    assert (found.left.model.HasField("temperature"), found.right.model.temperature) == (False, 1)
    assert (found.left.floor_id, found.right.floor_id) == (left.floor_id, right.floor_id)


async def test_contexts_of_two_branches_and_two_sessions(stage: Stage, session: str) -> None:
    shared = await turn(stage, session, "shared")
    left = end_of(await stage.play(session))
    await stage.client.call("CreateBranch", session_id=session, name="side", floor_id=shared.floor_id)
    aside = await turn(stage, session, "aside", branch="side")
    right = end_of(await stage.watch(session, stage.part(), branch="side").end())
    found = await compared(stage, left.floor_id, right.floor_id)
    assert {entry.floor_id for entry in found.kept} == {shared.floor_id}
    assert [entry.floor_id for entry in found.removed] == [left.floor_id]
    assert [entry.floor_id for entry in found.added] == [aside.floor_id] * 2 + [right.floor_id]
    assert all(entry.message_id and entry.tokens for entry in (*found.kept, *found.added))

    other = end_of(await stage.play(await stage.client.new_session()))
    apart = await compared(stage, left.floor_id, other.floor_id)
    assert (len(apart.removed), len(apart.kept), len(apart.added)) == (3, 0, 1)


async def test_over_rest(stage: Stage, session: str) -> None:
    floor = end_of(await stage.play(session))
    expected = await explained(stage, floor.floor_id)
    async with (
        serve_gateway(stage.service.address) as url,
        httpx.AsyncClient(base_url=url, timeout=TIMEOUT, trust_env=False) as http,
    ):
        answer = await http.get(f"/v1/floors/{floor.floor_id}/explanation")
        assert answer.status_code == 200, answer.text
        parsed = json_format.Parse(answer.text, context_service_pb2.ExplainFloorResponse())
        assert parsed == expected
        body = {"leftFloorId": floor.floor_id, "rightFloorId": floor.floor_id}
        answer = await http.post("/v1/contexts:diff", json=body)
        assert answer.status_code == 200, answer.text
        assert json.loads(answer.text)["left"] == json.loads(answer.text)["right"]
        unknown = await http.get(f"/v1/floors/{uuid.uuid4()}/explanation")
        assert unknown.status_code == 404
