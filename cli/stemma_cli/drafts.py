"""Drafts, as a person sees them."""

import json
from pathlib import Path

from google.protobuf.json_format import ParseDict, ParseError
from rich.text import Text
from stemma.draft.v1 import draft_pb2
from stemma.draft.v1 import draft_service_pb2 as pb
from stemma.kernel.v1 import effects_pb2, floor_pb2, run_pb2

from stemma_cli.calls.drafts import DraftCalls
from stemma_cli.errors import CliError, UsageError
from stemma_cli.output import Output
from stemma_cli.words import message_text, role_of, shortened, user_message

_ENDS = {"floor_committed", "cancelled", "failed"}


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


def say(out: Output, client: DraftCalls, draft_id: str, text: str) -> None:
    """A turn with the model. Without words: the open floor, or the model goes on by itself."""
    request = pb.RespondRequest(draft_id=draft_id)
    pending = "" if text else _pending(client, draft_id)
    if pending:
        request.resume.floor_id = pending
    else:
        request.input.SetInParent()
        if text:
            request.input.messages.append(user_message(text))
    last = run_pb2.RunEvent()
    for event in client.respond(request):
        out.answer(event)
        if event.WhichOneof("event") == "text_delta":
            out.piece(event.text_delta.text)
        last = event
    out.say()
    match last.WhichOneof("event"):
        case "failed":
            raise CliError(f"The model did not answer: {last.failed.reason}.")
        case "cancelled":
            raise CliError("The draft ended, or the run was cancelled, before the answer was whole.")


def _pending(client: DraftCalls, draft_id: str) -> str:
    floor_id = ""
    for page in client.transcript(draft_id, False):
        floor_id = page.pending_floor.floor_id
    return floor_id


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


def effects_from(path: Path) -> effects_pb2.Effects:
    """Of a JSON file, as the REST interface takes them."""
    try:
        return ParseDict(json.loads(read(path)), effects_pb2.Effects())
    except (ParseError, ValueError, RecursionError):
        raise UsageError(f"{path} holds no effects: an object with variables, memory or slots.") from None


def read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise UsageError(f"{path} cannot be read as text.") from None


def _time(stamp: object) -> str:
    return str(stamp.ToJsonString())[:19].replace("T", " ")  # type: ignore[attr-defined]
