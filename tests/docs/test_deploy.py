"""The commands of docs/deploy.md that need no container engine, as they stand but for the addresses."""

import random
import socket
from collections.abc import Iterator

import pytest

from tests.conftest import DatabaseFactory
from tests.docs.scenes import blocks, run

# Ends with the script, and with everything that it has started.
SHELL = "trap 'kill $(jobs -p); wait' EXIT\n"


@pytest.fixture
def databases(database_factory: DatabaseFactory) -> Iterator[dict[str, str]]:
    with (
        database_factory("postgres", migrated=False) as conversation,
        database_factory("postgres", migrated=False) as draft,
    ):
        yield {
            "postgresql://postgres@127.0.0.1/conversation": conversation,
            "postgresql://postgres@127.0.0.1/draft": draft,
        }


def free_tens() -> Iterator[str]:
    """Beginnings of port numbers, four digits, below which 1, 2 and 3 are free."""
    for _ in range(1000):
        start = random.randrange(2000, 3200)
        if all(_free(10 * start + number) for number in range(4)):
            yield str(start)


def _free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


async def test_three_replicas_on_one_machine(databases: dict[str, str], tmp_path: object) -> None:
    start, ask = (text for kind, text in blocks("docs/deploy.md") if kind == "bash")
    script = start + ask
    for given, url in databases.items():
        assert given in script
        script = script.replace(given, url)
    tens = free_tens()
    for given in ("5010", "5020"):
        assert script.count(given) == 4
        script = script.replace(given, next(tens))
    for given in ("8443", "8080"):
        script = script.replace(f"127.0.0.1:{given}", f"127.0.0.1:{next(tens)}0")
    script = script.replace("envoy.yaml", f"{tmp_path}/envoy.yaml")
    out = await run("bash", "-euo", "pipefail", "-c", SHELL + script)
    assert '"title":"three replicas"' in out
