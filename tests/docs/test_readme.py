"""README's blocks run as they stand, but for the addresses, against everything that `stemma up` starts."""

import json
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.docs.scenes import ROOT, addresses, blocks, here, run, started
from tests.support.processes import Running

pytestmark = pytest.mark.asyncio(loop_scope="module")

BLOCKS = blocks("README.md")


def block(language: str, word: str) -> str:
    """The one block of a language that has a word in it."""
    (found,) = [text for kind, text in BLOCKS if kind == language and word in text]
    return found


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def up(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Running]:
    async with started(tmp_path_factory.mktemp("readme")) as running:
        yield running


async def test_the_first_conversation_by_curl(up: Running) -> None:
    script = here(block("sh", "curl"), up)
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
    first = here(block("sh", "curl"), up)
    scenes = "\n".join(block("bash", word) for word in ("candidate replies", "opening set-up", "Tales"))
    out = await run("bash", "-euo", "pipefail", "-c", f"{{ {first}}} > /dev/null\n{scenes}")
    assert out.count("STAGED_WRITE_STATE_ACCEPTED") == 3
    assert '+ "You keep the inn."' in out
    assert "/variables/PATH/hour\n+ 23" in out
    assert '- "Keep a fast pace."\n+ "Keep a slow pace."' in out
    assert "/config/memoryPolicy/maxItemsPerTurn\n- 8\n+ 2" in out


async def test_the_grpc_client(up: Running) -> None:
    script = here(block("python", "grpc"), up)
    assert await run(sys.executable, "-c", script) == "I have fifty apples.  (2/2)\n"
    assert "It prints `I have fifty apples.  (2/2)`." in (ROOT / "README.md").read_text()


async def test_the_chat_by_a_pipe(up: Running) -> None:
    stemma = str(Path(sys.executable).parent / "stemma")
    script = block("sh", "printf").replace(".venv/bin/stemma", stemma)
    address = addresses(up)["conversation_service"]
    out = await run("bash", "-euo", "pipefail", "-c", script, STEMMA_CONVERSATION=address)
    context = out[out.rindex("I have fifty apples.") :]
    assert "fifteen" not in context


async def test_the_two_commands_are_make_run_and_make_test() -> None:
    assert [text for kind, text in BLOCKS if kind == "sh"][:2] == ["make run\n", "make test\n"]


async def test_the_python_client(up: Running) -> None:
    script = here(block("python", "stemma_client"), up)
    assert "You said: I have fifteen apples." in await run(sys.executable, "-c", script)
