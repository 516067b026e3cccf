"""What an entry of the ledger would change, for reading. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kernel.state.model import Effects, VisibleState
from kernel.tree.message import File, Message, Part, Reasoning, Text, ToolCall, ToolResult

MAX_TEXT = 16_384


@dataclass(frozen=True, slots=True)
class Change:
    """`part` counts from 0; `path` is a JSON pointer; "" for nothing there."""

    part: int
    path: str
    before: str
    after: str


def said(messages: Iterable[Message]) -> str:
    """A page's messages: who speaks, and what; a line for everything that is no text."""
    return "\n".join(f"{message.role.name.lower()}: {_words(message.parts)}" for message in messages)


def _words(parts: Sequence[Part]) -> str:
    return "\n".join(_part(part) for part in parts)


def _part(part: Part) -> str:
    match part:
        case Text(text):
            return text
        case Reasoning(text, _):
            return f"[reasoning: {text}]"
        case ToolCall(call_id, name, arguments_json):
            return f"[call {call_id}: {name}({arguments_json})]"
        case ToolResult(call_id, content, _):
            return f"[result of {call_id}: {content}]"
        case File(media_type, uri, data, name):
            size = f", {len(data)} bytes" if data else ""
            return f"[file {name or uri or media_type}{size}]"


def state_changes(part: int, effects: Effects, state: VisibleState) -> list[Change]:
    """Variables and slots, the last write of each; and every write of memory, beside the item that it is
    about."""
    variables = {(v.scope, v.key): v.value_json for v in state.variables}
    written = {(write.scope, write.key): write.value_json or "" for write in effects.variables}
    found = [
        Change(part, _pointer("variables", scope.name, key), variables.get((scope, key), ""), value)
        for (scope, key), value in written.items()
    ]
    for number, item in enumerate(effects.memory):
        known = state.state.memory.get(item.memory_id)
        before = known.text if known and not known.deprecated else ""
        found.append(Change(part, _pointer("memory", str(number)), before, item.text))
    slots = {(write.namespace, write.slot): write.value_json or "" for write in effects.slots}
    for place, value in slots.items():
        there = state.state.slots.get(place)
        found.append(Change(part, _pointer("slots", *place), there.value_json if there else "", value))
    return [change for change in found if change.before != change.after]


def _pointer(*steps: str) -> str:
    return "".join("/" + step.replace("~", "~0").replace("/", "~1") for step in steps)


def clipped(change: Change) -> Change:
    return Change(change.part, change.path, _clipped(change.before), _clipped(change.after))


def _clipped(text: str) -> str:
    return text if len(text) <= MAX_TEXT else text[:MAX_TEXT] + "…"


def diff_text(changes: Iterable[Change]) -> str:
    """A line for each path, then the lines that go and those that come."""
    lines: list[str] = []
    for change in changes:
        lines.append(change.path)
        lines += [f"- {line}" for line in change.before.splitlines()]
        lines += [f"+ {line}" for line in change.after.splitlines()]
    return "\n".join(lines)
