"""Every RPC against damaged requests: `python -m tests.bad_inputs.fuzz --seconds 60 [--seed 1]`.

A real server on a SQLite file is sent the samples with their bytes changed. Each call is answered, or
refused with a canonical status and an ErrorInfo; UNKNOWN and INTERNAL, a hang and a dead server end the
run with the request kept in a file, and exit status 1. The same seed makes the same requests.
"""

import argparse
import asyncio
import logging
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import grpc
import structlog

from conversation_service.migrate import migrate
from kernel.rpc.server import MAX_RECEIVED_BYTES
from tests.bad_inputs.mutate import mutated
from tests.bad_inputs.world import LEAKS, World, a_world, path_of, unknown
from tests.rpc.plumbing import Answer
from tests.support.client import METHODS, assistant, request_for, user
from tests.support.databases import sqlite_url

_AT_ONCE = 8
_TIMEOUT = 20.0
# Rightly answered, these go on until the client ends them.
_ENDLESS = {"WatchEvents": 0.3}
# What only a broken server answers, to a call that has time.
_WRONG = {"UNKNOWN", "INTERNAL", "DEADLINE_EXCEEDED", "CANCELLED", "DATA_LOSS", "UNAVAILABLE"}


def corpus(world: World) -> Mapping[str, bytes]:
    """A valid request for each RPC; of a client stream, its first message."""
    found = {}
    for name, method in METHODS.items():
        if not method.client_streaming:
            found[name] = world.sample(name).SerializeToString()
    words = {"input": [user("asked")], "output": [assistant("said")]}
    item = request_for("AppendFloors", session_id=world.places.session, **words)
    header = request_for("ImportSessions", header={"request_id": unknown(), "format": "oasst"})
    return {**found, "AppendFloors": item.SerializeToString(), "ImportSessions": header.SerializeToString()}


async def ask(world: World, name: str, raw: bytes) -> Answer:
    return await world.ask(name, raw, timeout=_ENDLESS.get(name, _TIMEOUT))


def judge(name: str, raw: bytes, answer: Answer) -> None:
    """Raises AssertionError, with where the request is kept."""
    try:
        if name in _ENDLESS and answer.code == grpc.StatusCode.DEADLINE_EXCEEDED:
            return
        assert answer.code.name not in _WRONG, answer
        if len(raw) > MAX_RECEIVED_BYTES:
            # Refused by grpc's core, which knows no details.
            assert answer.code == grpc.StatusCode.RESOURCE_EXHAUSTED, answer
        elif answer.code != grpc.StatusCode.OK:
            assert answer.info.reason, answer
            assert answer.info.domain == "stemma", answer
            assert LEAKS.search(f"{answer.text}\n{answer.status}") is None, answer
    except AssertionError as error:
        kept = Path(tempfile.gettempdir()) / f"fuzz-{name}-{hash(raw) & 0xFFFFFFFF:08x}.bin"
        kept.write_bytes(raw)
        raise AssertionError(f"{path_of(name)} for {kept}: {error}") from error


async def run(seconds: float, seed: int = 1) -> Counter[str]:
    """How often each status was answered. Raises AssertionError for the first wrong one."""
    dice = random.Random(f"requests {seed}")
    told: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="stemma-fuzz-") as folder:
        url = sqlite_url(Path(folder) / "fuzz.db")
        await migrate(url)
        async with a_world(url) as world:
            good = corpus(world)
            names = sorted(good)
            until = time.monotonic() + seconds
            while time.monotonic() < until or len(told) < 2:
                batch = [(name, mutated(dice, good[name])) for name in dice.choices(names, k=_AT_ONCE)]
                answers = await asyncio.gather(*[ask(world, name, raw) for name, raw in batch])
                for (name, raw), answer in zip(batch, answers, strict=True):
                    judge(name, raw, answer)
                    told[answer.code.name] += 1
            assert await world.healthy()
    return told


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="tests.bad_inputs.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    try:
        told = asyncio.run(run(options.seconds, options.seed))
    except AssertionError as error:
        print(f"requests: {error}", file=sys.stderr)
        return 1
    counts = ", ".join(f"{count} {code}" for code, count in told.most_common())
    print(f"requests: {told.total()} calls of {len(METHODS)} RPCs, seed {options.seed}: {counts}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
