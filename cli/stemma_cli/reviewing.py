"""What the ledger's entries look like to whoever reviews them."""

from datetime import UTC

from rich.text import Text
from stemma.conversation.v1 import staged_write_service_pb2 as pb
from stemma.kernel.v1 import staged_write_pb2

from stemma_cli.output import Output
from stemma_cli.words import message_text, role_of, shortened

_NAMES = {
    "output_page": "a reply",
    "config_patch": "a change of configuration",
    "state_patch": "a change of state",
}


def show_entries(out: Output, answer: pb.ListStagedWritesResponse) -> None:
    """One line each: id, state, what it holds, for what, by whom."""
    out.answer(answer)
    if not answer.staged_writes:
        out.note("Nothing is staged.")
    for entry in answer.staged_writes:
        line = Text.assemble(
            (entry.staged_write_id, "bold"), f"  {_state(entry):<9}  {_parts(entry)}  for {_target(entry)}"
        )
        line.append(f"  by {shortened(entry.staged_by, 40)}", "dim")
        if not out.json:
            line.truncate(out.width, overflow="ellipsis")
        out.say(line)
    if answer.next_page_token:
        out.note(f"… and more: --limit {2 * len(answer.staged_writes)} shows them.")


def show_entry(out: Output, entry: staged_write_pb2.StagedWrite) -> None:
    out.say(f"{entry.staged_write_id} · {_state(entry)} · {_parts(entry)} for {_target(entry)}")
    _said(out, "staged by", entry.staged_by, entry.reason)
    if entry.decided_by:
        _said(out, f"{_state(entry)} by", entry.decided_by, entry.decision_reason)
    elif entry.state == staged_write_pb2.STAGED_WRITE_STATE_STAGED:
        out.note(f"expires {entry.expire_time.ToDatetime(UTC):%Y-%m-%d %H:%M} UTC")
    for part in entry.parts:
        for message in (*part.output_page.input, *part.output_page.output):
            out.say(f"{role_of(message)}: {message_text(message)}")
        if part.config_patch.operations_json:
            out.say(part.config_patch.operations_json)
        if part.HasField("state_patch"):
            out.say(str(part.state_patch.effects).rstrip())


def show_preview(out: Output, answer: pb.PreviewStagedWriteResponse) -> None:
    """The diff, coloured by line, and what stands against accepting it."""
    out.answer(answer)
    for line in answer.diff.text.splitlines():
        out.say(line, {"+": "green", "-": "red"}.get(line[:1], "bold"))
    if not answer.diff.changes:
        out.note("It would change nothing.")
    if not out.json:
        for conflict in answer.conflicts:
            out.warn(f"{conflict.reason}: {conflict.message}")
    if answer.stale:
        out.note("`stemma staged accept --allow-stale` takes it all the same.")


def _said(out: Output, what: str, who: str, reason: str) -> None:
    out.say(f"{what} {who}" + (f": {reason}" if reason else ""))


def _state(entry: staged_write_pb2.StagedWrite) -> str:
    name = staged_write_pb2.StagedWriteState.Name(entry.state)
    return name.removeprefix("STAGED_WRITE_STATE_").lower()


def _parts(entry: staged_write_pb2.StagedWrite) -> str:
    return ", ".join(_NAMES[part.WhichOneof("part") or "output_page"] for part in entry.parts)


def _target(entry: staged_write_pb2.StagedWrite) -> str:
    target = entry.target
    if target.floor_id:
        return f"floor {target.floor_id}"
    return f"session {target.session_id}" if target.session_id else f"project {target.project_id}"
