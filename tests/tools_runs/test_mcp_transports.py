"""An MCP server of the official SDK in real runs: over both transports, with both models.

Nothing is asserted on what the local model says: it is a very small one, and is made to call.
"""

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from kernel.generation.runner import RunLimits
from tests.runs.stage import Stage, on_stage
from tests.support.client import request_for, user
from tests.tools_mcp.server import built
from tests.tools_mcp.support import PROGRAM
from tests.tools_mcp.web import serving
from tests.tools_runs.acts import calls, first, parts, play, then, told

TRANSPORTS = ("stdio", "http")
ADD = {"name": "add", "owner": "TOOL_OWNER_MCP", "approval": "TOOL_APPROVAL_NEVER"}
# Each answer must be a call: so the run ends at its limit of steps, with what the first one gave.
LOCAL = {
    "provider": "local",
    "temperature": 0.0,
    "max_output_tokens": 64,
    "extra_json": '{"tool_choice":"required"}',
}


@asynccontextmanager
async def staged(url: str) -> AsyncIterator[Stage]:
    """The same server twice: `stdio` and `http`."""
    limits = RunLimits(max_steps=1, tool_seconds=20.0)
    async with serving(built()) as web:
        servers = {
            "stdio": {"command": [sys.executable, str(PROGRAM)]},
            "http": {"url": web.url, "allow_private": True},
        }
        async with on_stage(url, mcp_servers=json.dumps(servers), limits=limits) as stage:
            yield stage


async def test_with_the_scripted_model(sqlite_url: str) -> None:
    async with staged(sqlite_url) as stage:
        for transport in TRANSPORTS:
            created = await stage.client.call(
                "CreateSession", config={"tools": [ADD | {"server": transport}]}
            )
            session = created.session.session_id
            act = await play(stage, session, first(calls("add", "1", left=2, right=40)), then())
            assert told(act.part) == [("1", "42", False)]
            assert act.kinds[-1] == "floor_committed"


@pytest.mark.local_model
async def test_with_the_local_model(sqlite_url: str) -> None:
    async with staged(sqlite_url) as stage:
        for transport in TRANSPORTS:
            await assert_called(stage, transport)


async def assert_called(stage: Stage, transport: str) -> None:
    config = {"tools": [ADD | {"server": transport}], "model": LOCAL}
    session = (await stage.client.call("CreateSession", config=config)).session.session_id
    asked = {"messages": [user("What is two and forty?")]}
    frames = await stage.sent(request_for("Respond", session_id=session, input=asked)).end()
    (called,) = [frame.tool_call for frame in frames if frame.HasField("tool_call")]
    (answer,) = [frame.tool_result for frame in frames if frame.HasField("tool_result")]
    given = json.loads(called.arguments_json)
    assert (called.name, answer.call_id, answer.is_error) == ("add", called.call_id, False)
    assert answer.content == str(given["left"] + given["right"])
    assert frames[-1].failed.reason == "LIMIT"
    kept = parts(frames[-1].failed.floor.output_page.messages, "tool_result")
    assert [result.content for result in kept] == [answer.content]
