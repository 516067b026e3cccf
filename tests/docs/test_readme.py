"""README's blocks run as they stand, but for the addresses, against everything that `stemma up` starts."""

import asyncio
import json
import os
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.processes import Running, stemma_up

ROOT = Path(__file__).resolve().parent.parent.parent
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", README, re.DOTALL)

SLOW = [
    {"op": "replace", "path": "/systemPrompt", "value": "Keep a slow pace."},
    {"op": "replace", "path": "/memoryPolicy/maxItemsPerTurn", "value": 2},
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


def block(language: str, word: str) -> str:
    """The one block of a language that has a word in it."""
    (found,) = [text for kind, text in BLOCKS if kind == language and word in text]
    return found


@pytest.fixture
async def up(tmp_path: Path) -> AsyncIterator[Running]:
    env = {
        "STEMMA_HTTP": "127.0.0.1:0",
        "STEMMA_CONVERSATION": "127.0.0.1:0",
        "STEMMA_DRAFT": "127.0.0.1:0",
        "STEMMA_DATA": str(tmp_path / "data"),
        "STEMMA_PROVIDER": "scripted",
        "STEMMA_SCRIPT": json.dumps({"replies": PROPOSING}),
    }
    async with stemma_up(env) as running:
        yield running


def addresses(up: Running) -> dict[str, str]:
    """By the program that listens there."""
    found = dict(re.findall(r"^(\w+) listening on (\S+)$", "\n".join(up.lines), re.MULTILINE))
    assert {"conversation_service", "gateway"} <= set(found)
    return found


async def run(*command: str, **env: str) -> str:
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=ROOT,
        env={**os.environ, **env},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(60):
        out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    return out.decode()


async def test_the_first_conversation_by_curl(up: Running) -> None:
    script = block("sh", "curl").replace("http://127.0.0.1:8080", addresses(up)["gateway"])
    more = "\n".join(block("bash", word) for word in ("hp", "candidateCount"))
    out = await run("bash", "-euo", "pipefail", "-c", f"{script}echo\n{more}")
    # State follows a rollback; two candidates were written.
    assert [re.findall(r"\d+", line) for line in out.splitlines()[-3:]] == [["5"], ["10"], ["2"]]
    *frames, context = [line for line in out.splitlines() if line.startswith(("data: ", "{"))]
    position = {"runId", "floorId", "epoch", "seq"}
    kinds = [next(iter(json.loads(frame[6:]).keys() - position)) for frame in frames]
    assert kinds[0] == "started"
    assert kinds[-1] == "floorCommitted"
    answer = json.loads(context)
    sent = [part["text"]["text"] for message in answer["messages"] for part in message["parts"]]
    assert sent[0] == "I have fifty apples."
    assert "fifteen" not in " ".join(sent)
    assert int(answer["explanation"]["tokensAbandoned"]) > 0


async def test_three_scenes_by_curl(up: Running) -> None:
    first = block("sh", "curl").replace("http://127.0.0.1:8080", addresses(up)["gateway"])
    scenes = "\n".join(block("bash", word) for word in ("candidate replies", "opening set-up", "Tales"))
    out = await run("bash", "-euo", "pipefail", "-c", f"{{ {first}}} > /dev/null\n{scenes}")
    assert out.count("STAGED_WRITE_STATE_ACCEPTED") == 3
    assert '+ "You keep the inn."' in out
    assert "/variables/PATH/hour\n+ 23" in out
    assert '- "Keep a fast pace."\n+ "Keep a slow pace."' in out
    assert "/config/memoryPolicy/maxItemsPerTurn\n- 8\n+ 2" in out


async def test_the_grpc_client(up: Running) -> None:
    script = block("python", "grpc").replace("127.0.0.1:50051", addresses(up)["conversation_service"])
    assert await run(sys.executable, "-c", script) == "I have fifty apples.  (2/2)\n"
    assert "It prints `I have fifty apples.  (2/2)`." in README


async def test_the_chat_by_a_pipe(up: Running) -> None:
    stemma = str(Path(sys.executable).parent / "stemma")
    script = block("sh", "printf").replace(".venv/bin/stemma", stemma)
    address = addresses(up)["conversation_service"]
    out = await run("bash", "-euo", "pipefail", "-c", script, STEMMA_CONVERSATION=address)
    context = out[out.rindex("I have fifty apples.") :]
    assert "fifteen" not in context


def test_the_two_commands_are_make_run_and_make_test() -> None:
    assert [text for kind, text in BLOCKS if kind == "sh"][:2] == ["make run\n", "make test\n"]


async def test_the_python_client(up: Running) -> None:
    script = block("python", "stemma_client").replace(
        "127.0.0.1:50051", addresses(up)["conversation_service"]
    )
    assert "You said: I have fifteen apples." in await run(sys.executable, "-c", script)
