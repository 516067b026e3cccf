"""Many runs at once: how steadily their tokens come, and what they take of the server's memory."""

import asyncio
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from tools.bench import processes, requests
from tools.bench.bench import ENGINES, Bench
from tools.bench.processes import Server

# Runs at once. Each model says a token every 50 ms.
COUNTS = (200, 1_000)
_TOKENS_PER_SECOND = 20
# Milliseconds between two frames that 95 % of them may take.
BOUND = 500.0
# Runs begun each second, so that the start itself is no flood.
_BEGUN_PER_SECOND = 40
_LOOK = 0.2


async def runs(bench: Bench) -> None:
    script = json.dumps({"replies": [_reply(count, bench.size.seconds) for count in COUNTS]})
    bench.add("runs.bound", BOUND)
    for engine in ENGINES:
        url = bench.databases.both(f"runs_{engine}")[engine]
        async with processes.service(url, bench.folder, script=script) as service:
            async with requests.sessions(service.address) as made:
                ids = await made.new(max(COUNTS))
            for count in COUNTS:
                bench.say(f"{count:,} runs, {engine}")
                bodies = [requests.respond(one, str(count)) for one in ids[:count]]
                await _together(bench, f"runs.{engine}.{count}", service, bodies)


def _reply(count: int, seconds: float) -> dict[str, Any]:
    """Long enough for all to run at once for some seconds."""
    tokens = round(_TOKENS_PER_SECOND * (count / _BEGUN_PER_SECOND + seconds * 2))
    pieces = [f"token{number} " for number in range(tokens)]
    return {"when": str(count), "deltas": pieces, "delay_ms": 1_000 // _TOKENS_PER_SECOND}


async def _together(bench: Bench, name: str, service: Server, bodies: list[str]) -> None:
    seen: list[float] = []
    watching = asyncio.create_task(_memory(service, seen))
    before = service.cpu_seconds()
    try:
        answer = await bench.client.ask(
            "runs", address=service.address, bodies=bodies, spread=len(bodies) / _BEGUN_PER_SECOND
        )
    finally:
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching
    bench.add(f"{name}.gap", answer["p95_ms"])
    bench.add(f"{name}.cpu", (service.cpu_seconds() - before) * 1e3 / answer["calls"])
    bench.add(f"{name}.frames", answer["rate"])
    # From when all have begun to when the first ones end.
    begun = round(len(bodies) / _BEGUN_PER_SECOND / _LOOK)
    ends = max(begun + 1, round(begun + bench.size.seconds * 2 / _LOOK) - 1)
    bench.add(f"{name}.memory.early", seen[min(begun, len(seen) - 1)])
    bench.add(f"{name}.memory.late", seen[min(ends, len(seen) - 1)])


async def _memory(service: Server, seen: list[float]) -> None:
    while True:
        await asyncio.sleep(_LOOK)
        seen.append(resident(service.pid))


def resident(pid: int) -> float:
    """Bytes of memory that a process has."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith("VmRSS:")) * 1024
