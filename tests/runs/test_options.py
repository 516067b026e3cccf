"""What a Respond may ask for besides its action: configuration, budget, and what is not served yet."""

from typing import Any

import grpc
import pytest
from google.rpc import error_details_pb2, status_pb2
from stemma.kernel.v1 import floor_pb2

from tests.runs.stage import Stage, end_of, kinds
from tests.support.client import assistant, refusal_of, request_for, user

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_one_candidate_is_no_candidates(stage: Stage, session: str) -> None:
    for count in (0, 1):
        frames = await stage.watch(session, stage.part(), candidate_count=count).end()
        assert kinds(frames)[-1] == "floor_committed"


async def test_a_system_prompt_is_sent_first(stage: Stage) -> None:
    config = {"system_prompt": "You are brief.", "model": {"temperature": 0.5, "stop": ["END"]}}
    session = (await stage.client.call("CreateSession", config=config)).session
    part = stage.part()
    await stage.watch(session.session_id, part).end()
    (sent,) = part.sent
    roles = [(message.role.name, message.text) for message in sent.messages]
    assert roles == [("SYSTEM", "You are brief."), ("USER", part.text)]
    assert (sent.model.temperature, sent.model.stop) == (0.5, ("END",))
    # It is configuration and not a message: the path holds none.
    floor = (await stage.other.call("ListPath", session_id=session.session_id)).floors[0]
    assert [message.parts[0].text.text for message in floor.input_page.messages] == [part.text]


async def test_overrides_hold_for_one_run(stage: Stage) -> None:
    config = {"system_prompt": "You are brief.", "model": {"temperature": 0.5, "seed": 7}}
    session = (await stage.client.call("CreateSession", config=config)).session.session_id
    part = stage.part({"text": "one"}, {"text": "two"})
    overrides = {"system_prompt": "You are bold.", "model": {"temperature": 1.5, "max_output_tokens": 9}}
    first = end_of(await stage.watch(session, part, overrides=overrides).end())
    await stage.respond(regenerate={"floor_id": first.floor_id}).end()
    over, plain = part.sent
    assert [over.messages[0].text, plain.messages[0].text] == ["You are bold.", "You are brief."]
    assert (over.model.temperature, over.model.max_output_tokens, over.model.seed) == (1.5, 9, 7)
    assert (plain.model.temperature, plain.model.max_output_tokens, plain.model.seed) == (0.5, None, 7)
    # An empty one is none at all.
    empty = stage.part()
    await stage.watch(session, empty, overrides={"system_prompt": ""}).end()
    assert {message.role.name for message in empty.sent[0].messages} == {"USER", "ASSISTANT"}


@pytest.mark.parametrize(
    ("overrides", "field"),
    [
        ({"model": {"provider": "nobody"}}, "overrides.model.provider"),
        ({"model": {"temperature": 2.5}}, "overrides.model.temperature"),
        ({"model": {"temperature": float("nan")}}, "overrides.model.temperature"),
        ({"model": {"top_p": 0.0}}, "overrides.model.top_p"),
        ({"model": {"max_output_tokens": 0}}, "overrides.model.max_output_tokens"),
        ({"model": {"stop": ["x"] * 17}}, "overrides.model.stop"),
        ({"budget": {"max_input_tokens": 0}}, "overrides.budget.max_input_tokens"),
        ({"budget": {"reserved_output_tokens": -1}}, "overrides.budget.reserved_output_tokens"),
        ({"system_prompt": "x" * (256 * 1024 + 1)}, "overrides.system_prompt"),
        ({"system_prompt": "a\0b"}, "overrides.system_prompt"),
    ],
)
async def test_overrides_that_cannot_be(
    stage: Stage, session: str, overrides: dict[str, Any], field: str
) -> None:
    part = stage.part()
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await stage.watch(session, part, overrides=overrides).rest()
    refusal = refusal_of(caught.value)
    assert (refusal.code, refusal.reason) == ("INVALID_ARGUMENT", "INVALID")
    assert _fields(caught.value) == [field]
    assert part.sent == []
    branch = await stage.branch(session)
    assert (branch.pending_floor_id, branch.failed_floor_id) == ("", "")


def _fields(error: grpc.aio.AioRpcError) -> list[str]:
    """The fields of the answer's BadRequest."""
    trailers = dict(error.trailing_metadata() or ())
    status = status_pb2.Status.FromString(trailers["grpc-status-details-bin"])
    bad = error_details_pb2.BadRequest()
    assert any(detail.Unpack(bad) for detail in status.details)
    return [violation.field for violation in bad.field_violations]


async def test_a_budget_leaves_the_oldest_turns_out(stage: Stage, session: str) -> None:
    for number in range(4):
        turn = {"input": [user(f"{number} {'x' * 400}")], "output": [assistant(f"{number} {'y' * 400}")]}
        await stage.client.call("AppendFloor", session_id=session, **turn)
    part = stage.part()
    budget = {"max_input_tokens": 400, "reserved_output_tokens": 50}
    frames = await stage.watch(session, part, overrides={"budget": budget}).end()
    started = frames[0].started
    sent = [message.text for message in part.sent[0].messages]
    # Of about 200 tokens a turn one has room; whole turns leave, and the newest input stays.
    assert [text[:1] for text in sent] == ["3", "3", "l"]
    assert (started.left_out_count, started.tokens_in <= 350) == (3, True)

    tiny = stage.part()
    await stage.watch(session, tiny, overrides={"budget": {"max_input_tokens": 1}}).end()
    assert [message.text for message in tiny.sent[0].messages] == [tiny.text]


async def test_a_context_without_words_is_refused_by_nobody(stage: Stage, session: str) -> None:
    """The first turn without an input: there is nothing to send, and the scripted model answers that."""
    frames = await stage.respond(session_id=session, input={}).end()
    assert frames[0].started.tokens_in == 0
    assert end_of(frames).state == floor_pb2.FLOOR_STATE_COMMITTED


async def test_an_action_is_required(stage: Stage, session: str) -> None:
    refusal = await stage.client.refusal("Respond", request_for("Respond", session_id=session))
    assert (refusal.code, refusal.reason) == ("INVALID_ARGUMENT", "INVALID")
    floor = end_of(await stage.play(session))
    nothing = {"edit": {"floor_id": floor.floor_id}}
    assert (await stage.client.refused("Respond", **nothing)).code == "INVALID_ARGUMENT"


async def test_the_root_is_no_turn(stage: Stage, session: str) -> None:
    root = (await stage.branch(session)).head_floor_id
    for action in ({"regenerate": {"floor_id": root}}, {"edit": {"floor_id": root, "messages": [user("x")]}}):
        assert (await stage.client.refused("Respond", **action)).code == "INVALID_ARGUMENT"
    resumed = await stage.client.refused("Respond", resume={"floor_id": root})
    assert (resumed.code, resumed.reason) == ("FAILED_PRECONDITION", "FLOOR_SEALED")
