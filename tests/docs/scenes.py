"""What documents are run against: everything that `stemma up` starts, with a model that can propose."""

import asyncio
import json
import os
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.support.processes import Running, stemma_up

ROOT = Path(__file__).resolve().parent.parent.parent
SLOW = [
    {"op": "add", "path": "/systemPrompt", "value": "Keep a slow pace."},
    {"op": "add", "path": "/memoryPolicy/maxItemsPerTurn", "value": 2},
]
# What a model does that can: it reads, and proposes.
CALLS: list[dict[str, Any]] = [
    {"name": "get_config"},
    {"name": "propose_config_patch", "arguments": {"operations": SLOW}},
]
PROPOSING = [
    {"when": "Slow the pacing, remember less.", "after_results": number, "tool_calls": [call]}
    for number, call in enumerate(CALLS)
]


def blocks(document: str) -> list[tuple[str, str]]:
    """(language, text) of each block of code."""
    return re.findall(r"```(\w+)\n(.*?)```", (ROOT / document).read_text(), re.DOTALL)


@asynccontextmanager
async def started(folder: Path, **settings: str) -> AsyncIterator[Running]:
    env = {
        "STEMMA_HTTP": "127.0.0.1:0",
        "STEMMA_CONVERSATION": "127.0.0.1:0",
        "STEMMA_DRAFT": "127.0.0.1:0",
        "STEMMA_DATA": str(folder / "data"),
        "STEMMA_PROVIDER": "scripted",
        "STEMMA_SCRIPT": json.dumps({"replies": PROPOSING}),
        **settings,
    }
    async with stemma_up(env) as running:
        yield running


def addresses(up: Running) -> dict[str, str]:
    """By the program that listens there."""
    found = dict(re.findall(r"^(\w+) listening on (\S+)$", "\n".join(up.lines), re.MULTILINE))
    assert {"conversation_service", "draft_service", "gateway"} <= set(found)
    return found


def here(script: str, up: Running) -> str:
    """The script with the addresses that it finds here."""
    found = addresses(up)
    for default, program in (
        ("http://127.0.0.1:8080", "gateway"),
        ("127.0.0.1:50051", "conversation_service"),
        ("127.0.0.1:50052", "draft_service"),
    ):
        script = script.replace(default, found[program])
    return script


async def run(*command: str, folder: Path = ROOT, **env: str) -> str:
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=folder,
        env={**os.environ, **env},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(120):
        out, err = await process.communicate()
    assert process.returncode == 0, f"{out.decode()}\n{err.decode()}"
    return out.decode()
