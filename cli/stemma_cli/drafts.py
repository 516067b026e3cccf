"""Drafts, as a person sees them."""

import json
from pathlib import Path

from google.protobuf.json_format import ParseDict, ParseError
from rich.text import Text
from stemma.draft.v1 import draft_pb2
from stemma.draft.v1 import draft_service_pb2 as pb
from stemma.kernel.v1 import config_pb2, effects_pb2, floor_pb2

from stemma_cli.calls.drafts import DraftCalls
from stemma_cli.errors import UsageError
from stemma_cli.output import Output
from stemma_cli.words import message_text, role_of, shortened


def state_of(draft: draft_pb2.Draft) -> str:
    return draft_pb2.DraftState.Name(draft.state).removeprefix("DRAFT_STATE_").lower()


def new_draft(out: Output, client: DraftCalls, request: pb.CreateDraftRequest) -> None:
    answer = client.create(request)
    out.answer(answer)
    out.say(Text.assemble((answer.draft.draft_id, "bold"), f"  until {_time(answer.draft.expire_time)}"))
    if answer.branch.pending_floor_id:
        out.note(f"Its first turn is open: `stemma draft say {answer.draft.draft_id}` has it answered.")


def list_drafts(out: Output, client: DraftCalls, request: pb.ListDraftsRequest) -> None:
    """One line each: id, state, expiry or end, purpose and title."""
    answer = client.list(request)
    out.answer(answer)
    if out.json:
        return
    if not answer.drafts:
        out.note("There are no drafts.")
    for draft in answer.drafts:
        line = Text.assemble(
            (draft.draft_id, "bold"),
            f"  {state_of(draft):9}",
            (f"  {_time(draft.expire_time)}  ", "dim"),
            shortened(": ".join(filter(None, [draft.purpose, draft.title])), 80),
        )
        line.truncate(out.width, overflow="ellipsis")
        out.say(line)
    if answer.next_page_token:
        out.note(f"… and more: --limit {2 * request.page_size} shows them.")


def show_draft(out: Output, client: DraftCalls, draft_id: str) -> None:
    answer = client.get(draft_id)
    out.answer(answer)
    draft = answer.draft
    ended = f" by {draft.ended_by}: {draft.end_reason}" if draft.ended_by else ""
    source = (
        f"session {draft.source_session_id}" if draft.source_session_id else f"project {draft.project_id}"
    )
    for name, text in (
        ("state", state_of(draft) + ended.rstrip(": ")),
        ("purpose", draft.purpose),
        ("title", draft.title),
        ("source", source),
        ("at floor", draft.source_floor_id),
        ("expires", _time(draft.expire_time)),
        ("snapshot", draft.snapshot_digest),
    ):
        if text:
            out.say(f"{name:9} {text}")


def show_transcript(out: Output, client: DraftCalls, draft_id: str, frozen: bool) -> None:
    for page in client.transcript(draft_id, frozen):
        out.answer(page)
        for floor in page.snapshot_floors:
            _show(out, floor, "dim")
        for floor in page.floors:
            _show(out, floor, "")
        if page.HasField("pending_floor"):
            _show(out, page.pending_floor, "italic")


def _show(out: Output, floor: floor_pb2.Floor, style: str) -> None:
    for message in (*floor.input_page.messages, *floor.output_page.messages):
        out.say(f"{role_of(message)}: {message_text(message)}", style)


def end_draft(out: Output, client: DraftCalls, how: str, draft_id: str, reason: str) -> None:
    answer = client.end(how, draft_id, reason)
    out.answer(answer)
    out.say(f"{state_of(answer.draft)}; it can be read until {_time(answer.draft.purge_time)}")


def export_draft(out: Output, client: DraftCalls, request: pb.ExportDraftRequest) -> None:
    answer = client.export(request)
    out.answer(answer)
    out.say(Text.assemble((answer.staged_write_id, "bold"), "  waits for review"))


def list_proposals(out: Output, client: DraftCalls, draft_id: str) -> None:
    """What the model proposed, each with the id by which it is exported."""
    found = False
    for page in client.proposals(draft_id):
        out.answer(page)
        for proposal in page.proposals:
            found = True
            kind = "configuration" if proposal.HasField("config_patch") else "state"
            out.say(Text.assemble((proposal.proposal_id, "bold"), f"  {kind}  {_time(proposal.create_time)}"))
            out.say(proposal.config_patch.operations_json or str(proposal.state_patch.effects).rstrip())
    if not found:
        out.note("The model has proposed nothing.")


def effects_from(path: Path) -> effects_pb2.Effects:
    """Of a JSON file, as the REST interface takes them."""
    try:
        return ParseDict(json.loads(read(path)), effects_pb2.Effects())
    except (ParseError, ValueError, RecursionError):
        raise UsageError(f"{path} holds no effects: an object with variables, memory or slots.") from None


def config_from(path: Path) -> config_pb2.Config:
    """Of a JSON file, as the REST interface takes it."""
    try:
        return ParseDict(json.loads(read(path)), config_pb2.Config())
    except (ParseError, ValueError, RecursionError):
        raise UsageError(f"{path} holds no configuration: see docs/config.schema.json.") from None


def read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise UsageError(f"{path} cannot be read as text.") from None


def _time(stamp: object) -> str:
    return str(stamp.ToJsonString())[:19].replace("T", " ")  # type: ignore[attr-defined]
