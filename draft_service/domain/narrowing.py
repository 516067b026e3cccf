"""A draft's tools are chosen from its source's, and none may do more than there; besides them it may have
those that read what was frozen and propose, which do nothing outside of it. Pure."""

from collections.abc import Sequence

from kernel.errors import Invalid, Violation
from kernel.prompt.config import Config, Tool
from kernel.tools.model import Owner
from kernel.tools.proposing import PROPOSING

# Of stemma.kernel.v1: what is not said counts as the strictest.
_IRREVERSIBLE, _ALWAYS, _CLIENT = 3, 2, 1
_OWN = {(Owner.BUILT_IN, name) for name in ("get_state", *PROPOSING)}


def check_narrowed(given: Config, tools: Sequence[Tool], field: str) -> None:
    """INVALID for a tool of the given configuration that the others do not have, or that could do more."""
    known = {tool.name: tool for tool in tools}
    found = []
    for index, tool in enumerate(given.tools):
        if why := _widened(tool, known.get(tool.name)):
            found.append(Violation(f"{field}.tools[{index}]", why))
    if found:
        raise Invalid(*found)


def _widened(tool: Tool, source: Tool | None) -> str:
    if source is None and (tool.owner, tool.name) in _OWN:
        return ""
    if source is None:
        return "is no tool of the source: a draft chooses among those"
    if (tool.side_effect or _IRREVERSIBLE) > (source.side_effect or _IRREVERSIBLE):
        return "has more side effects than the source allows it"
    if (tool.approval or _ALWAYS) < (source.approval or _ALWAYS):
        return "asks for less approval than the source does"
    if (tool.owner or _CLIENT, tool.server) != (source.owner or _CLIENT, source.server):
        return "is carried out by somebody else than the source says"
    if tool.parameters_json != source.parameters_json:
        return "takes other arguments than the source says"
    return ""
