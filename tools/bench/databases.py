"""The databases of a run, in temporary folders: SQLite files, and a PostgreSQL that keeps its promises."""

import asyncio
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.support.databases import PostgresDatabases
from tests.support.own_postgres import OwnPostgres, answers
from tests.support.postgres import own_folder

# fsync and full_page_writes as they are by default: a durable turn is what is measured.
_SETTINGS = {
    "max_connections": "200",
    "shared_buffers": "256MB",
    "max_wal_size": "2GB",
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "scram_iterations": "1",
    "log_min_messages": "warning",
}


class Databases:
    """Makes empty databases, gone at the end. `folder` is for whatever else the run writes."""

    def __init__(self, server_url: str, folder: Path, until: ExitStack) -> None:
        self.server_url = server_url
        self.folder = folder
        self._until = until

    def postgres(self) -> str:
        return self._until.enter_context(PostgresDatabases(self.server_url).fresh())

    def sqlite(self, name: str) -> str:
        return f"sqlite:///{self.folder / name}.db"

    def both(self, name: str) -> dict[str, str]:
        """One of each engine, by its name."""
        return {"postgres": self.postgres(), "sqlite": self.sqlite(name)}


@contextmanager
def databases(named: str | None) -> Iterator[Databases]:
    """On the server at `named`, else on one of our own for as long as the block lasts.

    Raises NoPostgresError when there is none.
    """
    with ExitStack() as until:
        folder = Path(until.enter_context(tempfile.TemporaryDirectory(prefix="stemma-bench-")))
        if named:
            asyncio.run(answers(named, None))
            url = named
        else:
            server = OwnPostgres(until.enter_context(own_folder()), _SETTINGS)
            until.callback(server.stop)
            asyncio.run(server.start())
            url = server.url
        yield Databases(url, folder, until)
