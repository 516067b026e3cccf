"""The built-in tools that read and write the state, as one page of a run sees it: at the floor's parent, with
what the page has written so far. What it writes becomes true with the commit of the page (C1)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kernel.prompt.config import Config
from kernel.prompt.memory_policy import refused
from kernel.state.fold import UnknownMemory, apply
from kernel.state.limits import MAX_BYTES, MAX_STATE, MAX_WRITES, faults
from kernel.state.model import Effects, MemoryItem, Origin, State, VisibleState
from kernel.state.text import effects_text, state_text
from kernel.strict_json import dumps, loads
from kernel.tools.builtin import BUILT_INS, ToolFault
from kernel.tools.effects import joined
from kernel.tools.model import Owner
from kernel.tree.model import Floor
from kernel.verbs.effects import identified, stored
from kernel.verbs.env import ReadTx
from kernel.verbs.pages import MODEL, mark_below
from kernel.verbs.records import CallState, RecordedCall, Session
from kernel.verbs.state import path_state, visible_state

_DONE = '{"done":true}'


@dataclass(frozen=True, slots=True)
class Scene:
    """Where a page's calls stand: the floor that is written, its parent, the run's configuration, and all
    recorded calls of the run as they are now."""

    session: Session
    floor: Floor
    parent: Floor
    config: Config
    calls: Sequence[RecordedCall]


def is_of_state(call: RecordedCall) -> bool:
    tool = BUILT_INS.get(call.name)
    return call.owner == Owner.BUILT_IN and tool is not None and (tool.writes is not None or _reads(call))


async def result(tx: ReadTx, scene: Scene, call: RecordedCall) -> str:
    """What the model is told. A write is not kept here: it follows from the call and its result.

    Raises: ToolFault when it cannot be done, with what the page has written already.
    """
    if _reads(call):
        return await _shown(tx, scene, call)
    await _check(tx, scene, call)
    return _DONE


def _reads(call: RecordedCall) -> bool:
    return call.name == "get_state"


def _writes(scene: Scene, page_id: str, besides: RecordedCall | None = None) -> Effects:
    """Of the page's calls, as they will be when it commits: in the order of the calls, whichever was done
    first."""
    done = [
        call
        for call in scene.calls
        if call.page_id == page_id
        and call.owner == Owner.BUILT_IN
        and (
            (call.state is CallState.DONE and not call.is_error)
            or (besides is not None and call.call_id == besides.call_id)
        )
    ]
    return joined((call.name, call.arguments) for call in sorted(done, key=lambda call: call.number))


async def _check(tx: ReadTx, scene: Scene, call: RecordedCall) -> None:
    """That the page's writes with this one can be committed."""
    for path, why in faults(joined([(call.name, call.arguments)])):
        raise ToolFault(f"{path.rpartition('.')[2]} {why}.")
    effects = _writes(scene, call.page_id, call)
    count = len(effects.variables) + len(effects.memory) + len(effects.slots)
    if count > MAX_WRITES or len(effects_text(effects)) > MAX_BYTES:
        raise ToolFault(f"One turn writes at most {MAX_WRITES} times, and {MAX_BYTES // 1024} KiB.")
    state = _applied(scene, await path_state(tx, scene.parent), effects)
    mark = mark_below(scene.parent, stored(identified(scene.parent, effects), MODEL))
    if mark.size > MAX_STATE and len(state_text(state)) > MAX_STATE:
        raise ToolFault("The state would take more than 1 MiB: delete or forget some of it first.")


def _applied(scene: Scene, state: State, effects: Effects) -> State:
    origin = Origin(scene.floor.floor_id, source=MODEL)
    try:
        return apply(state, identified(scene.parent, effects), origin)
    except UnknownMemory:
        raise ToolFault(
            "There is no such remembered item, or this turn takes it back: see get_state for the ids."
        ) from None


async def _shown(tx: ReadTx, scene: Scene, call: RecordedCall) -> str:
    arguments: Any = loads(call.arguments)
    before = await visible_state(tx, scene.session, scene.parent, scene.config)
    now = replace(before, state=_applied(scene, before.state, _writes(scene, call.page_id)))
    text = _text(now, scene, arguments.get("keys"))
    if len(text.encode()) > MAX_BYTES:
        raise ToolFault("The state is too large to be shown whole: name some variables in `keys`.")
    return text


def _text(visible: VisibleState, scene: Scene, keys: Sequence[str] | None) -> str:
    values = visible.values
    if keys is not None:
        return _object(
            (key, f"{_object((k, values[k]) for k in keys if k in values)}") for key in ("variables",)
        )
    # What a model may not be sent, no tool shows it; what this page wrote, it knows.
    hidden = refused(scene.config.memory_policy, visible.memory)
    items = [
        _item(item, scene.floor.floor_id)
        for item in visible.memory
        if item.memory_id not in hidden or item.floor_id == scene.floor.floor_id
    ]
    spaces: dict[str, list[tuple[str, str]]] = {}
    for (space, slot), value in sorted(visible.state.slots.items()):
        spaces.setdefault(space, []).append((slot, value.value_json))
    return _object(
        (
            ("variables", _object(values.items())),
            ("memory", dumps(items)),
            ("slots", _object((space, _object(slots)) for space, slots in spaces.items())),
        )
    )


def _item(item: MemoryItem, floor_id: str) -> dict[str, str]:
    # One that this page added has no id yet: it follows from all that the page writes.
    named = {} if item.added_floor_id == floor_id else {"memory_id": item.memory_id}
    keyed = {"fact_key": item.fact_key} if item.fact_key else {}
    return {**named, "kind": item.kind.name.lower(), **keyed, "text": item.text}


def _object(members: Iterable[tuple[str, str]]) -> str:
    """A JSON object of texts that are JSON already: no value is changed."""
    return "{" + ",".join(f"{dumps(key)}:{value}" for key, value in members) + "}"
