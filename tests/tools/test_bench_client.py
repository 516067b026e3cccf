"""The load generator of `make bench`, against its echo server and its source of streams: real processes."""

import base64
from pathlib import Path

import pytest

from tools.bench import echo
from tools.bench.client import with_request_id
from tools.bench.processes import BenchError, Client, Server, client, server
from tools.bench.requests import append
from tools.bench.words import turns

BODY = base64.b64encode(b"\x12\x01x").decode()


def test_a_request_id_goes_before_the_rest() -> None:
    first, second = with_request_id(b"rest"), with_request_id(b"rest")
    assert first[:2] == b"\x0a\x24"
    assert first.endswith(b"rest")
    assert (len(first), first != second) == (42, True)


async def test_loads_latencies_and_single_calls_are_counted(tmp_path: Path) -> None:
    async with server(["-m", "tools.bench.echo"], {}, tmp_path) as running, client(tmp_path) as load:
        before = running.cpu_seconds()
        answer = await load.ask(
            "load", address=running.address, method=echo.METHOD, bodies=[BODY] * 3, seconds=0.1
        )
        assert answer["calls"] >= 3
        assert answer["failed"] == {}
        assert answer["rate"] > 0 < answer["p95_ms"]
        assert running.cpu_seconds() >= before
        await _latencies(running, load)
        turn = append("a session", next(turns()))
        await load.ask("load", address=running.address, method=echo.TURN, bodies=[turn], seconds=0.01)
        with pytest.raises(BenchError, match="UNIMPLEMENTED"):
            await load.ask("load", address=running.address, method="/none/None", bodies=[BODY], seconds=0.01)


async def _latencies(running: Server, load: Client) -> None:
    calls = [
        {"name": name, "address": running.address, "method": method, "body": base64.b64encode(body).decode()}
        for name, method, body in (("one", echo.METHOD, b"abc"), ("two", echo.SIZED, b"5000"))
    ]
    found = await load.ask("latency", calls=calls, times=2)
    assert {name: len(taken) for name, taken in found.items()} == {"one": 2, "two": 2}
    for call, length in zip(calls, (3, 5_000), strict=True):
        asked = {key: call[key] for key in ("address", "method", "body")}
        assert len(base64.b64decode(await load.ask("call", **asked))) == length


async def test_streams_are_read_to_their_ends(tmp_path: Path) -> None:
    source = server(["-m", "tools.bench.sse_source"], {}, tmp_path)
    async with source as behind, client(tmp_path) as load:
        forwarder = ["-m", "tools.bench.sse_forwarder", behind.address]
        async with server(forwarder, {}, tmp_path) as running:
            answer = await load.ask("sse", url=running.address, streams=3, frames=4)
            assert answer["calls"] == 12
            with pytest.raises(BenchError, match="streams of 2000 events brought"):
                await load.ask("sse", url=running.address, streams=1, frames=2_000)


async def test_a_server_that_does_not_start_is_told_with_its_words(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match="No module named"):
        async with server(["-m", "tools.bench.none"], {}, tmp_path):
            raise AssertionError("it cannot have started")
