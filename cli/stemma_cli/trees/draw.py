"""A session's tree as lines of text."""

from collections.abc import Mapping, Sequence

from rich.text import Text
from stemma.kernel.v1 import floor_pb2, session_pb2

from stemma_cli.client import Client
from stemma_cli.output import Output
from stemma_cli.trees.labels import Label, read_labels, versions_mark
from stemma_cli.trees.layout import ABANDONED, ACTIVE, Line, lay_out
from stemma_cli.words import plural, printable, shortened

# Characters of each side, at most; a terminal may have room for fewer.
_SAID, _ANSWERED = 44, 44
_STYLES = {ACTIVE: "", ABANDONED: "dim"}
_SIGNS = {
    floor_pb2.FLOOR_STATE_OPEN: "◌",
    floor_pb2.FLOOR_STATE_GENERATING: "◌",
    floor_pb2.FLOOR_STATE_FAILED: "✗",
}


def show_tree(out: Output, client: Client, session: session_pb2.Session, branch: str, *, whole: bool) -> None:
    """Prints the whole tree: `●` on the path of `branch`, `○` elsewhere, `◌` unfinished, `✗` failed."""
    tree = client.get_tree(session.session_id)
    out.answer(tree)
    if out.json:
        return
    branches = client.list_branches(session.session_id).branches
    lines = lay_out(tree.floors, branches, branch=branch, whole=whole)
    drawn = [line.floor.floor_id for line in lines if line.floor is not None and line.floor.depth]
    labels = read_labels(client, drawn)
    out.say(_title(session, tree.floors))
    for line in lines:
        out.say(_draw(line, labels, out.width))
    out.note(_legend(branch, len(drawn) - len(labels)))


def _title(session: session_pb2.Session, floors: Sequence[floor_pb2.Floor]) -> Text:
    title = f" · {shortened(session.title, 60)}" if session.title else ""
    # The root is no turn.
    return Text.assemble((session.session_id, "bold"), f"{title} · {plural(len(floors) - 1, 'turn')} in all")


def _draw(line: Line, labels: Mapping[str, Label], width: int) -> Text:
    style = _STYLES.get(line.standing, "")
    if line.floor is None:
        return Text.assemble((line.prefix, "dim"), (f"⋮ {plural(line.hidden, 'turn')}", "dim italic"))
    floor = line.floor
    sign = _SIGNS.get(floor.state, "●" if line.standing == ACTIVE else "○")
    text = Text.assemble((line.prefix, "dim"), (f"{sign} ", _sign_style(line)))
    text.append(_words(floor, labels.get(floor.floor_id)), style)
    text.append(_state(line), "red" if floor.state == floor_pb2.FLOOR_STATE_FAILED else "yellow")
    marks = "".join(f"  ← {name}" for name in line.heads)
    text.truncate(max(20, width - len(marks)), overflow="ellipsis")
    return text.append(marks, "bold green")


def _sign_style(line: Line) -> str:
    assert line.floor is not None
    if line.floor.state == floor_pb2.FLOOR_STATE_FAILED:
        return "red"
    return "bold green" if line.standing == ACTIVE else _STYLES.get(line.standing, "")


def _words(floor: floor_pb2.Floor, label: Label | None) -> str:
    if not floor.depth:
        return "the beginning"
    if label is None:
        tokens = floor.input_page.token_count + floor.output_page.token_count
        return f"{floor.depth}  … {plural(tokens, 'token')}"
    mark = versions_mark(label.position)
    said = shortened(label.said, _SAID) if label.said else "(no input)"
    answered = f"  →  {shortened(label.answered, _ANSWERED)}" if label.answered else ""
    return f"{floor.depth}{f' {mark}' if mark else ''}  {said}{answered}"


def _state(line: Line) -> str:
    assert line.floor is not None
    floor = line.floor
    if floor.state == floor_pb2.FLOOR_STATE_FAILED:
        return f"  failed: {printable(floor.failure_reason) or 'no reason given'}"
    if floor.state == floor_pb2.FLOOR_STATE_GENERATING:
        return f"  being written, on {line.pending_of}"
    if floor.state == floor_pb2.FLOOR_STATE_OPEN:
        return f"  unfinished, on {line.pending_of}"
    if floor.output_page.partial:
        return "  (cut off)"
    return ""


def _legend(branch: str, without_words: int) -> str:
    legend = f"● on {printable(branch)}  ○ elsewhere  ◌ unfinished  ✗ failed"
    if without_words:
        legend += f"  ·  {without_words:,} turns are drawn without their words: there are too many"
    return legend
