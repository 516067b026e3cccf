"""Explanations of contexts as the contract's messages, and as bytes."""

from stemma.kernel.v1 import context_pb2

from kernel.prompt.assemble import CLOSED, Entry
from kernel.runs.context import Assembled
from kernel.wire.byte_text import BYTES, NUMBERS, number, text_of, text_tags

_ENTRIES = text_tags(context_pb2.Explanation.DESCRIPTOR)["entries"]
_ENTRY = text_tags(context_pb2.ContextEntry.DESCRIPTOR)
_FLOOR, _PAGE = _ENTRY["floor_id"] + NUMBERS[36], _ENTRY["page_id"] + NUMBERS[36]
_MESSAGE, _TOKENS, _WHY = _ENTRY["message_id"], _ENTRY["tokens"], _ENTRY["why"]


def explanation_bytes(assembled: Assembled) -> bytes:
    """What `explanation_pb` serialises to."""
    entries = "".join(map(_entry_field, assembled.context.selection.entries))
    return entries.encode(BYTES) + _rest(assembled).SerializeToString(deterministic=True)


def _entry_field(entry: Entry) -> str:
    floor_id, page_id, index, fact, why, memory_id, _ = entry
    if not floor_id or memory_id or why == CLOSED:
        raw = entry_pb(entry).SerializeToString(deterministic=True)
        return f"{_ENTRIES}{number(len(raw))}{text_of(raw)}"
    message_id = f"{page_id}.{index}"
    tokens = f"{_TOKENS}{number(fact.tokens)}" if fact.tokens else ""
    body = (
        f"{_FLOOR}{floor_id}{_PAGE}{page_id}{_MESSAGE}{NUMBERS[len(message_id)]}{message_id}"
        f"{tokens}{_WHY}{NUMBERS[len(why)]}{why}"
    )
    return f"{_ENTRIES}{NUMBERS[len(body)]}{body}"


def explanation_pb(assembled: Assembled) -> context_pb2.Explanation:
    explanation = _rest(assembled)
    explanation.entries.extend(map(entry_pb, assembled.context.selection.entries))
    return explanation


def _rest(assembled: Assembled) -> context_pb2.Explanation:
    """All but the entries, which come first."""
    selection = assembled.context.selection
    return context_pb2.Explanation(
        left_out=[
            context_pb2.LeftOut(
                floor_id=out.floor_id,
                message_id=f"{out.page_id}.{out.index}" if out.page_id and out.floor_id else "",
                tokens=out.tokens,
                why=out.why,
                memory_id=out.memory_id,
            )
            for out in selection.left_out
        ],
        tokens_in=selection.tokens_in,
        tokens_on_path=selection.tokens_on_path,
        tokens_abandoned=assembled.tokens_abandoned,
        token_counter=assembled.token_counter,
        config_version=assembled.config_version,
        live_version=assembled.live_version,
        context_digest=assembled.context.digest,
        missing_variables=assembled.head.missing,
    )


def entry_pb(entry: Entry) -> context_pb2.ContextEntry:
    return context_pb2.ContextEntry(
        floor_id=entry.floor_id,
        page_id=entry.page_id if entry.message_id else "",
        message_id=entry.message_id,
        tokens=entry.fact.tokens,
        why=entry.why,
        memory_id=entry.memory_id,
    )
