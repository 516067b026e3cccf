"""Whatever a path holds, a model is sent calls with their results, and results after their calls (T8)."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernel.generation.openai_messages import request_body
from kernel.generation.provider import ChatRequest
from kernel.prompt.assemble import BUDGET, CLOSED, HIDDEN, UNPAIRED, Context, Turn, lay_out, render, select
from kernel.prompt.config import BudgetConfig
from kernel.prompt.pairing import NO_RESULT, paired, settle
from kernel.tree.blob import split
from kernel.tree.message import Message, Text, ToolCall, ToolResult
from kernel.tree.model import PageContent, PageOutline, Role
from kernel.wire.codec import WireCodec
from tests.support.histories import WHOLE, Floor, broken, calling, floors, results, said
from tests.support.openai_rules import refusals

CODEC = WireCodec()
NO_BUDGET = BudgetConfig()
SYSTEM = CODEC.text(Role.SYSTEM, "be brief")
USER, ANSWER = said(Role.USER), said(Role.ASSISTANT)


class Path:
    """Floors as they are stored. `old`: from before messages were known to hold nothing of tools."""

    def __init__(self, held: Sequence[Floor], *, old: bool = False) -> None:
        self.turns: list[Turn] = []
        self.bodies: dict[str, bytes] = {}
        for number, sides in enumerate(held, 1):
            pages = []
            for name, messages in zip(("in", "out"), sides, strict=True):
                if messages:
                    content = CODEC.page(messages)
                    facts = tuple(replace(fact, plain=fact.plain and not old) for fact in content.facts)
                    pages.append(PageOutline(f"{number}.{name}", facts, len(content.blob)))
                    self.bodies[pages[-1].page_id] = content.blob
            self.turns.append(Turn(str(number), tuple(pages)))

    def context(self, budget: BudgetConfig = NO_BUDGET, system: PageContent | None = None) -> Context:
        chosen = select(self.turns, budget, system)
        settled = settle(self.turns, chosen, budget, self.bodies, CODEC, system)
        return render(settled, self.bodies, system)


def sent(context: Context) -> tuple[Message, ...]:
    return CODEC.messages(context.blob)


def closed(*ids: str) -> Message:
    return Message(Role.TOOL, tuple(ToolResult(one, NO_RESULT, is_error=True) for one in ids))


def of(*messages: Message) -> Path:
    """A floor for each."""
    return Path([((message,), ()) for message in messages])


def hidden(message: Message) -> Message:
    return replace(message, hidden=True)


def with_text(message: Message) -> Message:
    return replace(message, parts=(*message.parts, Text("and")))


@pytest.mark.parametrize(
    ("stored", "expected"),
    [
        ("whole", [USER, calling("a"), results("a"), ANSWER]),
        ([calling("a")], [calling("a"), closed("a")]),
        ([calling("a", "b"), results("b"), USER], [calling("a", "b"), results("b"), closed("a"), USER]),
        ([calling("b", "a"), USER], [calling("b", "a"), closed("b", "a"), USER]),
        ([results("a"), USER], [USER]),
        ([calling("a"), USER, results("a")], [calling("a"), closed("a"), USER]),
        ([results("a"), calling("a")], [calling("a"), closed("a")]),
        ([calling("a"), results("a"), results("a", text="again")], [calling("a"), results("a")]),
        (
            [calling("a"), calling("b"), results("a", "b")],
            [calling("a"), closed("a"), calling("b"), results("b")],
        ),
        ([calling("a"), results("a"), calling("a")], [calling("a"), results("a"), calling("a"), closed("a")]),
        ([calling("a"), results("b", "a", "c")], [calling("a"), results("a")]),
        ([calling("a"), results("c"), results("a")], [calling("a"), results("a")]),
        ([calling("a", "a"), results("a", "a")], [calling("a"), results("a")]),
        ([calling("a"), hidden(results("a")), USER], [calling("a"), closed("a"), USER]),
        ([hidden(calling("a")), results("a"), USER], [USER]),
        ([calling("a"), hidden(USER), results("a")], [calling("a"), results("a")]),
        ([calling("a"), with_text(results("a"))], [calling("a"), results("a")]),
        ([said(Role.TOOL), USER], [USER]),
        ([replace(with_text(calling("a")), role=Role.USER)], [said(Role.USER, "and")]),
        ([calling("a"), replace(results("b"), role=Role.USER), results("a")], [calling("a"), results("a")]),
        ([with_text(replace(results("b"), role=Role.ASSISTANT))], [said(Role.ASSISTANT, "and")]),
    ],
)  # fmt: skip
def test_what_is_sent_of(stored: list[Message] | str, expected: list[Message]) -> None:
    path = of(*(expected if isinstance(stored, str) else stored))
    assert list(sent(path.context())) == expected


def test_what_was_done_is_told() -> None:
    path = Path([((USER, results("x"), hidden(USER)), (calling("a", "b"), results("b", "c"))), ((USER,), ())])
    selection = path.context().selection
    assert [(e.message_id, e.floor_id, e.why, bool(e.written)) for e in selection.entries] == [
        ("1.in.0", "1", "path", False),
        ("1.out.0", "1", "path", False),
        ("1.out.1", "1", "path", True),
        ("", "1", CLOSED, True),
        ("2.in.0", "2", "path", False),
    ]
    assert [(out.page_id, out.index, out.why) for out in selection.left_out] == [
        ("1.in", 1, UNPAIRED),
        ("1.in", 2, HIDDEN),
        ("1.out", 1, UNPAIRED),
    ]


def test_an_error_is_of_the_floor_that_called() -> None:
    path = Path([((USER,), (calling("a", "b"),)), ((results("b"),), (ANSWER,))])
    entries = path.context().selection.entries
    assert [(entry.floor_id, entry.why) for entry in entries if entry.why == CLOSED] == [("1", CLOSED)]


def test_nothing_is_looked_at_where_no_tool_was() -> None:
    path = of(USER, ANSWER, said(Role.SYSTEM), USER)
    chosen = select(path.turns, NO_BUDGET, SYSTEM)
    assert paired(path.turns, chosen, {}, CODEC) is chosen


def _budget(path: Path, kept: int, more: int = 0) -> BudgetConfig:
    """In which the last so many turns fit, and so many tokens more."""
    return BudgetConfig(sum(turn.sent_tokens for turn in path.turns[-kept:]) + more)


def _told(context: Context) -> list[tuple[str, str]]:
    return [(out.floor_id, out.why) for out in context.selection.left_out]


def test_a_trim_takes_the_results_with_their_calls() -> None:
    path = Path([((USER,), (calling("a"),)), ((results("a"),), (ANSWER,)), ((USER,), ())])
    context = path.context(_budget(path, 2))
    assert sent(context) == (ANSWER, USER)
    assert _told(context) == [("1", BUDGET), ("2", UNPAIRED)]


def test_a_last_turn_of_results_keeps_the_turn_of_their_calls() -> None:
    path = Path(
        [((USER,), (ANSWER,)), ((USER,), (calling("a", "b"),)), ((results("a"),), ()), ((results("b"),), ())]
    )
    context = path.context(BudgetConfig(1))
    assert sent(context) == (USER, calling("a", "b"), results("a"), results("b"))
    assert _told(context) == [("1", BUDGET)]
    loop = Path([((USER,), (calling("a"),)), ((results("a"),), (calling("b"),)), ((results("b"),), ())])
    assert sent(loop.context(BudgetConfig(1))) == (calling("b"), results("b"))


def test_errors_take_room_too() -> None:
    path = Path([((USER,), ()), ((said(Role.USER, "next"),), (calling("a"),)), ((USER,), ())])
    needed = sum(entry.fact.tokens for entry in path.context().selection.entries if entry.why == CLOSED)
    assert needed > 1
    assert len(sent(path.context(_budget(path, 3, needed)))) == 5
    fewer = path.context(_budget(path, 3, needed - 1))
    assert (len(sent(fewer)), fewer.selection.dropped) == (4, 1)
    # Where they do not fit, their turn leaves, and they with it.
    assert sent(path.context(_budget(path, 2, needed - 1))) == (USER,)


_BUDGETS = st.one_of(st.just(NO_BUDGET), st.builds(BudgetConfig, st.integers(1, 60), st.integers(0, 5)))


@settings(max_examples=400)
@given(broken().flatmap(floors), _BUDGETS, st.sampled_from([None, SYSTEM]))
def test_the_api_takes_every_context(
    held: list[Floor], budget: BudgetConfig, system: PageContent | None
) -> None:
    path = Path(held)
    context = path.context(budget, system)
    selection = context.selection
    body = request_body(ChatRequest(sent(context)), "m")
    assert refusals(body) == ([] if selection.entries else ["no messages"])
    # What was not written anew is what is stored, and each message has its entry.
    frames = {name: split(blob) for name, blob in path.bodies.items()} | {"": split(SYSTEM.blob)}
    for frame, entry in zip(split(context.blob), selection.entries, strict=True):
        assert frame == (entry.written or frames[entry.page_id][entry.index])
    # Every token of the path is sent or left out; errors come on top.
    own = sum(entry.fact.tokens for entry in selection.entries if entry.why == "path")
    assert own + sum(out.tokens for out in selection.left_out) == selection.tokens_on_path
    # It is found again later, by how many turns left.
    assert paired(path.turns, lay_out(path.turns, selection.dropped, system), path.bodies, CODEC) == selection
    # And what was sent is sent as it is: nothing is closed or left out that need not be.
    again = Path([(sent(context), ())]).context()
    assert again.blob == context.blob
    assert CLOSED not in [entry.why for entry in again.selection.entries]


@given(broken().flatmap(floors), _BUDGETS)
def test_rows_from_before_tools_give_the_same(held: list[Floor], budget: BudgetConfig) -> None:
    old, new = Path(held, old=True).context(budget), Path(held).context(budget)
    assert (old.blob, old.selection.left_out) == (new.blob, new.selection.left_out)


@given(WHOLE.flatmap(floors))
def test_a_whole_history_is_sent_as_it_is_stored(held: list[Floor]) -> None:
    path = Path(held)
    assert path.context().selection == lay_out(path.turns, 0, None)


@given(WHOLE, st.data())
def test_what_is_cut_off_at_the_end_is_closed(messages: list[Message], data: st.DataObject) -> None:
    """A crash, or a fork in the middle."""
    kept = messages[: data.draw(st.integers(0, len(messages)))]
    last = max((at for at, message in enumerate(kept) if message.role is not Role.TOOL), default=0)
    tail = [part for message in kept[last:] for part in message.parts]
    answered = {part.call_id for part in tail if isinstance(part, ToolResult)}
    open_ids = [p.call_id for p in tail if isinstance(p, ToolCall) and p.call_id not in answered]
    context = Path(data.draw(floors(kept))).context()
    assert list(sent(context)) == kept + ([closed(*open_ids)] if open_ids else [])


@given(WHOLE, st.data())
def test_what_is_cut_off_at_the_start_takes_only_its_results(
    messages: list[Message], data: st.DataObject
) -> None:
    """A trim, or the rest of an import."""
    kept = messages[data.draw(st.integers(0, len(messages))) :]
    first = next((at for at, message in enumerate(kept) if message.role is not Role.TOOL), len(kept))
    assert list(sent(Path(data.draw(floors(kept))).context())) == kept[first:]


@given(WHOLE.flatmap(floors), broken().flatmap(floors), st.integers(1, 60))
def test_the_fewest_turns_leave(whole: list[Floor], torn: list[Floor], most: int) -> None:
    """Stored messages and the errors of kept turns fit; with one turn more they would not."""
    path = Path(whole + torn)
    dropped = path.context(BudgetConfig(most)).selection.dropped
    everything = paired(path.turns, lay_out(path.turns, 0, None), path.bodies, CODEC)

    def cost(turns: Sequence[Turn]) -> int:
        kept = {turn.floor_id for turn in turns}
        errors = [e.fact.tokens for e in everything.entries if e.why == CLOSED and e.floor_id in kept]
        return sum(turn.sent_tokens for turn in turns) + sum(errors)

    assert dropped == 0 or cost(path.turns[dropped - 1 :]) > most
    if cost(path.turns[dropped:]) > most:
        # The last turn, and while it begins with results those before it, back to somebody who speaks.
        roles = [
            [message.role for side in floor for message in side if not message.hidden]
            for floor in whole + torn
        ]
        kept = roles[dropped:]
        assert len(kept) <= 1 or (
            kept[-1][0] is Role.TOOL and not any(set(r) - {Role.TOOL} for r in kept[1:-1])
        )
