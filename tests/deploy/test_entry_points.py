"""What the image runs, without a container engine: the wheel it is made of, on a read-only file system."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.conftest import DatabaseFactory
from tests.support.processes import running
from tests.support.service import SECRET_KEY

ROOT = Path(__file__).resolve().parents[2]
_ID = "6b1c2f7e-0d9b-4b57-9d53-8a2a1f5b7c11"
READ_ONLY = Path(__file__).with_name("read_only.py")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Stemma's wheel, unpacked: its packages and nothing of the repository."""
    folder = tmp_path_factory.mktemp("wheel")
    _run(sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder))
    [wheel] = folder.glob("*.whl")
    packages = folder / "packages"
    uv = Path(sys.executable).with_name("uv")
    _run(str(uv), "pip", "install", "--quiet", "--no-deps", "--target", str(packages), str(wheel))
    return packages


@pytest.fixture
def databases(database_factory: DatabaseFactory) -> Iterator[dict[str, str]]:
    with (
        database_factory("postgres", migrated=False) as conversation,
        database_factory("postgres", migrated=False) as draft,
    ):
        yield {"STEMMA_CONVERSATION_DATABASE_URL": conversation, "STEMMA_DRAFT_DATABASE_URL": draft}


def _run(*command: str, **environment: str) -> str:
    settings: Any = {"cwd": ROOT, "env": environment or None}
    done = subprocess.run(command, capture_output=True, text=True, check=False, **settings)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


async def test_the_wheel_runs_everything_and_writes_no_file(
    installed: Path, databases: dict[str, str]
) -> None:
    common = {
        **databases,
        # Before the editable install, which is this repository.
        "PYTHONPATH": str(installed),
        "STEMMA_SECRET_KEY": SECRET_KEY,
        "STEMMA_PROVIDER": "scripted",
        "STEMMA_CONVERSATION": "127.0.0.1:0",
        "STEMMA_DRAFT": "127.0.0.1:0",
        "STEMMA_HTTP": "127.0.0.1:0",
    }
    where = _run(sys.executable, "-P", "-c", "import gateway; print(gateway.__file__)", **common)
    assert where.startswith(str(installed))
    stemma = [sys.executable, str(READ_ONLY), "stemma_cli", "migrate"]
    assert "conversation" in _run(*stemma, **common)

    async with AsyncExitStack() as stack:
        found = {}
        for module, variable in (
            ("conversation_service", "STEMMA_CONVERSATION"),
            ("draft_service", "STEMMA_DRAFT"),
            ("gateway", "STEMMA_HTTP"),
        ):
            command = [sys.executable, str(READ_ONLY), module]
            program = await stack.enter_async_context(running(module, command, {**common, **found}))
            found[variable] = program.address
        async with httpx.AsyncClient(base_url=program.address, trust_env=False, timeout=20) as client:
            assert (await client.get("/readyz")).status_code == 200
            assert (await client.get("/console/")).status_code == 200
            session = (await client.post("/v1/sessions", json={"requestId": _ID})).json()["session"]
            words = {"input": {"messages": [{"role": "ROLE_USER", "parts": [{"text": {"text": "hello"}}]}]}}
            path = f"/v1/sessions/{session['sessionId']}"
            answer = await client.post(f"{path}:respond", json={"requestId": _ID, **words})
            assert answer.json()["run"]["state"] == "RUN_STATE_COMMITTED", answer.text
            drafted = await client.post(f"{path}/drafts", json={"requestId": _ID, "purpose": "another"})
            assert drafted.status_code == 200, drafted.text


def test_the_read_only_file_system_is_one(tmp_path: Path) -> None:
    command = [sys.executable, str(READ_ONLY), "conversation_service"]
    environment = {"STEMMA_DATA": str(tmp_path / "data"), "STEMMA_CONVERSATION": "127.0.0.1:0"}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode != 0
    assert "Read-only file system" in done.stderr
    assert not list(tmp_path.iterdir())
