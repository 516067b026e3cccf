"""A real PostgreSQL for the tests: the server that STEMMA_TEST_POSTGRES names, else one of our own
(own_postgres.py). There is no third way: without either, the tests fail.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.own_postgres import NoPostgresError, OwnPostgres, answers

__all__ = ["NoPostgresError", "postgres_server"]

# Kills of the server lose nothing without fsync (the kernel keeps what was written), and tests are faster.
SETTINGS = {
    "fsync": "off",
    "full_page_writes": "off",
    "max_connections": "300",
    "shared_buffers": "64MB",
    "max_wal_size": "1GB",
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "scram_iterations": "1",
    "log_min_messages": "warning",
}


def _sweep() -> None:
    """Removes the folders of test runs that were killed: their servers ended with them."""
    for folder in Path(tempfile.gettempdir()).glob("stemma-pg-*-*"):
        try:
            os.kill(int(folder.name.split("-")[2]), 0)
        except ProcessLookupError:
            shutil.rmtree(folder, ignore_errors=True)
        except (ValueError, PermissionError):  # not ours, or another user's run
            continue


@contextmanager
def _own_server() -> Iterator[str]:
    with own_folder() as folder:
        server = OwnPostgres(folder, SETTINGS)
        try:
            asyncio.run(server.start())
            yield server.url
        finally:
            server.stop()


@contextmanager
def own_folder() -> Iterator[Path]:
    """A folder for an OwnPostgres; what runs that were killed have left is removed as well."""
    _sweep()
    folder = Path(tempfile.mkdtemp(prefix=f"stemma-pg-{os.getpid()}-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def postgres_server(named: str | None) -> Iterator[str]:
    """The URL of a server where databases may be created: `named`, else our own for as long as this lasts.

    Raises NoPostgresError when there is none.
    """
    if named:
        asyncio.run(answers(named, None))
        yield named
    else:
        with _own_server() as url:
            yield url
