"""`stemma export`: the whole file or none, and what an import makes of it."""

import os
from pathlib import Path

import pytest

from tests.cli.files import import_files, taken
from tests.cli.programs import Done, in_process, in_terminal, stemma
from tests.cli.talks import documents
from tests.support.client import Client, assistant, connect, user
from tests.support.service import RunningService


async def export(service: RunningService, *arguments: str) -> Done:
    return await in_process("export", *arguments, STEMMA_CONVERSATION=service.address)


async def a_session(client: Client) -> str:
    """With a fork, a second branch and a rollback."""
    session_id = (await client.call("CreateSession", title="Plans")).session.session_id
    first = (
        await client.call(
            "AppendFloor", session_id=session_id, input=[user("one")], output=[assistant("yes")]
        )
    ).floor
    await client.call("AppendFloor", session_id=session_id, input=[user("two")], output=[assistant("yes")])
    await client.call("CreateBranch", session_id=session_id, name="side", floor_id=first.floor_id)
    await client.call("RegenerateFloor", floor_id=first.floor_id, output=[assistant("no")])
    return session_id


def size_of(file: Path | str) -> int:
    return Path(file).stat().st_size


async def digests(client: Client, session_id: str) -> list[bytes]:
    floors = await client.everything("GetTree", "floors", session_id=session_id)
    return sorted(floor.digest for floor in floors)


async def test_what_is_exported_comes_back_in_every_format(service: RunningService, tmp_path: Path) -> None:
    async with connect(service.address) as client:
        session_id = await a_session(client)
        wanted = await digests(client, session_id)
        files = []
        for format in ("stemma", "oasst", "chatgpt", "log-jsonl"):
            files.append(str(tmp_path / f"{format}.file"))
            done = await export(service, session_id, "--format", format, "-o", files[-1])
            size = size_of(files[-1])
            assert (done.code, done.err) == (0, "")
            assert done.out == f"Wrote {files[-1]}, {size:,} bytes.\n"
        ids = taken((await import_files(service, *files)).out)
        assert len(set(ids)) == 4
        assert [await digests(client, one) == wanted for one in ids[:1]] == [True]
        branches = (await client.call("ListBranches", session_id=ids[0])).branches
        assert [branch.name for branch in branches] == ["main", "side"]
        for one in ids[1:]:
            assert len(await digests(client, one)) == len(wanted)


async def test_a_file_is_written_whole_and_never_over_another(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with connect(service.address) as client:
        session_id = await a_session(client)
    there = tmp_path / "there.jsonl"
    there.write_text("precious")
    refused = await export(service, session_id, "-o", str(there))
    assert (refused.code, refused.out) == (2, "")
    assert refused.err == f"error: {there} is there already: --force overwrites it.\n"
    unknown = "0198a0f0-0000-7000-8000-000000000000"
    missing = await export(service, unknown, "-o", str(there), "--force")
    assert (missing.code, missing.err) == (1, "error: There is no such session. (NOT_FOUND)\n")
    nowhere = await export(service, session_id, "-o", str(tmp_path / "no" / "file"))
    assert nowhere.err == "error: The file cannot be written: No such file or directory.\n"
    folder = await export(service, session_id, "-o", str(tmp_path), "--force")
    assert "is there, and no file" in folder.err
    assert there.read_text() == "precious"
    assert os.listdir(tmp_path) == [there.name]

    forced = await export(service, session_id, "-o", str(there), "--force", "--json")
    size = size_of(there)
    assert documents(forced) == [{"file": str(there), "format": "stemma", "bytes": size}]
    streamed = await stemma("export", session_id, "-o", "-", STEMMA_CONVERSATION=service.address)
    assert (streamed.code, streamed.err) == (0, "")
    assert streamed.out == there.read_text()
    both = await export(service, session_id, "-o", "-", "--json")
    assert (both.code, both.out) == (2, "")
    # Without a name it is named after the session.
    monkeypatch.chdir(tmp_path)
    await export(service, session_id, "--format", "chatgpt")
    assert (tmp_path / f"{session_id}.chatgpt.json").read_text().startswith("[{")


async def test_progress_stays_out_of_what_is_written_to_a_terminal(
    service: RunningService, tmp_path: Path
) -> None:
    async with connect(service.address) as client:
        session_id = await a_session(client)
    target = str(tmp_path / "file")
    async with in_terminal(
        "export", session_id, "-o", target, STEMMA_CONVERSATION=service.address
    ) as terminal:
        await terminal.see(rf"exporting {session_id}")
        await terminal.see(r"Wrote .*, [\d,]+ bytes\.")
        assert await terminal.end() == 0
