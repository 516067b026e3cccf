"""Floors and pages as answers show them: ids and counts are filled in, and fixed by the floor."""

from dataclasses import replace
from datetime import UTC, datetime

from stemma.kernel.v1 import floor_pb2, message_pb2

from kernel.tree.model import Branch, FloorState, HeadMove, Page, PageContent, Position, Slot, Usage
from kernel.verbs.answers import Shown, last_message, message_id
from kernel.wire.codec import page_content
from kernel.wire.trees import branch_pb, floor_pb, head_move_pb, page_pb, position_pb, time_pb, usage_pb
from tests.unit.builders import NOW, floor, page


def content(*texts: str) -> PageContent:
    found = page_content(message_pb2.Message(role=2, parts=[{"text": {"text": text}}]) for text in texts)
    assert found is not None
    return found


def ids(shown: floor_pb2.Floor) -> list[tuple[str, str]]:
    """(id, parent's id) of a floor's messages."""
    messages = [*shown.input_page.messages, *shown.output_page.messages]
    return [(message.message_id, message.parent_message_id) for message in messages]


QUESTION = page("q", Slot.INPUT, content("one", "two"))
ANSWER = page("a", Slot.OUTPUT, content("three"))
ROOT = floor("root")


def test_each_message_names_the_one_before_it() -> None:
    first = floor("1", ROOT, input=QUESTION, output=ANSWER)
    assert ids(floor_pb(Shown(first, ""))) == [("q.0", ""), ("q.1", "q.0"), ("a.0", "q.1")]
    assert last_message(first) == "a.0"
    second = floor("2", first, output=page("b", Slot.OUTPUT, content("four")))
    assert ids(floor_pb(Shown(second, last_message(first)))) == [("b.0", "a.0")]


def test_replies_to_one_input_share_their_parent() -> None:
    """Regenerate copies the input page with its id, so both replies hang on the same message."""
    other = page("b", Slot.OUTPUT, content("other"))
    shown = [
        floor_pb(Shown(floor(n, ROOT, input=QUESTION, output=o), ""))
        for n, o in (("1", ANSWER), ("2", other))
    ]
    assert [one.output_page.messages[0].parent_message_id for one in shown] == ["q.1", "q.1"]
    assert ids(shown[0])[:2] == ids(shown[1])[:2]


def test_a_floor_without_messages_ends_with_none() -> None:
    assert last_message(ROOT) == ""
    assert last_message(floor("1", ROOT, input=QUESTION)) == "q.1"


def test_a_page_shows_its_facts() -> None:
    shown = page_pb(replace(ANSWER, floor_id="f", partial=True, source="model"), "q.1")
    assert (shown.page_id, shown.floor_id, shown.slot) == ("a", "f", message_pb2.SLOT_OUTPUT)
    assert shown.digest == ANSWER.digest.hex()
    assert (shown.partial, shown.source) == (True, "model")
    assert shown.token_count == ANSWER.tokens == sum(m.token_count for m in shown.messages)
    assert shown.create_time.ToDatetime(UTC) == NOW
    (message,) = shown.messages
    assert (message.message_id, message.parent_message_id, message.token_count) == ("a.0", "q.1", 2)


def test_without_bodies_only_the_messages_are_missing() -> None:
    with_bodies = floor_pb(Shown(floor("1", ROOT, input=QUESTION, output=ANSWER), ""))
    bare = floor_pb(Shown(floor("1", ROOT, input=QUESTION, output=ANSWER), ""), bodies=False)
    assert ids(bare) == []
    for side in (with_bodies.input_page, with_bodies.output_page):
        side.ClearField("messages")
    assert bare == with_bodies


def test_a_floor_shows_what_it_is_and_no_more() -> None:
    held = floor("1", ROOT, input=QUESTION)
    failed = replace(
        held,
        state=FloorState.FAILED,
        digest=None,
        commit_time=None,
        failure_reason="LIMIT",
        run_id="r",
        usage=Usage(3, 4, True),
    )
    shown = floor_pb(Shown(failed, ""))
    assert (shown.state, shown.digest, shown.failure_reason) == (floor_pb2.FLOOR_STATE_FAILED, "", "LIMIT")
    assert (shown.run_id, shown.depth, shown.parent_floor_id) == ("r", 1, "root")
    assert shown.usage == floor_pb2.Usage(tokens_in=3, tokens_out=4, estimated=True)
    assert not shown.HasField("commit_time")
    assert not shown.HasField("output_page")
    root = floor_pb(Shown(ROOT, ""))
    assert (root.parent_floor_id, root.state) == ("", floor_pb2.FLOOR_STATE_COMMITTED)
    assert not root.HasField("input_page")
    assert not root.HasField("usage")


def test_each_state_has_its_number() -> None:
    for state in FloorState:
        shown = floor_pb(Shown(replace(ROOT, state=state), ""))
        assert shown.state == floor_pb2.FloorState.Value(f"FLOOR_STATE_{state.name}")


def test_branch_position_and_move() -> None:
    branch = branch_pb(Branch("main", "h", "p", None, 4, 5, NOW, NOW))
    assert (branch.name, branch.head_floor_id, branch.pending_floor_id) == ("main", "h", "p")
    assert (branch.failed_floor_id, branch.depth, branch.version) == ("", 4, 5)
    position = position_pb(Position("f", 1, 2, 3, 4))
    assert position == floor_pb2.Position(
        floor_id="f", input_index=1, input_count=2, output_index=3, output_count=4
    )
    move = head_move_pb(HeadMove("main", "a", "b", "rollback", "me", NOW))
    assert (move.branch, move.from_floor_id, move.to_floor_id) == ("main", "a", "b")
    assert (move.kind, move.principal) == ("rollback", "me")


def test_times_keep_their_microseconds() -> None:
    stamp = time_pb(datetime(2026, 5, 6, 7, 8, 9, 123456, tzinfo=UTC))
    assert stamp is not None
    assert stamp.ToJsonString() == "2026-05-06T07:08:09.123456Z"
    assert time_pb(None) is None
    assert usage_pb(None) is None


def test_message_ids_are_page_and_index() -> None:
    held: Page = QUESTION
    assert [message_id(held, index) for index in range(2)] == ["q.0", "q.1"]
