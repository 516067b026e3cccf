"""What runs in a draft can reach neither the ledger nor a channel to the truth: not by a reference, not by an
import (D6)."""

import asyncio
import gc
import threading
import types
from collections.abc import Iterator
from typing import Any

import grimp
import grpc
import pytest

from draft_service.clients.conversation import Conversation
from kernel.generation.lease import Lease
from kernel.generation.runner import RunLimits
from kernel.prompt.config import Config, Tool
from kernel.tools.mcp_model import McpTool
from kernel.tools.model import Owner, SideEffect, effective
from tests.drafts.stage import Stage

# What leads everywhere in any program, and is no reference that a tool could follow.
_EVERYWHERE = (
    type,
    types.ModuleType,
    types.FrameType,
    asyncio.AbstractEventLoop,
    asyncio.Future,
    threading.Thread,
)
_FORBIDDEN = (Conversation, grpc.Channel, grpc.aio.Channel)


def reachable(root: object) -> Iterator[object]:
    """Everything that the object refers to, itself first, however far. Of a function what it closes over: its
    module's names are looked at by import."""
    seen, waiting = {id(root)}, [root]
    while waiting:
        found = waiting.pop()
        yield found
        for inner in _referents(found):
            if id(inner) not in seen and not isinstance(inner, _EVERYWHERE):
                seen.add(id(inner))
                waiting.append(inner)


def _referents(found: object) -> list[Any]:
    if isinstance(found, types.FunctionType):
        return [
            *(found.__closure__ or ()),
            *(found.__defaults__ or ()),
            *(found.__kwdefaults__ or {}).values(),
        ]
    return gc.get_referents(found)


def held(root: object) -> list[str]:
    return [type(found).__name__ for found in reachable(root) if isinstance(found, _FORBIDDEN)]


@pytest.mark.asyncio(loop_scope="session")
async def test_no_reference_leads_from_a_run_to_the_truth(stage: Stage) -> None:
    service = stage.draft.service
    toolbox = service.generation.tools(
        service.world.env, Lease("local", "r", "s", "o", 1), Config(), RunLimits()
    )
    assert held(toolbox) == []
    assert held(service.generation) == []
    # The walk finds them where they are.
    assert "Conversation" in held(service.world)


def test_no_import_leads_from_a_tool_to_the_truth() -> None:
    graph = grimp.build_graph("kernel", "draft_service")
    tools = {name for name in graph.modules if name.startswith("kernel.tools.")}
    for module in ("draft_service.rpc.proposing", "kernel.runs.serving", *tools):
        beyond = graph.find_upstream_modules(module) | {module}
        assert not {name for name in beyond if name.startswith("draft_service.clients")}, module
        assert "draft_service.app.exports" not in beyond
    # The search finds it where it is.
    assert "draft_service.clients.conversation" in graph.find_upstream_modules("draft_service.main")


@pytest.mark.parametrize("owner", [Owner.CLIENT, Owner.MCP])
def test_a_tool_that_nobody_knows_counts_as_a_writer(owner: Owner) -> None:
    offered = {"s": [McpTool("unknown", "", "{}")]}
    (tool,) = effective([Tool("unknown", owner=owner, server="s")], offered).by_name.values()
    assert (tool.side_effect, tool.asks) == (SideEffect.IRREVERSIBLE, True)
