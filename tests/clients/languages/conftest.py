"""Everything that `stemma up` starts, with access on and a scripted model; the clients, made if need be."""

import json
import subprocess
import sys
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.clients.languages.stage import CLIENTS, Addresses
from tests.support.processes import stemma_up

SCRIPT = json.dumps({"replies": [{"text": " ".join(f"word{n}" for n in range(20)), "delay_ms": 2}]})


@pytest.fixture(scope="session")
def made() -> None:
    """Fails with what is missing, or what a compiler said, when a client cannot be made."""
    done = subprocess.run(
        [sys.executable, "-m", "tools.clients"],
        cwd=CLIENTS.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def addresses(tmp_path_factory: pytest.TempPathFactory, made: None) -> AsyncIterator[Addresses]:
    environment = {
        "STEMMA_HTTP": "127.0.0.1:0",
        "STEMMA_CONVERSATION": "127.0.0.1:0",
        "STEMMA_DRAFT": "127.0.0.1:0",
        "STEMMA_DATA": str(tmp_path_factory.mktemp("clients") / "data"),
        "STEMMA_PROVIDER": "scripted",
        "STEMMA_SCRIPT": SCRIPT,
        "STEMMA_AUTH": "on",
    }
    async with stemma_up(environment) as up:
        yield await Addresses.of(up)
