"""Stemma and its peers on the same work, one after the other, each in a process and a database of its own."""

import asyncio
import json
from dataclasses import asdict
from importlib import resources
from pathlib import Path

from tools.bench import processes, requests, sizes
from tools.bench.bench import Bench
from tools.bench.peers.work import Result, Work, in_turns, repeated

ROOT = Path(__file__).resolve().parents[3]
PYTHON = ROOT / ".cache" / "bench-peers" / "venv" / "bin" / "python"
REQUIREMENTS = "peers-requirements.txt"
PEERS = ("langgraph", "adk", "agents")
_NAMED = ("langgraph", "langgraph-checkpoint-postgres", "google-adk", "openai-agents")
_WORK = Work(messages=1_000, branch_at=400, times=9, branches=200)


async def peers(bench: Bench) -> None:
    """Records `peer.NAME.MEASURE`. Without the peers' environment Stemma is measured alone."""
    bench.say("Stemma, at 1,000 messages")
    _record(bench, "stemma", await _stemma(bench, _WORK))
    if not bench.size.peers or not PYTHON.exists():
        bench.facts["Peers"] = "not measured: `make bench-peers` installs them; the quick run leaves them out"
        return
    bench.facts["Peers"] = ", ".join(_versions())
    for name in PEERS:
        bench.say(f"{name}, at 1,000 messages")
        _record(bench, name, await _peer(name, bench.databases.postgres(), _WORK))


def _record(bench: Bench, name: str, result: Result) -> None:
    values = asdict(result)
    count = values.pop("messages")
    if count != _WORK.messages:
        raise processes.BenchError(f"{name} has {count} messages instead of {_WORK.messages}")
    for measure, value in values.items():
        if value is not None:
            bench.add(f"peer.{name}.{measure}", value)


async def _peer(name: str, url: str, work: Work) -> Result:
    process = await asyncio.create_subprocess_exec(
        *[str(PYTHON), "-m", f"tools.bench.peers.{name}"],
        cwd=ROOT,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        question = json.dumps({"url": url, "work": asdict(work)}).encode()
        out, err = await process.communicate(question)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        raise processes.BenchError(f"{name} failed:\n{err.decode(errors='replace')[-3_000:]}")
    # A library may have words of its own before the answer.
    return Result(**json.loads(out.splitlines()[-1]))


async def _stemma(bench: Bench, work: Work) -> Result:
    """Over gRPC, answers read: the whole way, which peers do not have to go. What is loaded is a copy each
    time, since the service keeps what it has read; `again` is a load of what it keeps, after an append."""
    url = bench.databases.postgres()
    texts = work.texts()
    async with processes.service(url, bench.folder) as server, requests.sessions(server.address) as made:
        (session_id,) = await made.new(1)
        floor_ids = [await made.append(session_id, next(texts))]
        first = await sizes.tables(url)
        for _ in range(1, work.turns):
            floor_ids.append(await made.append(session_id, next(texts)))
        tree, _ = sizes.split(sizes.grown(await sizes.tables(url), first))
        count = len(await made.messages(session_id))
        copies = [await made.copy(session_id, floor_ids[-1]) for _ in range(work.times)]
        loading = await repeated(lambda: made.messages(copies.pop()), work.times)
        appending, again = await in_turns(
            lambda: made.append(session_id, next(texts)), lambda: made.messages(session_id), work.times
        )
        left = floor_ids[work.branch_turn]
        before = await sizes.tables(url)
        branching = await repeated(lambda: made.edit(session_id, left, next(texts)), work.branches)
        grown, _ = sizes.split(sizes.grown(await sizes.tables(url), before))
    return Result(appending, loading, work.each(tree), branching, grown / work.branches, count, again)


def _versions() -> list[str]:
    lines = resources.files("tools.bench").joinpath(REQUIREMENTS).read_text(encoding="utf-8").splitlines()
    return [line.replace("==", " ") for line in lines if line.partition("==")[0] in _NAMED]
