"""`stemma import` on a real service: the report, and what is refused."""

import json
import os
from pathlib import Path

from stemma_cli.files.source import read_through, request_id_of
from stemma_cli.options import Format

from tests.cli.files import import_files, session_ids, taken, tree, trees, written
from tests.cli.programs import stemma
from tests.cli.talks import documents
from tests.support.service import RunningService

AGAIN = "The same command again, within a day, makes nothing twice."


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
