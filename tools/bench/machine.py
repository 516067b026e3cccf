"""What a figure depends on, without saying whose machine it was."""

import os
import platform
import sqlite3
import subprocess
import time
from importlib.metadata import version
from pathlib import Path

import asyncpg

_BLOCK = bytes(4096)
_PACKAGES = ("grpcio", "protobuf", "asyncpg", "sqlalchemy", "aiosqlite", "uvloop")
_SETTINGS = ("server_version", "fsync", "synchronous_commit", "full_page_writes")


def syncs_per_second(folder: Path, seconds: float = 0.5) -> float:
    """Appends of 4 KiB, each followed by fdatasync, on the file system that the databases are on."""
    descriptor = os.open(folder / "fdatasync", os.O_CREAT | os.O_WRONLY)
    try:
        count, started = 0, time.perf_counter()
        while (elapsed := time.perf_counter() - started) < seconds:
            os.write(descriptor, _BLOCK)
            os.fdatasync(descriptor)
            count += 1
        return count / elapsed
    finally:
        os.close(descriptor)


async def facts(postgres_url: str) -> dict[str, str]:
    """In the order in which they are printed."""
    connection = await asyncpg.connect(postgres_url)
    try:
        settings = {name: await connection.fetchval(f"SHOW {name}") for name in _SETTINGS}
    finally:
        await connection.close()
    server = settings.pop("server_version").split()[0]
    return {
        "Cores": str(len(os.sched_getaffinity(0))),
        "Python": platform.python_version(),
        "PostgreSQL": f"{server} ({', '.join(f'{name} {value}' for name, value in settings.items())})",
        "SQLite": f"{sqlite3.sqlite_version} (WAL, synchronous=FULL)",
        "Packages": ", ".join(f"{name} {version(name)}" for name in _PACKAGES),
        "Load before the run": f"{os.getloadavg()[0]:.2f}",
    }


def commit(root: Path) -> str:
    """The commit, and whether anything stands beside it."""

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(root), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    changed = ", with changes that are not committed" if git("status", "--porcelain") else ""
    return git("rev-parse", "--short=10", "HEAD") + changed
