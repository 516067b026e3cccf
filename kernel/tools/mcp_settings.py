"""The MCP servers of the operator: STEMMA_MCP_SERVERS, read and checked. Pure, but for the file it may name.

{"files": {"command": ["uvx", "mcp-server-files", "/srv"], "env": {"TOKEN": "…"}},
 "search": {"url": "https://mcp.example.com/mcp", "headers": {"Authorization": "Bearer …"}}}
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from kernel.net.addresses import AddressRefused, target
from kernel.strict_json import NotJson, loads

_MAX_BYTES, _MAX_SERVERS = 256 * 1024, 64
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}")
_HEADER_VALUE = re.compile(r"[\x20-\x7e]{0,8192}")


class BadServers(ValueError):
    """What is wrong with which server, without a value: it may be a secret."""


@dataclass(frozen=True, slots=True)
class StdioServer:
    """A program that is started and talked to by its standard input and output.

    Attributes:
        command: The program and its arguments; found by PATH.
        env: What it gets beside the few variables that any program needs.
    """

    name: str
    command: tuple[str, ...] = field(repr=False)
    env: Mapping[str, str] = field(repr=False, default_factory=dict)


@dataclass(frozen=True, slots=True)
class HttpServer:
    """One that is reached by streamable HTTP, always through the guard of addresses.

    Attributes:
        headers: Sent with every request, and to nobody but the URL's own origin.
        allow_private: The operator vouches for its host: it may be on loopback or in a private network.
    """

    name: str
    url: str = field(repr=False)
    headers: Mapping[str, str] = field(repr=False, default_factory=dict)
    allow_private: bool = False


McpServer = StdioServer | HttpServer


def read_servers(setting: str) -> dict[str, McpServer]:
    """The setting's servers by name: its JSON inline, or that of the file it names; empty for none.

    Raises: BadServers.
    """
    text = setting.strip()
    if not text:
        return {}
    if not text.startswith("{"):
        text = _file(Path(text))
    try:
        value = loads(text)
    except NotJson as error:
        raise BadServers(f"is neither a file nor JSON: it {error}") from None
    if not isinstance(value, dict):
        raise BadServers("holds a JSON object of servers by name")
    if len(value) > _MAX_SERVERS:
        raise BadServers(f"has at most {_MAX_SERVERS} servers")
    return {name: _server(name, entry) for name, entry in value.items()}


def _file(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
        text = data.decode()
    except (OSError, ValueError):
        raise BadServers("names a file that cannot be read as UTF-8 (inline JSON begins with {)") from None
    if len(data) > _MAX_BYTES:
        raise BadServers(f"names a file of more than {_MAX_BYTES // 1024} KiB")
    return text


def _server(name: str, entry: Any) -> McpServer:
    if not _NAME.fullmatch(name):
        raise BadServers(
            "names servers by 1 to 128 ASCII letters, digits, '.', '_', '-', the first not a sign"
        )
    if not isinstance(entry, dict) or ("command" in entry) == ("url" in entry):
        _fault(name, "is an object with either a command or a url")
    known = {"command", "env"} if "command" in entry else {"url", "headers", "allow_private"}
    if not known.issuperset(entry):
        _fault(name, f"has a field that is none of: {', '.join(sorted(known))}")
    return _stdio(name, entry) if "command" in entry else _http(name, entry)


def _stdio(name: str, entry: dict[str, Any]) -> StdioServer:
    command = entry["command"]
    if not isinstance(command, list) or not command or not all(map(_is_text, command)) or not command[0]:
        _fault(name, "has a command that is no list of texts, the program first")
    env = _texts(name, entry, "env")
    if not all(map(_VARIABLE.fullmatch, env)):
        _fault(name, "has an env whose names are no names of variables")
    return StdioServer(name, tuple(command), env)


def _http(name: str, entry: dict[str, Any]) -> HttpServer:
    url, allow_private = entry["url"], entry.get("allow_private", False)
    if not isinstance(url, str):
        _fault(name, "has a url that is no text")
    try:
        target(url)
    except AddressRefused as error:
        _fault(name, f"has a url that {error.message}")
    headers = _texts(name, entry, "headers")
    if not all(map(_HEADER.fullmatch, headers)) or not all(map(_HEADER_VALUE.fullmatch, headers.values())):
        _fault(
            name, "has headers that HTTP does not allow: names of letters, digits and '-', values in ASCII"
        )
    if not isinstance(allow_private, bool):
        _fault(name, "has an allow_private that is neither true nor false")
    return HttpServer(name, url, headers, allow_private)


def _texts(name: str, entry: dict[str, Any], member: str) -> dict[str, str]:
    value = entry.get(member, {})
    if not isinstance(value, dict) or not all(map(_is_text, value.values())):
        _fault(name, f"has {member} that are no object of texts")
    return dict(value)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _fault(name: str, what: str) -> NoReturn:
    raise BadServers(f"{name}: {what}")
