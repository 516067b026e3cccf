"""docs/coming-from-a-log.md, as it stands but for the address."""

import sys
from pathlib import Path

from tests.docs.scenes import addresses, blocks, run, started


async def test_its_commands_say_what_it_says(tmp_path: Path) -> None:
    document = blocks("docs/coming-from-a-log.md")
    script = "\n".join(text for kind, text in document if kind == "bash")
    [said] = [text.strip() for kind, text in document if kind == "text"]
    script = script.replace(".venv/bin/stemma", str(Path(sys.executable).with_name("stemma")))
    async with started(tmp_path) as up:
        address = addresses(up)["conversation_service"]
        out = await run(
            "bash",
            "-euo",
            "pipefail",
            "-c",
            script,
            folder=tmp_path,
            STEMMA_CONVERSATION=address,
            COLUMNS="200",
        )
    assert said in out
    assert "← main" in out
    assert out.count("‹") >= 4
