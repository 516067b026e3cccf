"""What every test may ask for: databases on both engines, from a real PostgreSQL and from SQLite files.

- `engine`: "sqlite" and "postgres", one after the other; whoever asks for it, or for a URL below, runs twice
- `engine_url`: a database without a table, of its own for each test
- `migrated_url`: the same with the schema of the conversation service
- `database_factory`: for tests that need several, or other times than one test
- `postgres_url`: the server itself
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from functools import cached_property
from pathlib import Path
from typing import Protocol

import hypothesis
import pytest

from tests.support.databases import PostgresDatabases, SqliteDatabases, migrated_template
from tests.support.postgres import postgres_server

# No setting of whoever runs the tests may reach them; only the server's URL is taken, and first.
TEST_POSTGRES = os.environ.get("STEMMA_TEST_POSTGRES")
for _name in [name for name in os.environ if name.startswith("STEMMA_")]:
    del os.environ[_name]

# The tests start programs by the dozen. Where whoever runs them keeps Python from writing bytecode, each of
# those would compile some 1,200 modules anew: a second of work, and most of its start.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Files with tests of several seconds. They come first: one that begins when all others are done is waited for
# by a single worker.
LONG = (
    "bad_inputs/test_repeats.py",
    "cancellation/test_every_await.py",
    "cancellation/test_random.py",
    "deploy/test_front_door.py",
    "docs/test_readme.py",
    "drafts/test_races.py",
    "e2e/test_four_faults.py",
    "e2e/test_several_processes.py",
    "formats/test_sizes.py",
    "generation/test_local_model.py",
    "history/test_service.py",
    "model/test_programs.py",
    "projects/test_forks.py",
    "secrets/test_never_shown.py",
    "secrets/test_rotation.py",
    "tools_runs/test_mcp_transports.py",
    "transfers/test_oasst_file.py",
)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Orders the tests; see LONG."""
    here = Path(__file__).parent
    long = {here / name for name in LONG}
    items.sort(key=lambda item: item.path not in long)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints what tests have to say when they pass: their property `report`."""
    for outcome in ("passed", "failed"):
        for test in terminalreporter.getreports(outcome):
            for name, text in test.user_properties:
                if name == "report":
                    terminalreporter.write_line(f"{test.nodeid}: {text}")


# Whoever starts the tests in the background of a script starts them deaf to Ctrl-C, and every program that
# they start as well: tests that press it would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


# How fast a shared machine draws examples says nothing about the code.
hypothesis.settings.register_profile(
    "stemma", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("stemma")


class DatabaseFactory(Protocol):
    """Makes databases of one engine; see `database_factory`."""

    def __call__(self, engine: str, *, migrated: bool = True) -> AbstractContextManager[str]:
        """The URL of a new database for as long as the context lasts."""


class _Databases:
    """Both engines' databases, and for each the migrated template. A server, a folder and a template are made
    when first asked for, and stay until the run ends: a run without Postgres tests starts none."""

    def __init__(self, until: ExitStack) -> None:
        self._until = until
        self._templates: dict[str, str] = {}

    @cached_property
    def server_url(self) -> str:
        return self._until.enter_context(postgres_server(TEST_POSTGRES))

    @cached_property
    def _postgres(self) -> PostgresDatabases:
        return PostgresDatabases(self.server_url)

    @cached_property
    def _sqlite(self) -> SqliteDatabases:
        folder = tempfile.TemporaryDirectory(prefix="stemma-sqlite-")
        return SqliteDatabases(Path(self._until.enter_context(folder)))

    def of(self, engine: str) -> PostgresDatabases | SqliteDatabases:
        return self._postgres if engine == "postgres" else self._sqlite

    def template(self, engine: str) -> str:
        if engine not in self._templates:
            from conversation_service.migrate import migrate

            template = migrated_template(self.of(engine), migrate)
            self._templates[engine] = self._until.enter_context(template)
        return self._templates[engine]


@pytest.fixture(scope="session")
def _databases() -> Iterator[_Databases]:
    with ExitStack() as until:
        yield _Databases(until)


@pytest.fixture(scope="session")
def postgres_url(_databases: _Databases) -> str:
    """The URL of a PostgreSQL server where databases may be created. Fails when there is none."""
    return _databases.server_url


@pytest.fixture(scope="session")
def database_factory(_databases: _Databases) -> DatabaseFactory:
    """`with database_factory("postgres") as url`: a database of one's own, with the schema (`migrated=False`:
    without a table), gone afterwards. Asks for a PostgreSQL server only when one is needed."""

    def make(engine: str, *, migrated: bool = True) -> AbstractContextManager[str]:
        template = _databases.template(engine) if migrated else None
        return _databases.of(engine).fresh(template)

    return make


@pytest.fixture(params=["sqlite", "postgres"])
def engine(request: pytest.FixtureRequest) -> str:
    """The engine under test."""
    return str(request.param)


@pytest.fixture
def engine_url(engine: str, database_factory: DatabaseFactory) -> Iterator[str]:
    """The URL of a database without a table, on each engine: `sqlite:////…` or `postgresql://…`."""
    with database_factory(engine, migrated=False) as url:
        yield url


@pytest.fixture
def migrated_url(engine: str, database_factory: DatabaseFactory) -> Iterator[str]:
    """The URL of a database with the conversation service's schema and no rows, on each engine."""
    with database_factory(engine) as url:
        yield url
