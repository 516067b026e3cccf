"""docs/clients.md: its commands run as they stand, but for the addresses."""

import pytest

from tests.clients.languages.stage import CLIENTS, Addresses, run
from tests.docs.scenes import blocks

pytestmark = pytest.mark.asyncio(loop_scope="session")

COMMANDS = [text for language, text in blocks("docs/clients.md") if language == "bash"]
CHATS = [text for text in COMMANDS if "hello=" in text]


async def test_the_stories(addresses: Addresses) -> None:
    (stories,) = [text for text in COMMANDS if text not in CHATS]
    script = stories.replace("http://127.0.0.1:8080", addresses.http)
    ended = await run(("bash", "-euo", "pipefail", "-c", script), addresses)
    assert ended.status == 0, ended.err
    assert ended.out.splitlines().count("ok") == 5


@pytest.mark.parametrize("language", ["python", "node", "go", "cpp"])
async def test_a_chat_by_copying_one_file(addresses: Addresses, language: str) -> None:
    (script,) = [text for text in CHATS if f"cp clients/{language}/" in text]
    compiled = str(CLIENTS.parent / ".cache/clients/go-build")
    ended = await run(("bash", "-euo", "pipefail", "-c", script), addresses, GOCACHE=compiled)
    assert ended.status == 0, ended.err
    first, answer = ended.out.splitlines()
    assert first.startswith("session ")
    assert answer.startswith("word0 word1 ")
