"""HTTP by hand, for requests that no client library would send."""

import asyncio
import contextlib
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

TIMEOUT = 10.0


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def reason(self) -> str:
        return str(reason_of(self.json()))


def reason_of(error: Any) -> str:
    """The ErrorInfo reason of an error's body."""
    kind = "type.googleapis.com/google.rpc.ErrorInfo"
    [info] = [one for one in error["details"] if one["@type"] == kind]
    assert info["domain"] == "stemma"
    return str(info["reason"])


class Connection:
    """One connection; use with `async with`."""

    def __init__(self, base_url: str) -> None:
        self.netloc = urlsplit(base_url).netloc
        self._host, self._port = urlsplit(base_url).hostname, urlsplit(base_url).port

    async def __aenter__(self) -> "Connection":
        self.reader, self.writer = await asyncio.open_connection(self._host, self._port)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.writer.close()
        with contextlib.suppress(ConnectionError):  # the other side was faster, as some tests want
            await self.writer.wait_closed()

    def write(self, data: bytes) -> None:
        self.writer.write(data)

    async def head(self) -> tuple[int, dict[str, str]]:
        """Status and headers, up to the body."""
        block = await asyncio.wait_for(self.reader.readuntil(b"\r\n\r\n"), TIMEOUT)
        first, *lines = block.decode("latin-1").split("\r\n")
        pairs = (line.split(": ", 1) for line in lines if line)
        return int(first.split()[1]), {name.lower(): value for name, value in pairs}

    async def answer(self) -> Answer:
        status, headers = await self.head()
        body = await asyncio.wait_for(self.reader.readexactly(int(headers["content-length"])), TIMEOUT)
        return Answer(status, headers, body)

    async def closed(self) -> bool:
        """Waits for the server's end of the connection."""
        return await asyncio.wait_for(self.reader.read(), TIMEOUT) == b""


async def send(base_url: str, *parts: bytes | str) -> Answer:
    """One request, written as given; `{host}` stands for the server's own."""
    async with Connection(base_url) as connection:
        for part in parts:
            data = part.encode("latin-1") if isinstance(part, str) else part
            connection.write(data.replace(b"{host}", connection.netloc.encode()))
        return await connection.answer()


async def get(base_url: str, target: str, *headers: str) -> Answer:
    return await send(base_url, request("GET", target, *headers))


async def post(base_url: str, target: str, body: bytes, *headers: str) -> Answer:
    """With `content-type: application/json` unless the headers say otherwise."""
    given = list(headers)
    if not any(one.lower().startswith("content-type") for one in headers):
        given.append("Content-Type: application/json")
    given.append(f"Content-Length: {len(body)}")
    return await send(base_url, request("POST", target, *given), body)


def request(method: str, target: str, *headers: str) -> str:
    lines = [f"{method} {target} HTTP/1.1", *headers]
    if not any(one.lower().startswith("host:") for one in headers):
        lines.insert(1, "Host: {host}")
    return "\r\n".join([*lines, "", ""])
