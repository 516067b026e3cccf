"""Histories with tool calls, as values and as hypothesis draws them: whole ones, and broken ones."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from hypothesis import strategies as st

from kernel.tree.message import Message, Part, Reasoning, Text, ToolCall, ToolResult
from kernel.tree.model import Role

# A floor's two sides.
Floor = tuple[tuple[Message, ...], tuple[Message, ...]]
# Few, so that they come again.
IDS = "abc"


def said(role: Role, text: str = "so") -> Message:
    return Message(role, (Text(text),))


def calling(*ids: str, text: str = "") -> Message:
    spoken = (Text(text),) if text else ()
    return Message(Role.ASSISTANT, (*spoken, *(ToolCall(one, "look", '{"at":1}') for one in ids)))


def results(*ids: str, text: str = "found") -> Message:
    return Message(Role.TOOL, tuple(ToolResult(one, text) for one in ids))


_PARTS: st.SearchStrategy[Part] = st.one_of(
    st.just(Text("so")),
    st.just(Reasoning("hm")),
    st.builds(ToolCall, st.sampled_from(IDS), st.just("look"), st.just("{}")),
    st.builds(ToolResult, st.sampled_from(IDS), st.just("found")),
)
# Any parts in the message of anybody.
ODD = st.builds(
    Message, st.sampled_from(Role), st.lists(_PARTS, min_size=1, max_size=4).map(tuple), hidden=st.booleans()
)


@st.composite
def exchanges(draw: st.DrawFn) -> list[Message]:
    """Calls, and their results in any order, in one or more messages."""
    called = draw(st.lists(st.sampled_from(IDS), min_size=1, max_size=3, unique=True))
    answered = draw(st.permutations(called))
    cut = draw(st.integers(0, len(answered) - 1))
    texts = draw(st.sampled_from(["", "let me look"]))
    groups = [group for group in (answered[:cut], answered[cut:]) if group]
    return [calling(*called, text=texts), *(results(*group) for group in groups)]


_SPOKEN = st.sampled_from([Role.SYSTEM, Role.USER, Role.ASSISTANT]).map(lambda role: [said(role)])
WHOLE: st.SearchStrategy[list[Message]] = st.lists(st.one_of(_SPOKEN, exchanges()), max_size=6).map(
    lambda groups: [message for group in groups for message in group]
)


@st.composite
def broken(draw: st.DrawFn) -> list[Message]:
    """The start of one history and the end of another, in which some messages are gone, hidden, late, twice,
    in parts, or odd."""
    left, right = draw(WHOLE), draw(WHOLE)
    messages = left[: draw(st.integers(0, len(left)))] + right[draw(st.integers(0, len(right))) :]
    for _ in range(draw(st.integers(0, 3))):
        fault = draw(st.sampled_from(["gone", "hidden", "late", "twice", "part", "odd"]))
        at = draw(st.integers(0, len(messages)))
        here = messages[at : at + 1]
        match fault:
            case "gone":
                messages[at : at + 1] = []
            case "hidden":
                messages[at : at + 1] = [replace(message, hidden=True) for message in here]
            case "late":
                messages[at : at + 2] = messages[at : at + 2][::-1]
            case "twice":
                messages[at:at] = here
            case "part":
                messages[at : at + 1] = [replace(m, parts=m.parts[1:]) for m in here if m.parts[1:]]
            case _:
                messages[at:at] = [draw(ODD)]
    return messages


@st.composite
def floors(draw: st.DrawFn, messages: Sequence[Message]) -> list[Floor]:
    """The messages in their order, on floors that begin anywhere, and on either side of them."""
    ends = draw(st.lists(st.integers(0, len(messages)), max_size=8).map(sorted))
    bounds = [0, *ends, len(messages)]
    sides = [tuple(messages[low:high]) for low, high in pairwise(bounds)]
    if len(sides) % 2:
        sides.append(())
    return list(zip(sides[::2], sides[1::2], strict=True))
