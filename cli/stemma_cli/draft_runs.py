"""Talking in a draft: one answer, or several to choose from."""

from collections.abc import Iterator, Sequence

from rich.text import Text
from stemma.draft.v1 import draft_service_pb2 as pb
from stemma.kernel.v1 import run_pb2

from stemma_cli.calls.drafts import DraftCalls
from stemma_cli.chat.reply import ReplyView
from stemma_cli.errors import CliError
from stemma_cli.output import Output
from stemma_cli.words import page_text, shortened, user_message

_CALL = 100


def say(out: Output, client: DraftCalls, draft_id: str, text: str, candidates: Sequence[str]) -> None:
    """A turn with the model. Without words: the open floor, or the model goes on by itself. Each of
    `candidates` is an instruction for an answer of its own; the floor stays open until one is chosen."""
    request = pb.RespondRequest(draft_id=draft_id)
    pending = "" if text else _pending(client, draft_id)
    if pending:
        request.resume.floor_id = pending
    else:
        request.input.messages.extend([user_message(text)] if text else [])
        request.input.SetInParent()
    request.candidates.extend(pb.Candidate(instruction=instruction) for instruction in candidates)
    request.hold = bool(candidates)
    events = client.respond(request)
    last = _pages(out, events) if candidates else ReplyView(out).follow(events)
    match last.WhichOneof("event"):
        case "held":
            out.note(f"`stemma draft choose {draft_id} PAGE_ID` takes one of them.")
        case "requires_action":
            out.note(_waits(last.requires_action))
        case "failed":
            raise CliError(f"The model did not answer: {last.failed.reason}.")
        case "cancelled":
            raise CliError("The draft ended, or the run was cancelled, before the answer was whole.")


def choose(out: Output, client: DraftCalls, draft_id: str, page_id: str) -> None:
    """Commits the open floor with that answer."""
    pending = _pending(client, draft_id)
    if not pending:
        raise CliError("No turn of this draft is open: there is nothing to choose.")
    answer = client.commit(draft_id, pending, page_id)
    out.answer(answer)
    out.say(page_text(answer.floor.output_page))


def _pages(out: Output, events: Iterator[run_pb2.RunEvent]) -> run_pb2.RunEvent:
    """Shows each answer when it is whole, with the id by which it is chosen; returns the last frame."""
    last = run_pb2.RunEvent()
    for last in events:
        out.answer(last)
        if last.WhichOneof("event") == "page_completed":
            page = last.page_completed.page
            out.say(Text(page.page_id, "bold"))
            out.say(page_text(page))
    return last


def _pending(client: DraftCalls, draft_id: str) -> str:
    floor_id = ""
    for page in client.transcript(draft_id, False):
        floor_id = page.pending_floor.floor_id
    return floor_id


def _waits(required: run_pb2.RequiresAction) -> str:
    calls = ", ".join(f"{call.name}({shortened(call.arguments_json, _CALL)})" for call in required.calls)
    wanted = "approval" if required.kind == run_pb2.ACTION_KIND_APPROVAL else "the result"
    return f"The run waits for {wanted} of {calls}: SubmitToolResults goes on with it."
