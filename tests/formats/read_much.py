"""`read_much.py FORMAT COUNT` reads so many conversations of a megabyte, made as they are read, and
prints by how many megabytes the process's peak memory grew, and how many conversations were good."""

import json
import resource
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "protos" / "gen")]

from conversation_service.domain.imports.model import PlannedTree  # noqa: E402
from conversation_service.domain.imports.read import plans  # noqa: E402

TEXT = "word " * 200


def chatgpt(count: int) -> Iterator[bytes]:
    yield b"["
    for number in range(count):
        mapping = {
            str(n): {
                "parent": str(n - 1) if n else None,
                "message": {
                    "author": {"role": "user"},
                    "content": {"parts": [TEXT]},
                },
            }
            for n in range(900)
        }
        yield (b"," if number else b"") + json.dumps({"title": str(number), "mapping": mapping}).encode()
    yield b"]"


def oasst(count: int) -> Iterator[bytes]:
    reply = {"role": "assistant", "text": TEXT}
    for _ in range(count):
        yield json.dumps({"prompt": {"role": "prompter", "text": "q", "replies": [reply] * 950}}).encode()
        yield b"\n"


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def main(format: str, count: int) -> None:
    make = {"chatgpt": chatgpt, "oasst": oasst}[format]
    list(make(2))
    before = peak()
    good = sum(isinstance(found, PlannedTree) for found in plans(format, make(count), lambda _: b""))
    print(peak() - before, good)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
