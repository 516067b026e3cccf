"""What the calls of a page do to the state: derived from them, so it can be found again anywhere. Pure."""

from collections.abc import Iterable, Sequence

from kernel.prompt.config import Config
from kernel.state.model import Effects
from kernel.tools.builtin import BUILT_INS
from kernel.tools.model import Owner
from kernel.tree.message import Message, ToolCall, ToolResult
from kernel.verbs.effects import Given
from kernel.verbs.pages import MODEL


def effects_of(messages: Sequence[Message], config: Config) -> Given | None:
    """The writes of the built-in tools that the messages call, in the order of the calls; only those with a
    result that is no error. None for none.

    Args:
        messages: Of one page that a run wrote, all of it.
        config: The run's: it says which names are built-in tools.
    """
    built_in = {tool.name for tool in config.tools if tool.owner == Owner.BUILT_IN}
    parts = [part for message in messages for part in message.parts]
    done = {part.call_id for part in parts if isinstance(part, ToolResult) and not part.is_error}
    effects = joined(
        (part.name, part.arguments_json)
        for part in parts
        if isinstance(part, ToolCall) and part.call_id in done and part.name in built_in
    )
    return Given(effects, ("",) * len(effects.memory), MODEL) if effects else None


def joined(calls: Iterable[tuple[str, str]]) -> Effects:
    """What calls of built-in tools write, by (name, arguments), in their order. What writes nothing is
    passed over."""
    found = [
        tool.writes(arguments)
        for name, arguments in calls
        if (tool := BUILT_INS.get(name)) is not None and tool.writes is not None
    ]
    return Effects(
        tuple(write for effects in found for write in effects.variables),
        tuple(write for effects in found for write in effects.memory),
        tuple(write for effects in found for write in effects.slots),
    )
