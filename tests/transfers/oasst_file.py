"""The file of 100 trees, read by its definition: no code in common with the importer."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import Any

FILE = FilePath(__file__).parents[1] / "fixtures" / "imports" / "oasst_en_100_trees.jsonl.gz"
ROLES = {"prompter": "ROLE_USER", "assistant": "ROLE_ASSISTANT"}

# One message as (role's name, text); a path from a tree's first message to a leaf.
Path = tuple[tuple[str, str], ...]


def trees() -> list[dict[str, Any]]:
    with gzip.open(FILE) as file:
        return [json.loads(line) for line in file]


def messages(tree: dict[str, Any]) -> Iterator[dict[str, Any]]:
    waiting = [tree["prompt"]]
    while waiting:
        one = waiting.pop()
        yield one
        waiting += one["replies"]


def paths(tree: dict[str, Any]) -> list[Path]:
    """Every leaf's path, the best-ranked replies first at each fork."""
    found: list[Path] = []

    def walk(message: dict[str, Any], above: Path) -> None:
        path = (*above, (ROLES[message["role"]], message["text"]))
        if not message["replies"]:
            found.append(path)
        for reply in sorted(message["replies"], key=_rank):
            walk(reply, path)

    walk(tree["prompt"], ())
    return found


def _rank(message: dict[str, Any]) -> float:
    rank = message.get("rank")
    return float("inf") if rank is None else float(rank)
