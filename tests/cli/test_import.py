"""`stemma import` on a real service: the report, what is refused, and one that is interrupted."""

import asyncio
import json
import os
import re
import signal
import sys
from pathlib import Path

import pytest
from stemma.conversation.v1 import session_service_pb2
from stemma_cli.client import connect as connect_sync
from stemma_cli.errors import CliError
from stemma_cli.files.importing import Import
from stemma_cli.files.source import read_through, request_id_of
from stemma_cli.options import Format
from stemma_cli.output import Output
from stemma_cli.progress import Progress

from kernel.storage.store import SqlStore
from tests.cli.files import Gate, import_files, taken, tree, trees, written
from tests.cli.programs import COMMAND, environment, in_terminal, stemma
from tests.cli.proxy import proxied
from tests.cli.talks import documents
from tests.support.client import connect
from tests.support.service import RunningService

AGAIN = "The same command again, within a day, makes nothing twice."


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Gate:
    """Closed after ten conversations."""
    made = Gate(10)

    async def write(store: SqlStore, *arguments: object, **named: object) -> object:
        return await made.write(store, *arguments, **named)

    monkeypatch.setattr(SqlStore, "write", write)
    return made


async def session_ids(service: RunningService) -> set[str]:
    async with connect(service.address) as client:
        found = await client.everything("ListSessions", "sessions")
    return {session.session_id for session in found}


async def test_every_conversation_is_reported_and_again_is_the_same(
    service: RunningService, tmp_path: Path
) -> None:
    file = trees(tmp_path / "trees.jsonl", 3)
    done = await stemma("import", str(file), STEMMA_CONVERSATION=service.address)
    assert done.code == 0
    ids = taken(done.out)
    assert done.lines == [
        *[f"✓ {ids[n]}  2 turns, 3 messages  Question {n}?" for n in range(3)],
        f"{file}: 3 conversations, 6 turns of 9 messages.",
        AGAIN,
    ]
    assert done.err.splitlines() == [
        f"{file}: taken for oasst, as its first line is a prompt with replies inside. "
        "--format says otherwise.",
        "trees.jsonl: all of it is sent",
    ]
    # Under another name, and with its format said: it is the content that counts.
    moved = file.rename(tmp_path / "moved")
    again = await import_files(service, moved, "--format", "oasst")
    assert taken(again.out) == ids
    assert await session_ids(service) == set(ids)


async def test_bad_conversations_and_files_are_reported_and_do_not_stop_the_others(
    service: RunningService, tmp_path: Path
) -> None:
    some = written(tmp_path / "some.jsonl", tree(0), "{no json", tree(2, role="wizard"), tree(3))
    none = written(tmp_path / "none.jsonl", "")
    done = await import_files(service, some, none, trees(tmp_path / "more.jsonl", 1), "--format", "oasst")
    assert done.code == 1
    assert len(taken(done.out)) == 3
    refused = [line for line in done.lines if line.startswith("✗")]
    assert [line.partition(":")[0] for line in refused] == ["✗ line 2", "✗ line 3"]
    assert refused[1].endswith("A message has an unknown role. (INVALID)")
    assert f"{some}: 2 conversations, 4 turns of 6 messages; 2 could not be taken." in done.lines
    errors = [line for line in done.err.splitlines() if line.startswith("error")]
    assert errors == [
        f"error: {none}: file: holds no conversation of this format (INVALID)",
        "error: 1 file and 2 conversations could not be taken: see above.",
    ]
    assert len(await session_ids(service)) == 3

    json_lines = await import_files(service, some, "--json")
    assert json_lines.code == 1
    results = [document["result"] for document in documents(json_lines)]
    assert [result.get("error", {}).get("reason") for result in results] == [None, "INVALID", "INVALID", None]
    assert [result["sessionId"] for result in results if "error" not in result] == taken(done.out)[:2]


async def test_a_plain_log_tells_what_it_would_have_cost(service: RunningService, tmp_path: Path) -> None:
    log = written(
        tmp_path / "log.jsonl",
        {"id": "1", "role": "user", "content": "I have fifteen apples."},
        {"id": "2", "role": "assistant", "content": "Fine."},
        {"id": "3", "role": "user", "content": "I have fifty apples.", "edits": "1"},
        {"id": "4", "role": "assistant", "content": "Better."},
    )
    done = await import_files(service, log)
    assert done.code == 0
    tokens = documents(await import_files(service, log, "--json"))[0]["result"]["logTokens"]
    sent, kept = int(tokens["logSent"]), int(tokens["treeSent"])
    assert sent > kept > 0
    less = 100 * (sent - kept) // sent
    told = (
        f"  2 answers so far: a plain log sends {sent} tokens, the tree {kept}, {less}% less; the next one: "
    )
    assert told in done.out


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
    await gate.reached.wait()
    process.send_signal(signal.SIGINT)
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
        await gate.reached.wait()
        proxy.cut()
        await terminal.see("connection lost; sending the file again under the same request id …")
        gate.open()
        await terminal.see(r"12 conversations, 24 turns of 36 messages\.")
        assert await terminal.end() == 0
    ids = re.findall(r"✓ (\S{36})  2 turns", terminal.shown)
    assert len(ids) == 12
    assert await session_ids(service) == set(ids)


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


def test_the_request_id_is_of_the_content_the_format_and_the_project(tmp_path: Path) -> None:
    sources = [read_through(trees(tmp_path / f"{n}", n), lambda size: None) for n in (1, 2)]
    ids = [request_id_of(source, Format.OASST, "") for source in sources]
    other = request_id_of(sources[0], Format.STEMMA, "")
    elsewhere = request_id_of(sources[0], Format.OASST, "0198A0F0-0000-7000-8000-000000000000")
    assert len({*ids, other, elsewhere}) == 4
    assert request_id_of(sources[0], Format.OASST, "default") == ids[0]
    assert request_id_of(sources[0], Format.OASST, "0198a0f0-0000-7000-8000-000000000000") == elsewhere
    # Written down: another version of the command must go on where this one stopped.
    empty = read_through(written(tmp_path / "empty"), lambda size: None)
    assert request_id_of(empty, Format.STEMMA, "") == "3047e5ff-f568-5e10-a850-108360c18abe"


async def test_a_missing_project_is_one_line_and_json_is_the_apis_own(
    service: RunningService, tmp_path: Path
) -> None:
    file = trees(tmp_path / "trees.jsonl", 1)
    unknown = "0198a0f0-0000-7000-8000-000000000000"
    arguments = [file, "--format", "oasst", "--project", unknown]
    done = await import_files(service, *arguments)
    assert (done.code, done.out) == (1, "")
    assert done.err.splitlines()[-1] == f"error: {file}: There is no such project. (NOT_FOUND)"
    answered = await import_files(service, *arguments, "--json")
    assert json.loads(answered.err)["details"][0]["reason"] == "NOT_FOUND"
    os.mkfifo(tmp_path / "pipe")
    piped = await import_files(service, tmp_path / "pipe")
    assert (piped.code, piped.out) == (2, "")
    assert "is not a file. It is read twice, so it cannot be a pipe." in piped.err
