"""Histories and dumps as files, and the command that reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.history.stories import Story
from tools.history.__main__ import main
from tools.history.files import BadFile, HistoryWriter, read_dump, read_history, write_dump
from tools.history.model import Answer, Operation


def asked(number: int) -> dict[str, str]:
    return {"client": "c", "method": "AppendFloor", "request_id": f"r{number}", "fingerprint": "f"}


def test_a_call_is_in_the_file_before_it_is_sent(tmp_path: Path) -> None:
    path = tmp_path / "history"
    with HistoryWriter(path) as out:
        sent = out.invoke(**asked(1), expected_head="h", abandon=True)
        assert list(read_history(path)) == [sent]
        assert (sent.outcome, sent.returned) == ("unknown", None)
        done = out.complete(sent, "ok", answer=Answer(floor_id="f", depth=3))
        assert list(read_history(path)) == [done]
        assert out.counts == {"ok": 1}


def test_calls_come_back_as_they_were_over_and_then_what_never_was(tmp_path: Path) -> None:
    path = tmp_path / "history"
    with HistoryWriter(path) as out:
        one, two, three = (out.invoke(**asked(number)) for number in range(3))
        third = out.complete(three, "fail", reason="HEAD_MOVED", current_head="h")
        first = out.complete(one, "unknown", reason="UNAVAILABLE")
    assert list(read_history(path)) == [third, first, two]
    numbers = [one.invoked, two.invoked, three.invoked, third.returned, first.returned]
    assert numbers == [1, 2, 3, 4, 5]


def test_a_line_that_was_cut_off_is_none(tmp_path: Path) -> None:
    path = tmp_path / "history"
    with HistoryWriter(path) as out:
        first = out.invoke(**asked(1))
        out.complete(first, "ok", answer=Answer())
    path.write_bytes(path.read_bytes()[:-5])
    assert list(read_history(path)) == [first]


def test_a_history_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "history"
    path.write_text("")
    with pytest.raises(FileExistsError):
        HistoryWriter(path)


def test_a_dump_comes_back_as_it_was(tmp_path: Path) -> None:
    story = Story()
    write_dump(story.dump, tmp_path / "dump")
    assert read_dump(tmp_path / "dump") == story.dump


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{", "line 1: not JSON, at character 2"),
        ("[]", "line 1: not an object"),
        ('{"op":1}', "line 1: .*missing 5 required"),
        ('{"op":"1"}', "line 1: `op` is not of type int"),
        ('{"abandon":1}', "line 1: `abandon` is not of type bool"),
        ('{"time":1}', "line 1: no Operation has a field `time`"),
        ('{"answer":{"depth":"x"}}', "line 1: `depth` is not of type int"),
    ],
)
def test_a_line_that_is_none_is_named(tmp_path: Path, line: str, why: str) -> None:
    (tmp_path / "history").write_text(line + "\n")
    with pytest.raises(BadFile, match=why):
        list(read_history(tmp_path / "history"))


def test_a_row_of_no_table_is_named(tmp_path: Path) -> None:
    (tmp_path / "dump").write_text('{"row":"cats"}\n')
    with pytest.raises(BadFile, match="line 1: `row` is none of sessions, floors"):
        read_dump(tmp_path / "dump")


def write(story: Story, folder: Path) -> list[str]:
    """The story as files: the arguments of the command."""
    with HistoryWriter(folder / "history") as out:
        for call in story.history:
            names = [name for name in Operation.__slots__ if name not in _RECORDED]
            sent = out.invoke(**{name: getattr(call, name) for name in names})
            told = {"reason": call.reason, "current_head": call.current_head, "answer": call.answer}
            out.complete(sent, call.outcome, **told)
    write_dump(story.dump, folder / "dump")
    return ["check", str(folder / "history"), str(folder / "dump")]


_RECORDED = ("op", "invoked", "returned", "outcome", "reason", "current_head", "answer")


def test_the_command_says_that_all_is_well(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(write(Story(), tmp_path)) == 0
    assert capsys.readouterr().out.splitlines() == [
        "history: the promises hold",
        "9 acknowledged, 2 refused, 2 unknown (1 of them happened), 0 lost",
    ]


def test_the_command_names_what_is_broken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    story = Story()
    story.floor("floor-2", output="else")
    assert main(write(story, tmp_path)) == 1
    assert capsys.readouterr().out.splitlines() == [
        "history: 1 violation, the first one first",
        "9 acknowledged, 2 refused, 2 unknown (1 of them happened), 1 lost",
        "R2: operation 3 (AppendFloor of b) was acknowledged with the floor floor-2; its output was 'out 3'"
        " then and is 'else' now [operations: 3]",
    ]


def test_the_command_refuses_files_that_are_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = write(Story(), tmp_path)
    (tmp_path / "dump").write_text("{}\n")
    assert main(arguments) == 2
    assert "line 1: `row` is none of" in capsys.readouterr().err
