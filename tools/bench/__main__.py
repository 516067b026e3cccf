"""`python -m tools.bench`: measures everything, prints the table, and writes docs/benchmarks.md."""

import argparse
import os
import shlex
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import grpc
import uvloop
from rich.console import Console
from rich.markdown import Markdown

from tests.support.own_postgres import NoPostgresError
from tools.bench import access, machine
from tools.bench.bench import FULL, QUICK, Bench, begun
from tools.bench.databases import Databases, databases
from tools.bench.drafts import drafts
from tools.bench.growth import growth
from tools.bench.peers.run import peers
from tools.bench.processes import BenchError, client
from tools.bench.profiles import profiles
from tools.bench.reads import reads
from tools.bench.report import Report
from tools.bench.rows import measured, sections
from tools.bench.runs import runs
from tools.bench.sse import sse
from tools.bench.throughput import throughput

ROOT = Path(__file__).resolve().parents[2]
# Columns that the table needs.
_WIDTH = 150
_WHOLE, _WITH_ACCESS = ROOT / "docs" / "benchmarks.md", ROOT / "docs" / "benchmarks-access.md"
# The core: what access is asked for, and where it could cost.
_CORE = ["throughput", "reads", "growth", "runs"]
_PART, _RAW = (ROOT / ".cache" / "bench" / name for name in ("part.md", "values.json"))

SECTIONS: dict[str, Callable[[Bench], Awaitable[None]]] = {
    "throughput": throughput,
    "reads": reads,
    "growth": growth,
    "runs": runs,
    "drafts": drafts,
    "sse": sse,
    "peers": peers,
}


def _arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.bench", description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="a minute, for CI: says little, shows that it works"
    )
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS), help="these sections")
    parser.add_argument(
        "--access", action="store_true", help="the core, with access on: every call brings a token"
    )
    parser.add_argument("--output", type=Path, help="the report; a whole run's is in docs")
    parser.add_argument("--postgres", metavar="URL", help="a server to use instead of one of our own")
    parser.add_argument(
        "--profile", type=Path, metavar="FOLDER", help="profile the service there, and no more"
    )
    given = parser.parse_args(words)
    if given.access:
        given.only = [name for name in given.only if name in _CORE]
    return given


async def _measure(made: Databases, options: argparse.Namespace, command: str) -> Report:
    started = time.monotonic()
    every = options.only == list(SECTIONS)
    size = QUICK if options.quick else FULL
    async with AsyncExitStack() as until:
        if options.access:
            access.turn_on(made.folder)
        bench = await begun(size, made, until)
        about = await machine.facts(made.server_url)
        syncs = [machine.syncs_per_second(made.folder)]
        for name in options.only:
            await SECTIONS[name](bench)
            syncs.append(machine.syncs_per_second(made.folder))
        about["fdatasync of 4 KiB"] = (
            " / ".join(f"{rate:,.0f}" for rate in syncs) + " per second, through the run"
        )
    return Report(
        command=command,
        commit=machine.commit(ROOT),
        seconds=time.monotonic() - started,
        machine=about,
        values=bench.values,
        facts=bench.facts,
        sections=sections(size) if every else measured(sections(size), bench.values),
    )


async def _profile(made: Databases, target: Path) -> None:
    async with client(made.folder) as load:
        for written in await profiles(made.both("profile"), load, made.folder, target):
            print(written)


def _output(options: argparse.Namespace) -> Path:
    """A whole run is kept, a part of one is only shown."""
    if options.quick:
        return _PART
    if options.access and options.only == _CORE:
        return _WITH_ACCESS
    return _WHOLE if options.only == list(SECTIONS) else _PART


def main(words: Sequence[str]) -> int:
    """Exit status 0 when it ran, whatever it found; 2 when it could not."""
    options = _arguments(words)
    # It would tell that it does nothing about each program that is started.
    os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
    command = shlex.join(["python", "-m", "tools.bench", *words])
    try:
        with databases(options.postgres) as made:
            if options.profile:
                uvloop.run(_profile(made, options.profile))
                return 0
            report = uvloop.run(_measure(made, options, command))
    except (BenchError, NoPostgresError, grpc.aio.AioRpcError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    output: Path = options.output or _output(options)
    report.write(output, _RAW)
    screen = Console()
    Console(width=max(screen.width, _WIDTH)).print(Markdown(output.read_text(encoding="utf-8")))
    print(report.summary)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
