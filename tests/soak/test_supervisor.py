"""What kills, and what starts again: the schedule, the replicas, the balancer, PostgreSQL."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import subprocess
import sys
import tempfile
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import asyncpg
import pytest

from tests.support.own_postgres import children
from tests.support.processes import running
from tools.soak.balancer import Balancer
from tools.soak.databases import is_down, postgres
from tools.soak.replica import Replica, Stuck, free_address
from tools.soak.schedule import schedule

Mine = Callable[[], list[int]]


def test_the_seed_decides_whom_and_when() -> None:
    kills = schedule(7, service=10, postgres=5, replicas=2)
    assert kills == schedule(7, service=10, postgres=5, replicas=2)
    assert kills != schedule(8, service=10, postgres=5, replicas=2)
    assert sorted(str(kill.replica) for kill in kills) == ["0"] * 5 + ["1"] * 5 + ["None"] * 5


def test_no_kill_comes_before_a_call_was_acknowledged() -> None:
    kills = schedule(7, service=200, postgres=50, replicas=2)
    assert min(kill.calls for kill in kills) == 1
    assert len({kill.calls for kill in kills}) > 20


@asynccontextmanager
async def _kept(replica: Replica) -> AsyncIterator[None]:
    keeping = asyncio.create_task(replica.keep())
    try:
        async with asyncio.timeout(60):
            yield
    finally:
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)


def _tiny(data: Path, epoch: int = 0) -> Replica:
    return Replica("tests.soak.tiny_service", {"STEMMA_DATA": str(data)}, lambda: epoch)


@pytest.fixture
def mine() -> Mine:
    """The processes that the test has started; other tests' servers may be this process's children too."""
    before = set(children(os.getpid()))
    return lambda: [pid for pid in children(os.getpid()) if pid not in before]


async def _until(holds: Callable[[], object]) -> None:
    while not holds():  # noqa: ASYNC110 (nobody tells)
        await asyncio.sleep(0.01)


async def test_a_killed_replica_is_there_again_and_that_is_no_fault(tmp_path: Path) -> None:
    replica = _tiny(tmp_path)
    async with _kept(replica):
        await replica.kill()
        await replica.kill()
        await replica.end(signal.SIGTERM)
        await replica.ready()
    assert (replica.kills, replica.starts, replica.faults) == (2, 4, [])
    assert replica.errors == {"unexpected error: KeyError": 4}


async def test_a_replica_that_ends_by_itself_is_a_fault(tmp_path: Path, mine: Mine) -> None:
    replica = _tiny(tmp_path)
    async with _kept(replica):
        await replica.ready()
        (pid,) = mine()
        os.kill(pid, signal.SIGKILL)
        await _until(lambda: replica.starts == 2)
    (fault,) = replica.faults
    assert "ended by itself with -9" in fault


@pytest.mark.parametrize(("epoch", "faults"), [(0, 1), (1, 0)])
async def test_only_without_a_database_it_may_fail_to_start(
    tmp_path: Path, mine: Mine, epoch: int, faults: int
) -> None:
    data = tmp_path / "later"
    replica = _tiny(data, epoch)
    async with _kept(replica):
        await _until(mine)
        await _until(lambda: not mine())
        data.mkdir()
        await replica.ready()
    assert bool(replica.faults) == bool(faults)


async def test_a_service_that_never_starts_ends_the_soak(tmp_path: Path) -> None:
    replica = _tiny(tmp_path / "never")
    async with asyncio.timeout(60):
        with pytest.raises(Stuck, match=r"(?s)does not stay up: .*no data"):
            await replica.keep()


def test_the_faults_can_still_be_planted() -> None:
    program = "from tools.soak.planted_service import PLANTS; print([plant() for plant in PLANTS.values()])"
    subprocess.run([sys.executable, "-c", program], check=True)


async def _name(name: bytes, reader: StreamReader, writer: StreamWriter) -> None:
    while await reader.readline():
        writer.write(name)
    writer.close()


@asynccontextmanager
async def _named_server(name: bytes, address: str = "127.0.0.1:0") -> AsyncIterator[str]:
    """Answers every line with its name."""
    host, _, port = address.rpartition(":")
    server = await asyncio.start_server(lambda *ends: _name(name, *ends), host, int(port))
    host, number = server.sockets[0].getsockname()[:2]
    yield f"{host}:{number}"
    server.close()


async def _dial(address: str) -> tuple[StreamReader, StreamWriter]:
    host, _, port = address.rpartition(":")
    return await asyncio.open_connection(host, int(port))


async def _asked(ends: tuple[StreamReader, StreamWriter]) -> bytes:
    ends[1].write(b"who?\n")
    return await ends[0].read(1)


async def test_connections_go_to_whoever_has_fewest_and_lives() -> None:
    async with _named_server(b"a") as one, _named_server(b"b") as other:
        balancer = Balancer([one, other, "127.0.0.1:1"])
        async with asyncio.timeout(30), balancer.serving():
            dialled = [await _dial(balancer.address) for _ in range(4)]
            assert sorted([await _asked(ends) for ends in dialled]) == [b"a", b"a", b"b", b"b"]
            for _, writer in dialled:
                writer.close()


async def _stay_connected(address: str) -> None:
    while True:
        reader, writer = await _dial(address)
        try:
            await reader.read()
        finally:
            writer.close()
            await writer.wait_closed()


async def test_connections_are_cut_until_a_replica_has_its_share() -> None:
    late = free_address()
    async with _named_server(b"a") as one:
        balancer = Balancer([one, late])
        async with asyncio.timeout(30), balancer.serving(), asyncio.TaskGroup() as group:
            clients = [group.create_task(_stay_connected(balancer.address)) for _ in range(4)]
            await balancer.spread(one, 4)
            async with _named_server(b"b", late):
                await balancer.spread(late, 2)
                assert balancer.count(late) == 2
            for client in clients:
                client.cancel()


async def test_a_crash_takes_every_process_and_no_committed_row(mine: Mine) -> None:
    async with postgres({}) as database:
        connection = await asyncpg.connect(database.url)
        await connection.execute("CREATE TABLE turn (n int)")
        await connection.execute("INSERT INTO turn VALUES (1)")
        (postmaster,) = mine()
        others = [os.pidfd_open(pid) for pid in children(postmaster)]
        assert len(others) > 3
        crash = asyncio.create_task(database.crash(0.0))
        with pytest.raises((asyncpg.PostgresConnectionError, asyncpg.InterfaceError, OSError)):
            await connection.execute("SELECT pg_sleep(60)")
        await crash
        ended, _, _ = select.select(others, [], [], 0)
        assert ended == others
        for other in others:
            os.close(other)
        assert (database.kills, is_down(database.epoch)) == (1, False)
        connection = await asyncpg.connect(database.url)
        assert await connection.fetchval("SELECT count(*) FROM turn") == 1
        await connection.close()


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A temporary folder that PostgreSQL's user can reach (pytest's are closed to others)."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def _started_with(folder: Path) -> list[str]:
    """The command lines of the processes that have `folder` in their environment."""
    found = []
    for environment in Path("/proc").glob("[0-9]*/environ"):
        try:
            if os.fsencode(f"TMPDIR={folder}") in environment.read_bytes():
                found.append(environment.with_name("cmdline").read_text())
        except (PermissionError, FileNotFoundError, ProcessLookupError):  # not ours, or ended
            continue
    return found


async def test_ctrl_c_leaves_no_process_and_no_file(open_folder: Path) -> None:
    command = [sys.executable, "-m", "tools.soak", "--quick", "--engine", "postgres"]
    environment = {"TMPDIR": str(open_folder)}
    async with running("soak", command, environment, ready="^soak: make soak") as soak:
        async with asyncio.timeout(60):
            await _until(lambda: any("conversation_service" in line for line in _started_with(open_folder)))
        assert await soak.stop(signal.SIGINT, timeout=60) == 130
        assert soak.lines[-1] == "soak: stopped"
    assert _started_with(open_folder) == []
    assert os.listdir(open_folder) == []
