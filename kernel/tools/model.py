"""The tools of a run: what the configuration allows, filled with what those who carry them out say. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from kernel.generation.provider import ToolSpec
from kernel.prompt.config import Tool
from kernel.tools.builtin import BUILT_INS
from kernel.tools.mcp_model import McpTool
from kernel.tools.proposing import PROPOSING
from kernel.tools.schema import ArgumentSchema, BadSchema, argument_schema, pattern_count, schema_fault

# Of one configuration: checking a schema costs some milliseconds for each KiB and each pattern.
MAX_PARAMETERS, MAX_PATTERNS = 256 * 1024, 64
_KNOWN = {**BUILT_INS, **PROPOSING}


class Owner(IntEnum):
    """Numbers as in stemma.kernel.v1.ToolOwner. NOBODY carries out what cannot be called."""

    NOBODY = 0
    CLIENT = 1
    BUILT_IN = 2
    MCP = 3


class SideEffect(IntEnum):
    """Numbers as in stemma.kernel.v1.ToolSideEffect."""

    NONE = 1
    SANDBOX = 2
    IRREVERSIBLE = 3


class Approval(IntEnum):
    """Numbers as in stemma.kernel.v1.ToolApproval; unspecified: for what is irreversible."""

    NEVER = 1
    ALWAYS = 2


@dataclass(frozen=True, slots=True)
class RunTool:
    """A tool as a run has it. `asks`: somebody approves each call before it acts. Arguments fit all of the
    `schemas`."""

    spec: ToolSpec
    schemas: tuple[ArgumentSchema, ...]
    owner: Owner
    server: str
    side_effect: SideEffect
    asks: bool


@dataclass(frozen=True, slots=True)
class Tools:
    """Those of a run by name, in the configuration's order; and what was left out, with the reason."""

    by_name: Mapping[str, RunTool]
    left_out: tuple[tuple[str, str], ...] = ()


def tool_faults(tools: Sequence[tuple[str, int, str]]) -> Iterator[tuple[int, str, str]]:
    """Of tools as a configuration is to have them, by (name, owner, parameters): (index, field, why) for each
    that no run could have."""
    size = patterns = 0
    for index, (name, owner, parameters) in enumerate(tools):
        if owner == Owner.BUILT_IN and name not in _KNOWN:
            yield index, "name", f"is no built-in tool; there are: {', '.join(_KNOWN)}"
        size += len(parameters.encode())
        if size > MAX_PARAMETERS:
            yield index, "parameters_json", f"takes all of them beyond {MAX_PARAMETERS // 1024} KiB"
            return
        if (fault := schema_fault(parameters)) is not None:
            yield index, "parameters_json", fault
            continue
        patterns += pattern_count(parameters)
        if patterns > MAX_PATTERNS:
            yield index, "parameters_json", f"takes all of them beyond {MAX_PATTERNS} patterns"
            return


def servers_of(tools: Sequence[Tool]) -> tuple[str, ...]:
    """The MCP servers that a configuration's tools are of, each once."""
    return tuple(dict.fromkeys(tool.server for tool in tools if tool.owner == Owner.MCP))


def effective(
    tools: Sequence[Tool], listed: Mapping[str, Sequence[McpTool] | str], *, proposing: bool = False
) -> Tools:
    """What a model may call.

    Args:
        tools: The configuration's, whose list is all that is allowed.
        listed: What each MCP server offers, or why it could not be asked.
        proposing: Whether proposals are kept here.
    """
    found: dict[str, RunTool] = {}
    left_out: list[tuple[str, str]] = []
    for tool in tools:
        made = _made(tool, listed, proposing)
        if isinstance(made, str):
            left_out.append((tool.name, made))
        else:
            found[tool.name] = made
    return Tools(found, tuple(left_out))


def _made(tool: Tool, listed: Mapping[str, Sequence[McpTool] | str], proposing: bool) -> RunTool | str:
    # Who is to carry it out is said, or it is the client: nobody else would take the call.
    owner = Owner(tool.owner) if tool.owner else Owner.CLIENT
    description, parameters, level = tool.description, tool.parameters_json, tool.side_effect
    if owner is Owner.BUILT_IN:
        built_in = _KNOWN.get(tool.name)
        if built_in is None:
            return "There is no built-in tool of this name."
        if tool.name in PROPOSING and not proposing:
            return "It is for drafts."
        description = description or built_in.description
        parameters = parameters or built_in.parameters_json
        writes = built_in.writes is not None or built_in.proposes
        level = level or (SideEffect.SANDBOX if writes else SideEffect.NONE)
    elif owner is Owner.MCP:
        offered = _offered(tool, listed)
        if isinstance(offered, str):
            return offered
        description = description or offered.description
        parameters = parameters or offered.parameters_json
    try:
        # The server checks as well, by its own engine.
        schemas = [argument_schema(parameters, all_patterns=owner is not Owner.MCP)]
        if owner is Owner.BUILT_IN:
            schemas.append(argument_schema(_KNOWN[tool.name].parameters_json))
    except BadSchema as error:
        return f"Its parameters cannot be checked: the schema {error}."
    side_effect = SideEffect(level) if level else SideEffect.IRREVERSIBLE
    asks = tool.approval == Approval.ALWAYS or (
        tool.approval != Approval.NEVER and side_effect is SideEffect.IRREVERSIBLE
    )
    server = tool.server if owner is Owner.MCP else ""
    spec = ToolSpec(tool.name, description, parameters)
    return RunTool(spec, tuple(dict.fromkeys(schemas)), owner, server, side_effect, asks)


def _offered(tool: Tool, listed: Mapping[str, Sequence[McpTool] | str]) -> McpTool | str:
    offers = listed.get(tool.server, "There is no such MCP server.")
    if isinstance(offers, str):
        return offers
    found = next((offer for offer in offers if offer.name == tool.name), None)
    return found or "The MCP server offers no tool of this name."
