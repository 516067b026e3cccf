"""The blocks of docs/drafts.md run as they stand, but for the addresses."""

import sys
from pathlib import Path

from tests.docs.scenes import ROOT, addresses, blocks, here, run, started

BLOCKS = blocks("docs/drafts.md")


async def test_three_scenes_on_the_command_line_and_by_grpc(tmp_path: Path) -> None:
    async with started(tmp_path) as up:
        found = addresses(up)
        services = {
            "STEMMA_CONVERSATION": found["conversation_service"],
            "STEMMA_DRAFT": found["draft_service"],
        }
        begin = f"echo 'I have fifteen apples.' | {ROOT}/.venv/bin/stemma chat --new > begun"
        shell = "\n".join(text for language, text in BLOCKS if language == "sh")
        shell = shell.replace(".venv/bin/stemma", f"{ROOT}/.venv/bin/stemma")
        out = await run("bash", "-euo", "pipefail", "-c", f"{begin}\n{shell}", folder=tmp_path, **services)
        assert out.count(" · accepted · ") == 3, out
        assert '+ "You keep the inn."' in out
        assert "/variables/PATH/hour\n+ 23" in out
        assert '/config/systemPrompt\n+ "Keep a slow pace."' in out
        # What the model proposed, and not the patch of our own.
        assert "/config/memoryPolicy/maxItemsPerTurn" in out

        (script,) = [text for language, text in BLOCKS if language == "python"]
        told = await run(sys.executable, "-c", here(script, up))
        assert "\n1 True\n" in told
        assert told.endswith("\nKeep a slow pace. 2\n"), told
