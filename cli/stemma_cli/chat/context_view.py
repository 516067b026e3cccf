"""`/context`: exactly what the model was sent for a turn, and what it was spared."""

from dataclasses import dataclass

from rich.text import Text
from stemma.conversation.v1 import context_service_pb2
from stemma.kernel.v1 import context_pb2, floor_pb2

from stemma_cli.chat.conversation import Conversation
from stemma_cli.output import Output
from stemma_cli.words import message_text, plural, printable, role_of

_WHY = {
    "system_prompt": "the system prompt",
    "memory": "remembered",
    "path": "on the path",
    "pending": "the turn's own input",
    "input": "the turn's own input",
    "closed_call": "in the place of a tool's result that is missing",
}
_LEFT_OUT = {
    "budget": "older than the token budget allows",
    "summary": "older than the token budget allows, and summed up in the memory",
    "memory_budget": "more than the memory's budget allows",
    "memory_policy": "proposed by a model or an import, which the memory policy keeps out",
    "hidden": "hidden",
    "unpaired": "a tool's call or result without the other",
}


@dataclass(frozen=True, slots=True)
class TurnContext:
    """What a turn's run was sent, and the tokens stored off the present path."""

    answer: context_service_pb2.AssembleContextResponse | context_service_pb2.ExplainFloorResponse
    turn: floor_pb2.Floor | None
    tax: int
    depths: dict[str, int]
    # Whether a model wrote the turn, and was sent exactly this.
    recorded: bool = False


def context_of_turn(conversation: Conversation, turn: floor_pb2.Floor) -> TurnContext:
    """From the record of the turn's run; for a turn that no model wrote, what one would be sent now."""
    answer = conversation.client.explain_floor(turn.floor_id)
    now = conversation.client.assemble(conversation.session_id, conversation.branch.name)
    return TurnContext(answer, turn, now.explanation.tokens_abandoned, _depths(conversation), answer.recorded)


def context_of_next(conversation: Conversation) -> TurnContext:
    """What will be sent before the next message."""
    answer = conversation.client.assemble(conversation.session_id, conversation.branch.name)
    return TurnContext(answer, None, answer.explanation.tokens_abandoned, _depths(conversation))


def _depths(conversation: Conversation) -> dict[str, int]:
    tree = conversation.client.get_tree(conversation.session_id)
    return {floor.floor_id: floor.depth for floor in tree.floors}


def show_context(out: Output, context: TurnContext) -> None:
    """Every message in full with its tokens and why it is there, then what is not there, and the sums."""
    out.answer(context.answer)
    explanation = context.answer.explanation
    count = plural(len(context.answer.messages), "message")
    tokens = plural(explanation.tokens_in, "token")
    if context.turn is None:
        title = f"What the model will be sent before your next message: {count}, {tokens}"
    else:
        was = "the model was sent" if context.recorded else "a model would be sent"
        title = f"What {was} for turn {context.turn.depth}: {count}, {tokens}"
    out.say(title, "bold")
    entries = zip(context.answer.messages, explanation.entries, strict=True)
    for number, (message, entry) in enumerate(entries, 1):
        head = f"{number}. {role_of(message)}"
        details = [_place(context, entry.floor_id), plural(entry.tokens, "token"), _why(entry, context)]
        out.say(Text.assemble((head, "cyan"), (f"  ({', '.join(filter(None, details))})", "dim")))
        out.say("   " + printable(message_text(message)).replace("\n", "\n   "))
    _show_left_out(out, context)
    _show_sums(out, context)


def _why(entry: context_pb2.ContextEntry, context: TurnContext) -> str:
    return _WHY.get(entry.why, entry.why)


def _place(context: TurnContext, floor_id: str) -> str:
    if floor_id:
        depth = context.depths.get(floor_id)
        return f"turn {depth}" if depth else ""
    return ""


def _show_left_out(out: Output, context: TurnContext) -> None:
    left_out = context.answer.explanation.left_out
    if not left_out:
        out.note("Left out: nothing.")
        return
    total = sum(item.tokens for item in left_out)
    out.say(f"Left out: {plural(total, 'token')}", "yellow")
    for item in left_out:
        what = "a message of " if item.message_id else "something remembered from " if item.memory_id else ""
        where = _place(context, item.floor_id) or "the input"
        out.say(f"   {what}{where}: {plural(item.tokens, 'token')}, {_LEFT_OUT.get(item.why, item.why)}")


def _show_sums(out: Output, context: TurnContext) -> None:
    explanation, turn = context.answer.explanation, context.turn
    counter = explanation.token_counter
    counted = "estimated" if counter == "estimate" else f"counted by {counter}"
    if turn is not None and turn.HasField("usage") and not turn.usage.estimated:
        counted += f"; the provider says {turn.usage.tokens_in:,}"
    out.say(f"Tokens in: {explanation.tokens_in:,} ({counted})")
    out.say(
        f"Token tax avoided: {context.tax:,} (stored off this path; a plain log would have sent them too)",
        "green" if context.tax else "",
    )
    out.note(f"Digest: {explanation.context_digest}")
