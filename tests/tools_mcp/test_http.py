"""Real MCP servers over streamable HTTP on loopback."""

import asyncio
import json

import pytest

from kernel.net.guard import Guard
from kernel.tools.mcp_model import McpLimits, McpResult, McpUnavailable
from kernel.tools.mcp_servers import McpServers
from kernel.tools.mcp_settings import HttpServer
from tests.tools_mcp.server import built
from tests.tools_mcp.support import PATIENCE, called, meetings, refused, using
from tests.tools_mcp.web import answering, serving, trap


def http(url: str) -> HttpServer:
    return HttpServer("tests", url, {"x-key": "the key"}, allow_private=True)


@pytest.mark.parametrize(
    ("legacy", "json_response"), [(False, False), (False, True), (True, False), (True, True)]
)
async def test_what_a_server_answers_cut_off_and_after_a_restart(legacy: bool, json_response: bool) -> None:
    async with meetings() as place:
        async with serving(built(legacy=legacy), json_response=json_response) as web:
            servers = McpServers({"tests": http(web.url)}, Guard(), McpLimits(message_bytes=2_000_000))
            assert (await servers.tools("tests"))[0].name == "add"
            assert await called(servers, "add", left=2, right=3) == McpResult("5", False)
            assert (await called(servers, "fail")).is_error
            kinds = (await called(servers, "mixed")).content.splitlines()
            assert json.loads(kinds[1]) == {"type": "image", "mime_type": "image/png", "bytes": 100}
            assert (kinds[0], kinds[-1]) == ("first\N{REPLACEMENT CHARACTER}", "of a file")
            # More than a result may have, and more than a message may.
            for times in (1025, 4_000):
                assert "dropped" in (await called(servers, "repeat", text="x" * 1024, times=times)).content

            with pytest.raises(McpUnavailable, match="in time") as late:
                await servers.call("tests", "meet", json.dumps({"port": place.port}), timeout=0.2)
            assert late.value.sent
            says, _ = await place.next()
            # Newer servers see it by the closed connection; the SDK's does not look when it answers in JSON.
            if legacy or not json_response:
                assert await asyncio.wait_for(says.read(), PATIENCE) == b"cancelled\n"
            assert await called(servers, "add", left=1, right=1) == McpResult("2", False)
            assert {headers.get("x-key") for _, headers in web.seen} == {"the key"}
        # Nobody there; then a new process at its place, which knows no session of the old one.
        assert not (await refused(servers, "add", left=1, right=1)).sent
        async with serving(built(legacy=legacy), port=web.port, json_response=json_response):
            assert await called(servers, "add", left=2, right=2) == McpResult("4", False)
            await servers.aclose()


async def test_a_projects_url_may_not_lead_to_loopback() -> None:
    async with trap() as (port, knocked), using() as servers:
        for host in (
            "127.0.0.1",
            "[::1]",
            "[::ffff:7f00:1]",
            "localhost",
            "a@127.0.0.1",
            "0x7f.1",
            "2130706433",
        ):
            url = f"http://{host}:{port}/mcp"
            assert (await refused(servers, "add", url)).message.startswith("The URL of the MCP server ")
            with pytest.raises(McpUnavailable, match="The URL of the MCP server "):
                await servers.tools(url)
        assert knocked == []


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (b"HTTP/1.1 401 No\r\ncontent-length: 0\r\n\r\n", "does not let us in"),
        (b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 2\r\n\r\nhi", "does not speak MCP"),
        (b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 2\r\n\r\nhi", "compressed"),
        (b"garbage", "broke off"),
    ],
)
async def test_what_is_no_server_is_unavailable(answer: bytes, message: str) -> None:
    async with answering(answer) as url, using(http(url)) as servers:
        error = await refused(servers, "add")
        assert message in error.message
        assert not error.sent
