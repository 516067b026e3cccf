"""Real MCP servers over stdio, each a process of its own."""

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from kernel.tools.mcp_model import McpLimits, McpResult, McpUnavailable
from kernel.tools.mcp_settings import StdioServer
from tests.tools_mcp.support import PATIENCE, called, exit_of, meetings, refused, stdio, using

PROJECT = Path(__file__).parents[2]


async def test_what_a_server_offers_and_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEMMA_SECRET_KEY", "the secret")
    monkeypatch.setenv("OTHER", "not a setting, and none of its business")
    async with using(stdio(), limits=McpLimits(message_bytes=2_000_000)) as servers:
        tools = await servers.tools("tests")
        assert [tool.name for tool in tools][:3] == ["add", "fail", "repeat"]
        assert tools[0].description == "Adds two numbers."
        schema = json.loads(tools[0].parameters_json)
        assert schema["required"] == ["left", "right"]

        assert await called(servers, "add", left=2, right=3) == McpResult("5", False)
        failed = await called(servers, "fail")
        assert failed.is_error
        assert (await called(servers, "no such tool")).is_error
        assert (await servers.call("tests", "add", "[1]", timeout=1)).is_error
        assert (await servers.call("tests", "add", '{"left":1,"left":2}', timeout=1)).is_error

        long = await called(servers, "repeat", text="x" * 1024, times=1024)
        assert long == McpResult("x" * 1024 * 1024, False)
        # More than a result may have; more than a line may have, which is passed over unread.
        for times in (1025, 10_000):
            dropped = await called(servers, "repeat", text="x" * 1024, times=times)
            assert dropped.is_error
            assert len(dropped.content) < 100

        variables = dict(
            line.split("=", 1) for line in (await called(servers, "environment")).content.splitlines()
        )
        assert variables["GIVEN"] == "by the operator"
        assert "PATH" in variables
        assert not [name for name in variables if name.startswith("STEMMA_") or name == "OTHER"]
        # All on one connection.
        assert (await called(servers, "pid")) == (await called(servers, "pid"))


@pytest.mark.parametrize("manner", ["modern", "legacy"])
async def test_a_call_that_is_given_up_is_cancelled_and_the_others_go_on(manner: str) -> None:
    async with meetings() as place, using(stdio(manner)) as servers:
        other = asyncio.create_task(called(servers, "meet", port=place.port))
        _, answer = await place.next()
        given_up = asyncio.create_task(called(servers, "meet", port=place.port))
        says, _ = await place.next()
        given_up.cancel()
        with pytest.raises(asyncio.CancelledError):
            await given_up
        assert await asyncio.wait_for(says.read(), PATIENCE) == b"cancelled\n"

        with pytest.raises(McpUnavailable, match="in time") as late:
            await servers.call("tests", "meet", json.dumps({"port": place.port}), timeout=0.2)
        assert late.value.sent
        says, _ = await place.next()
        assert await asyncio.wait_for(says.read(), PATIENCE) == b"cancelled\n"

        assert await called(servers, "add", left=1, right=1) == McpResult("2", False)
        answer.write(b"told\n")
        assert await asyncio.wait_for(other, PATIENCE) == McpResult("told\n", False)


@pytest.mark.parametrize("manner", ["modern", "legacy"])
async def test_it_lists_again_what_a_server_says_has_changed(manner: str) -> None:
    async with using(stdio(manner)) as servers:
        before = await servers.tools("tests")
        assert await called(servers, "grow") == McpResult("done", False)
        # The server says so beside its answer, over another stream.
        async with asyncio.timeout(PATIENCE):
            after = before
            while after == before:
                await asyncio.sleep(0)
                after = await servers.tools("tests")
        assert [tool.name for tool in after] == [*(tool.name for tool in before), "grown"]


