"""What more calls than can be answered do to those that can: `python -m tests.overload.experiment`.

A service of its own (SQLite, or `--database URL`) gets AppendFloor calls of many sessions from hand-made
HTTP/2 frames: closed loops with more and more callers until the answers a second grow no more, then twice
that rate whether it answers or not, then half of it. Prints the phases, and writes docs/overload.md with
`--write`. Only ratios of one run mean anything.
"""

import argparse
import asyncio
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import grpc
import uvloop

from tests.overload.http2_load import Answered, Connection, connect
from tests.support import client as contract
from tests.support.databases import sqlite_url
from tests.support.processes import conversation_service

PATH = "/stemma.conversation.v1.FloorService/AppendFloor"
OK, EXHAUSTED = grpc.StatusCode.OK.value[0], grpc.StatusCode.RESOURCE_EXHAUSTED.value[0]
CONNECTIONS = 8
CALLERS = (16, 32, 64, 128, 256)
SESSIONS = 1_000
# The targets: goodput at twice the saturating load, and seconds until it is back after that.
GOODPUT, RECOVERY_S = 0.8, 10.0


@dataclass
class Phase:
    """The answers of one load. `seconds`: how long it was offered."""

    name: str
    offered: str
    seconds: float
    answers: list[Answered] = field(default_factory=list)

    @property
    def codes(self) -> Counter[int]:
        return Counter(answer.status for answer in self.answers)

    @property
    def goodput(self) -> float:
        """Calls that were done, a second."""
        return self.codes[OK] / self.seconds

    def milliseconds(self, status: int, quantile: float) -> float:
        times = sorted(answer.seconds for answer in self.answers if answer.status == status)
        return 1_000 * times[int(quantile * (len(times) - 1))] if times else 0.0


class Load:
    """AppendFloor calls to many sessions, in turn, so that none is a hot spot."""

    def __init__(self, connections: Sequence[Connection], sessions: Sequence[str]) -> None:
        self._connections = connections
        self._parts = [_request_parts(session) for session in sessions]
        self._count = 0

    def call(self) -> "asyncio.Future[Answered]":
        self._count += 1
        before, after = self._parts[self._count % len(self._parts)]
        request = before + str(uuid.uuid4()).encode() + after
        return self._connections[self._count % len(self._connections)].call(PATH, request)

    async def closed(self, callers: int, seconds: float) -> Phase:
        """Each caller calls again when it is answered."""
        phase = Phase("growing", f"{callers} callers", seconds)
        until = time.perf_counter() + seconds

        async def caller() -> None:
            while time.perf_counter() < until:
                phase.answers.append(await self.call())

        begun = time.perf_counter()
        await asyncio.gather(*[caller() for _ in range(callers)])
        phase.seconds = time.perf_counter() - begun
        return phase

    async def open(self, name: str, rate: float, seconds: float) -> Phase:
        """`rate` calls a second, whatever becomes of them; returns when all are answered."""
        phase = Phase(name, f"{rate:,.0f} /s", seconds)
        calls: list[asyncio.Future[Answered]] = []
        begun = time.perf_counter()
        while (elapsed := time.perf_counter() - begun) < seconds:
            while len(calls) < rate * elapsed:
                calls.append(self.call())
            await asyncio.sleep(0.002)
        phase.answers = list(await asyncio.gather(*calls))
        phase.seconds = time.perf_counter() - begun
        return phase


def _request_parts(session_id: str) -> tuple[bytes, bytes]:
    """An AppendFloor's bytes before and after its request id."""
    mark = str(uuid.UUID(int=2**128 - 1))
    words = {
        "input": [contract.user("How would you say it? " * 5)],
        "output": [contract.assistant("So. " * 50)],
    }
    whole = contract.request_for("AppendFloor", request_id=mark, session_id=session_id, **words)
    before, _, after = whole.SerializeToString().partition(mark.encode())
    return before, after


@asynccontextmanager
async def a_load(database_url: str, folder: str, sessions: int = SESSIONS) -> AsyncIterator[tuple[str, Load]]:
    """A service of its own, and a load for it."""
    environment = {
        "STEMMA_CONVERSATION": "127.0.0.1:0",
        "STEMMA_DATA": folder,
        "STEMMA_CONVERSATION_DATABASE_URL": database_url,
        "STEMMA_SECRET_KEY": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
        "STEMMA_PROVIDER": "scripted",
        "STEMMA_LOG_LEVEL": "WARNING",
    }
    async with conversation_service(environment) as service:
        async with contract.connect(service.address) as client:
            ids = [await client.new_session() for _ in range(sessions)]
        connections = [await connect(service.address) for _ in range(CONNECTIONS)]
        try:
            yield service.address, Load(connections, ids)
        finally:
            for connection in connections:
                connection.close()


