"""Tools of an MCP server of the official SDK in real runs, with the scripted provider."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest_asyncio
from stemma.kernel.v1 import run_pb2

from kernel.generation.runner import RunLimits
from tests.runs.programs import ask, talking_to
from tests.runs.stage import Stage, Watch, kinds, on_stage
from tests.support.processes import conversation_service
from tests.support.service import SECRET_KEY
from tests.tools_mcp.support import PROGRAM, meetings
from tests.tools_runs.acts import calls, first, parts, play, session_with, then, told

SERVERS = json.dumps({"tests": {"command": [sys.executable, str(PROGRAM)]}})


def mcp(name: str, **fields: Any) -> dict[str, Any]:
    more = {"server": "tests", "approval": "TOOL_APPROVAL_NEVER"} | fields
    return {"name": name, "owner": "TOOL_OWNER_MCP", **more}


@pytest_asyncio.fixture
async def stage(sqlite_url: str) -> AsyncIterator[Stage]:
    async with on_stage(sqlite_url, mcp_servers=SERVERS, limits=RunLimits(tool_seconds=20.0)) as made:
        yield made
        await made.idle()


async def test_a_servers_tools_act_in_a_run(stage: Stage) -> None:
    """As it lists them; side by side; its errors are the model's to read. What nobody offers is left out."""
    tools = [mcp("add"), mcp("fail"), mcp("repeat"), mcp("unheard_of"), mcp("far", server="away")]
    session = await session_with(stage, *tools)
    made = (
        calls("add", "1", left=2, right=40),
        calls("fail", "2"),
        calls("add", "3", left="two", right=1),
        calls("repeat", "4", text="x", times=300_000),
        calls("far", "5"),
    )
    act = await play(stage, session, first(*made), then())
    assert [spec.name for spec in act.part.sent[0].tools] == ["add", "fail", "repeat"]
    described = act.part.sent[0].tools[0]
    assert described.description == "Adds two numbers."
    assert set(json.loads(described.parameters_json)["properties"]) == {"left", "right"}
    found = {call_id: (content, is_error) for call_id, content, is_error in told(act.part)}
    assert found["1"] == ("42", False)
    assert found["2"][1]
    assert "'two' is not of type 'integer'" in found["3"][0]
    assert found["4"][0].endswith("[Cut here: the result has 300,000 bytes.]")
    assert "no tool of this name" in found["5"][0]
    assert len(parts(act.messages, "tool_result")) == 5


async def test_an_mcp_tool_asks_unless_it_is_told_not_to(stage: Stage) -> None:
    session = await session_with(stage, mcp("add", approval="TOOL_APPROVAL_UNSPECIFIED"))
    act = await play(stage, session, first(calls("add", "1", left=1, right=1)), then())
    assert act.waits == [("ACTION_KIND_APPROVAL", ["1"])]
    await act.submit(approvals=[{"call_id": "1", "approve": True}])
    await act.go_on()
    assert told(act.part) == [("1", "2", False)]


async def test_calls_of_one_answer_are_under_way_at_once(stage: Stage) -> None:
    """Two meet here, and neither is told to go before the other is there."""
    session = await session_with(stage, mcp("meet"))
    async with meetings() as place:
        part = stage.part(first(*(calls("meet", n, port=place.port) for n in "ab")), then())
        watch = stage.watch(session, part)
        running = asyncio.create_task(watch.rest())
        for _, writer in (await place.next(), await place.next()):
            writer.write(b"go on")
            writer.write_eof()
        await running
        assert told(part) == [("a", "go on", False), ("b", "go on", False)]


async def test_a_call_has_only_so_much_time(sqlite_url: str) -> None:
    settings = {"mcp_servers": SERVERS, "limits": RunLimits(tool_seconds=0.3)}
    async with on_stage(sqlite_url, **settings) as stage, meetings() as place:
        session = await session_with(stage, mcp("meet"))
        act = await play(stage, session, first(calls("meet", "a", port=place.port)), then())
        ((_, content, is_error),) = told(act.part)
        assert is_error
        assert "may have acted" in content
        assert act.kinds[-1] == "floor_committed"


async def test_killed_inside_a_tool(sqlite_url: str, tmp_path: Path) -> None:
    """The run is FAILED; what acted, and what was under way, is told to whoever tries again, and acts no
    more."""
    async with meetings() as place:
        meet = {"name": "meet", "arguments": {"port": place.port}, "call_id": "2"}
        script = {
            "replies": [first(calls("add", "1", left=1, right=1)), first(meet, after_results=1), then()]
        }
        environment = {
            "STEMMA_CONVERSATION": "127.0.0.1:0",
            "STEMMA_CONVERSATION_DATABASE_URL": sqlite_url,
            "STEMMA_DATA": str(tmp_path),
            "STEMMA_SECRET_KEY": SECRET_KEY,
            "STEMMA_PROVIDER": "scripted",
            "STEMMA_SCRIPT": json.dumps(script),
            "STEMMA_MCP_SERVERS": SERVERS,
        }
        async with conversation_service(environment) as program, talking_to(program) as client:
            created = await client.call("CreateSession", config={"tools": [mcp("add"), mcp("meet")]})
            watch = ask(client, created.session.session_id, "hello")
            try:
                while kinds(await watched(watch)).count("tool_call") < 2:
                    pass
            except AssertionError:
                print("PROGRAM", *program.lines, sep="\n")
                raise
            reader, _ = await place.next()
            await program.kill()
            # Its server goes with it, whether or not the call hears of that.
            assert await reader.read() in (b"", b"cancelled\n")
    async with on_stage(sqlite_url) as stage:
        failed = await stage.floor(watch.floor_id)
        assert failed.failure_reason == "CRASHED"
        # Of what it showed, as much as it had logged.
        results = [found.content for found in parts(failed.output_page.messages, "tool_result")]
        assert results in ([], ["2"])
        frames = await stage.respond(regenerate={"floor_id": failed.floor_id}).end()
        assert [call.call_id for call in frames[0].started.standing_calls] == ["1", "2"]
        assert frames[-1].WhichOneof("event") == "floor_committed"


async def watched(watch: Watch) -> list[run_pb2.RunEvent]:
    """One frame more."""
    try:
        await watch.next()
    except StopAsyncIteration:
        raise AssertionError(kinds(watch.frames)) from None
    return watch.frames