async def test_a_server_that_dies_is_started_again_and_a_call_never_repeated() -> None:
    async with meetings() as place, using(stdio()) as servers:
        first = int((await called(servers, "pid")).content)
        with capture_logs() as logs:
            assert await called(servers, "say", text="a word " * 200, times=500) == McpResult("said", False)
            died = asyncio.create_task(refused(servers, "meet", port=place.port))
            says, _ = await place.next()
            os.kill(first, signal.SIGKILL)
            error = await asyncio.wait_for(died, PATIENCE)
            assert error.sent
            assert error.message == "The connection to the MCP server ended."
            assert await says.read() == b""
            second = int((await called(servers, "pid")).content)
        assert second != first
        # It said much, of which the log has a little.
        lines = [entry["line"] for entry in logs if entry["event"] == "mcp.stderr"]
        assert 1 <= len(lines) <= 60
        assert max(map(len, lines)) == 400
        assert [entry["lines"] >= 440 for entry in logs if entry["event"] == "mcp.stderr_left_out"] == [True]

        gone = exit_of(second)
        error = await refused(servers, "die")
        assert error.sent
        await asyncio.wait_for(gone, PATIENCE)
        # Its tools are known still, and it is not started for that.
        assert len(await servers.tools("tests")) > 5


async def test_closing_ends_the_server_and_calls_under_way() -> None:
    async with meetings() as place, using(stdio()) as servers:
        pids = [int((await called(servers, tool)).content) for tool in ("pid", "begin_child")]
        ended = [exit_of(pid) for pid in pids]
        waiting = asyncio.create_task(refused(servers, "meet", port=place.port))
        await place.next()
        await servers.aclose()
        assert (await asyncio.wait_for(waiting, PATIENCE)).sent
        await asyncio.wait_for(asyncio.gather(*ended), PATIENCE)
        assert (await refused(servers, "pid")).message == "The service is stopping."


async def test_it_dies_with_its_parent_and_so_does_all_that_it_started() -> None:
    environment = os.environ | {"PYTHONPATH": str(PROJECT)}
    parent = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.tools_mcp.parent"),
        cwd=PROJECT,
        env=environment,
        stdout=PIPE,
        stderr=DEVNULL,
    )
    assert parent.stdout is not None
    try:
        async with asyncio.timeout(PATIENCE):
            pids = json.loads(await parent.stdout.readline())
        ended = [exit_of(pid) for pid in pids[1:]]
    finally:
        parent.kill()
    await asyncio.wait_for(asyncio.gather(*ended), PATIENCE)
    await asyncio.wait_for(parent.communicate(), PATIENCE)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (("/no/such/program",), "did not start, or does not speak MCP"),
        (("sh", "-c", "exit 3"), "did not start, or does not speak MCP"),
        (("yes", "nonsense"), "did not start, or does not speak MCP"),
        (("sleep", "1000"), "did not start in time"),
    ],
)
async def test_what_is_no_server_is_unavailable(command: tuple[str, ...], message: str) -> None:
    limits = McpLimits(connect=0.3 if command[0] == "sleep" else PATIENCE)
    async with using(StdioServer("tests", command), limits=limits) as servers:
        with capture_logs() as logs:
            both = await asyncio.gather(refused(servers, "add"), refused(servers, "add"))
            # Nor asked again at once.
            again = await refused(servers, "add")
        assert all(message in error.message and not error.sent for error in (*both, again))
        assert sum(entry["event"] == "mcp.ended" for entry in logs) == (message.endswith("MCP"))
        if command[0] == "/no/such/program":
            assert "cannot start the command: No such file or directory" in [
                entry.get("line") for entry in logs
            ]


async def test_a_run_that_is_gone_while_a_server_starts_leaves_it_to_the_others() -> None:
    async with using(stdio()) as servers:
        first, second = (asyncio.create_task(called(servers, "pid")) for _ in range(2))
        await asyncio.sleep(0)
        first.cancel()
        assert not (await second).is_error
        with pytest.raises(asyncio.CancelledError):
            await first


async def test_a_name_that_nobody_configured() -> None:
    async with using() as servers:
        assert "STEMMA_MCP_SERVERS" in (await refused(servers, "add", "other")).message