@asynccontextmanager
async def a_stalled_reader(address: str) -> AsyncIterator[None]:
    """A client that exports a session of some MiB and takes its first piece only."""
    async with contract.connect(address, own_connection=True) as client:
        session = await client.new_session()
        for _ in range(8):
            await client.call("AppendFloor", session_id=session, input=[contract.user("x" * 1_000_000)])
        call = client.stream("ExportSession", contract.request_for("ExportSession", session_id=session))
        await call.read()
        try:
            yield
        finally:
            call.cancel()


async def experiment(database_url: str, seconds: float) -> list[Phase]:
    """The phases, in the order of the table."""
    with tempfile.TemporaryDirectory(prefix="stemma-overload-") as folder:
        url = database_url or sqlite_url(Path(folder) / "overload.db")
        async with a_load(url, folder) as (address, load):
            await load.closed(32, 1.0)
            phases = [await load.closed(callers, seconds) for callers in CALLERS]
            peak = max(phase.goodput for phase in phases)
            phases.append(await load.open("twice", 2 * peak, 2 * seconds))
            phases.append(await _recovery(load, peak / 2))
            async with a_stalled_reader(address):
                phases.append(await load.closed(64, seconds))
                phases[-1].name = "one stalled reader"
            phases.append(await load.closed(64, seconds))
            phases[-1].name = "none"
    return phases


async def _recovery(load: Load, rate: float) -> Phase:
    """Half of the peak, second by second, until a whole second is answered OK; `seconds`: until then."""
    begun = time.perf_counter()
    while True:
        phase = await load.open("after it", rate, 1.0)
        if set(phase.codes) == {OK} or time.perf_counter() - begun > 3 * RECOVERY_S:
            phase.seconds = time.perf_counter() - begun
            return phase


def table(phases: Sequence[Phase]) -> str:
    lines = ["| phase | offered | done /s | refused /s | lost | done p50, p99 ms | refused p50 ms |"]
    lines.append("|---|---|---|---|---|---|---|")
    for phase in phases:
        codes = phase.codes
        lost = sum(codes.values()) - codes[OK] - codes[EXHAUSTED]
        refused = codes[EXHAUSTED] / phase.seconds
        lines.append(
            f"| {phase.name} | {phase.offered} | {phase.goodput:,.0f} | {refused:,.0f}"
            f" | {lost} | {phase.milliseconds(OK, 0.5):.0f}, {phase.milliseconds(OK, 0.99):.0f}"
            f" | {phase.milliseconds(EXHAUSTED, 0.5):.0f} |"
        )
    return "\n".join(lines)


def verdicts(phases: Sequence[Phase]) -> list[tuple[bool, str]]:
    """What is promised, and whether it held."""
    peak = max(phase.goodput for phase in phases if phase.name == "growing")
    named = {phase.name: phase for phase in phases}
    kept, after = named["twice"].goodput / peak, named["after it"]
    stalled = named["one stalled reader"].goodput / named["none"].goodput
    lost = sum(set(phase.codes) - {OK, EXHAUSTED} != set() for phase in phases)
    return [
        (
            kept >= GOODPUT,
            f"goodput at twice the saturating load: {kept:.0%} of its peak (at least {GOODPUT:.0%})",
        ),
        (
            set(after.codes) == {OK} and after.seconds <= RECOVERY_S,
            f"recovered {after.seconds:.1f} s after it (at most {RECOVERY_S:.0f} s)",
        ),
        (stalled >= GOODPUT, f"goodput beside one stalled reader: {stalled:.0%} of that without"),
        (not lost, "every call was answered OK or RESOURCE_EXHAUSTED"),
    ]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="tests.overload.experiment", description=__doc__)
    parser.add_argument("--database", default="", help="postgresql://… instead of a SQLite file")
    parser.add_argument("--seconds", type=float, default=4.0, help="of each phase")
    parser.add_argument("--write", action="store_true", help="into docs/overload.md")
    options = parser.parse_args(arguments)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        phases = runner.run(experiment(options.database, options.seconds))
    judged = verdicts(phases)
    said = "\n".join(f"- {'holds' if held else 'MISSED'}: {text}" for held, text in judged)
    report = f"{table(phases)}\n\n{said}\n"
    print(report)
    if options.write:
        _write(report)
    return 0 if all(held for held, _ in judged) else 1


_MARK = "<!-- make overload ARGS=--write writes from here on -->\n"


def _write(report: str) -> None:
    file = Path("docs/overload.md")
    head, _, _ = file.read_text().partition(_MARK)
    file.write_text(f"{head}{_MARK}\n{report}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
