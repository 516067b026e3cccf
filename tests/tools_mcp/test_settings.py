"""STEMMA_MCP_SERVERS, and a project's `Tool.server`."""

import json
from pathlib import Path

import pytest
from stemma.kernel.v1 import config_pb2

from kernel.tools.mcp_settings import BadServers, HttpServer, StdioServer, read_servers
from kernel.wire.config_checks import violations

SERVERS = {
    "files": {"command": ["serve", "/srv"], "env": {"TOKEN": "hush"}},
    "search": {
        "url": "https://mcp.example.com/mcp",
        "headers": {"authorization": "hush"},
        "allow_private": True,
    },
}


def test_inline_or_from_a_file_and_nothing_secret_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "servers.json"
    path.write_text(json.dumps(SERVERS))
    read = read_servers(str(path))
    assert read == read_servers(json.dumps(SERVERS))
    assert read["files"] == StdioServer("files", ("serve", "/srv"), {"TOKEN": "hush"})
    search = SERVERS["search"]
    assert read["search"] == HttpServer("search", str(search["url"]), {"authorization": "hush"}, True)
    assert "hush" not in repr(read)
    assert read_servers(" ") == {}


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("/no/such/file", "names a file that cannot be read"),
        ("{hush", "is not JSON"),
        ('{"a b": {}}', "names servers by"),
        ('{"a": {}}', "a: is an object with either"),
        ('{"a": {"command": ["x"], "url": "http://x"}}', "a: is an object with either"),
        ('{"a": {"command": "hush"}}', "a: has a command that is no list"),
        ('{"a": {"command": []}}', "a: has a command that is no list"),
        ('{"a": {"command": ["x"], "headers": {}}}', "a: has a field that is none of: command, env"),
        ('{"a": {"command": ["x"], "env": {"A": 1}}}', "a: has env that are no object of texts"),
        ('{"a": {"command": ["x"], "env": {"A=B": "hush"}}}', "a: has an env whose names"),
        ('{"a": {"url": "file:///hush"}}', "a: has a url that must be a plain http"),
        ('{"a": {"url": "http://x", "headers": {"A": "hush\\r\\nB: 1"}}}', "a: has headers that HTTP"),
        ('{"a": {"url": "http://x", "allow_private": "yes"}}', "a: has an allow_private"),
    ],
)
def test_what_is_wrong_is_said_without_a_value(setting: str, message: str) -> None:
    with pytest.raises(BadServers) as caught:
        read_servers(setting)
    assert message in str(caught.value)
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize(
    ("server", "allowed"),
    [
        ("files", True),
        ("n" * 129, False),
        ("https://mcp.example.com/mcp", True),
        ("https://mcp.example.com/" + "n" * 1000, True),
        ("https://mcp.example.com/" + "n" * 1001, False),
        ("http://user@example.com/", False),
        ("http://0x7f.1/", False),
    ],
)
def test_a_projects_server_is_a_name_or_a_plain_url(server: str, allowed: bool) -> None:
    config = config_pb2.Config(tools=[config_pb2.Tool(name="tool", server=server)])
    assert [path for path, _ in violations(config)] == ([] if allowed else ["tools[0].server"])
