"""Imports that are interrupted, or whose network, service or file fails; and a large one."""

import asyncio
import re
import signal
import sys
from pathlib import Path

import pytest
from stemma.conversation.v1 import session_service_pb2
from stemma_cli.client import connect as connect_sync
from stemma_cli.errors import CliError
from stemma_cli.files import importing
from stemma_cli.files.importing import Import
from stemma_cli.files.source import read_through, request_id_of
from stemma_cli.options import Format
from stemma_cli.output import Output
from stemma_cli.progress import Progress

from kernel.errors import Unavailable
from kernel.storage.store import SqlStore
from tests.cli.files import Gate, import_files, session_ids, taken, trees
from tests.cli.programs import COMMAND, environment, in_process, in_terminal
from tests.cli.proxy import proxied
from tests.support.service import RunningService


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Gate:
    """Closed after ten conversations."""
    made = Gate(10)

    async def write(store: SqlStore, *arguments: object, **named: object) -> object:
        return await made.write(store, *arguments, **named)

    monkeypatch.setattr(SqlStore, "write", write)
    return made


async def test_ctrl_c_and_the_same_command_again_makes_nothing_twice(
    service: RunningService, tmp_path: Path, gate: Gate
) -> None:
    file = trees(tmp_path / "trees.jsonl", 30)
    process = await asyncio.create_subprocess_exec(
        *COMMAND,
        *["import", str(file)],
        env=environment(STEMMA_CONVERSATION=service.address),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    lines = [(await process.stdout.readline()).decode() for _ in range(10)]
    await gate.reached()
    process.send_signal(signal.SIGINT)
    async with asyncio.timeout(20):
        out, err = await process.communicate()
    assert (process.returncode, out) == (130, b"")
    assert err.decode().splitlines()[-1] == (
        "error: Stopped. 10 conversations landed; the same command again goes on from there, and makes "
        "nothing twice."
    )
    first = taken("".join(lines))
    assert await session_ids(service) == set(first)

    gate.open()
    again = await import_files(service, file)
    assert again.code == 0
    assert taken(again.out)[:10] == first
    assert len(await session_ids(service)) == 30


async def test_a_network_that_fails_is_taken_up_again_and_progress_is_shown(
    service: RunningService, tmp_path: Path, gate: Gate
) -> None:
    file = trees(tmp_path / "trees.jsonl", 12)
    async with (
        proxied(service.address) as proxy,
        in_terminal("import", str(file), STEMMA_CONVERSATION=proxy.address) as terminal,
    ):
        await terminal.see(r"sending trees\.jsonl .*?(\d\.\d)/\1 kB 10 conversations in 0:00:0\d")
        await gate.reached()
        proxy.cut()
        await terminal.see("connection lost; sending the file again under the same request id …")
        gate.open()
        await terminal.see(r"12 conversations,\s+24\s+turns\s+of\s+36\s+messages\.")
        assert await terminal.end() == 0
    ids = re.findall(r"✓ (\S{36})  2 turns", terminal.shown)
    assert len(ids) == 12
    assert await session_ids(service) == set(ids)


async def test_a_service_that_does_not_come_back_is_one_line_and_says_how_to_go_on(
    service: RunningService, tmp_path: Path, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "_PATIENCE", 0.1)
    arguments = ["import", str(trees(tmp_path / "trees.jsonl", 12)), "--format", "oasst"]
    async with proxied(service.address) as proxy:
        running = asyncio.create_task(in_process(*arguments, STEMMA_CONVERSATION=proxy.address))
        await gate.reached()
    done = await running
    gate.open()
    assert done.code == 1
    assert len(taken(done.out)) == 10
    last = done.err.splitlines()[-1]
    assert last.startswith(f"error: No conversation service answers at {proxy.address}.")
    assert last.endswith(
        "10 conversations landed; the same command again goes on from there, and makes nothing twice."
    )


async def test_a_service_that_is_there_and_cannot_is_asked_a_few_times(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def unavailable(*_arguments: object, **_named: object) -> None:
        raise Unavailable("UNAVAILABLE", "The database cannot be reached.")

    monkeypatch.setattr(SqlStore, "write", unavailable)
    done = await import_files(service, trees(tmp_path / "trees.jsonl", 1), "--format", "oasst")
    assert (done.code, done.out) == (1, "")
    *_, last = done.err.splitlines()
    assert done.err.count("connection lost; sending the file again") == 5
    assert last == (
        "error: The database cannot be reached. (UNAVAILABLE) Nothing landed yet; the same command again "
        "goes on from there, and makes nothing twice."
    )


async def test_a_large_file_is_not_held_in_memory(service: RunningService, tmp_path: Path) -> None:
    file = tmp_path / "large.jsonl"
    with file.open("wb") as large:
        large.truncate(120 * 1024 * 1024)
    measured = (
        "from stemma_cli.main import app\n"
        "app(prog_name='stemma', standalone_mode=False)\n"
        "peak = next(line for line in open('/proc/self/status') if line.startswith('VmHWM'))\n"
        "print(int(peak.split()[1]) // 1024)"
    )
    process = await asyncio.create_subprocess_exec(
        *[sys.executable, "-c", measured, "import", str(file), "--format", "stemma"],
        env=environment(STEMMA_CONVERSATION=service.address),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, _ = await process.communicate()
    *report, megabytes = out.decode().splitlines()
    assert report[0].startswith("✗ session 1: Line 1")
    assert int(megabytes) < 110


async def test_a_file_that_changes_meanwhile_is_not_sent_to_its_end(
    service: RunningService, tmp_path: Path
) -> None:
    file = trees(tmp_path / "trees.jsonl", 2)
    source = read_through(file, lambda size: None)
    header = session_service_pb2.ImportHeader(
        request_id=request_id_of(source, Format.OASST, ""), format="oasst"
    )

    def attempt(change: bytes) -> None:
        file.write_bytes(change)
        with connect_sync(service.address) as client, Progress(Output(as_json=True), "") as progress:
            list(Import(client, source, header, progress).results())

    content = file.read_bytes()
    for changed in (content[:-1], content.replace(b"Question 1", b"Question 7")):
        with pytest.raises(CliError, match="was changed while it was read"):
            await asyncio.to_thread(attempt, changed)
    assert await session_ids(service) == set()
    # More at its end, and what was read before is what is sent.
    await asyncio.to_thread(attempt, content + b"more")
    assert len(await session_ids(service)) == 2
