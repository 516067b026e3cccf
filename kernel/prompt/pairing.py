"""What was selected, made a sequence that a provider takes: every call of a tool has its result, every
result follows its call (T8). Pure.

The rules are those of `kernel.prompt.exchanges`; what is hidden and which turns left is decided before. The
calls of a message that are unanswered get one TOOL message of errors, behind the results that there are: an
entry `closed_call`. What is left out is told as `unpaired`.

The budget counts messages as they are stored, left out or not, and the errors with the turn of their calls.
A turn that leaves takes its calls along, and with them the results in the turn after it.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from kernel.prompt.assemble import (
    CLOSED,
    MEMORY,
    SYSTEM_PROMPT,
    UNPAIRED,
    Entry,
    LeftOut,
    Selection,
    Turn,
    lay_out,
    over_budget,
)
from kernel.prompt.config import BudgetConfig
from kernel.prompt.exchanges import Exchanges
from kernel.prompt.memory import NO_MEMORY, MemoryBlock
from kernel.tree.message import Message, ToolResult
from kernel.tree.model import PageContent, Role

_TOOL = Role.TOOL
NO_RESULT = "No result. The call may or may not have been carried out."


class Codec(Protocol):
    """The part of `kernel.verbs.env.Codec` that is needed here."""

    def page(self, messages: Sequence[Message]) -> PageContent:
        """Messages as they are stored."""

    def messages(self, blob: bytes) -> tuple[Message, ...]:
        """The messages of a blob."""


def settle(
    turns: Sequence[Turn],
    selection: Selection,
    budget: BudgetConfig,
    bodies: Mapping[str, bytes],
    codec: Codec,
    system: PageContent | None,
    memory: MemoryBlock = NO_MEMORY,
) -> Selection:
    """What `select` chose, paired; the errors that stand for results may make more turns leave.

    `bodies` are stored blobs by page id, at least the chosen ones.
    """
    found = paired(turns, selection, bodies, codec)
    added: Counter[str] = Counter()
    for entry in found.entries:
        if entry.why == CLOSED:
            added[entry.floor_id] += entry.fact.tokens
    if not added:
        return found
    dropped = over_budget(turns, budget, system, memory, added)
    if dropped == selection.dropped:
        return found
    return paired(turns, lay_out(turns, dropped, system, memory), bodies, codec)


def paired(
    turns: Sequence[Turn], selection: Selection, bodies: Mapping[str, bytes], codec: Codec
) -> Selection:
    """The selection as it may be sent: itself when nothing in it has to do with tools."""
    if all(entry.fact.plain and entry.fact.role is not _TOOL for entry in selection.entries):
        return selection
    pairing = _Pairing(bodies, codec)
    for entry in selection.entries:
        pairing.add(entry)
    pairing.close()
    left_out = selection.left_out
    if pairing.unpaired:
        pages = [(turn.floor_id, page.page_id) for turn in turns for page in turn.pages]
        order = {page: place for place, page in enumerate(pages)}
        left_out = tuple(
            sorted(
                (*left_out, *pairing.unpaired),
                # Remembered items and whole turns are of no page, and stay first as they are.
                key=lambda out: (order.get((out.floor_id, out.page_id), -1), out.index),
            )
        )
    return replace(selection, entries=tuple(pairing.entries), left_out=left_out)


def _is_plain(entry: Entry) -> bool:
    """Whether it can be sent without a look at it."""
    if entry.why in (SYSTEM_PROMPT, MEMORY):
        return True
    return entry.fact.plain and entry.fact.role is not _TOOL


class _Pairing:
    """The entries that are sent, and what is left out, in their order."""

    def __init__(self, bodies: Mapping[str, bytes], codec: Codec) -> None:
        self.entries: list[Entry] = []
        self.unpaired: list[LeftOut] = []
        self._bodies, self._codec = bodies, codec
        self._read: dict[str, tuple[Message, ...]] = {}
        self._exchanges = Exchanges()
        self._called_in = ""

    def add(self, entry: Entry) -> None:
        if _is_plain(entry):
            self.close()
            self.entries.append(entry)
            return
        message = self._message(entry)
        step = self._exchanges.next(message)
        self._answer(step.unanswered)
        if step.sent is message:
            self.entries.append(entry)
        else:
            self._leave_out(entry, step.sent)
        if step.sent is not None and step.sent.role is not Role.TOOL:
            self._called_in = entry.floor_id

    def close(self) -> None:
        self._answer(self._exchanges.end())

    def _message(self, entry: Entry) -> Message:
        if entry.page_id not in self._read:
            self._read[entry.page_id] = self._codec.messages(self._bodies[entry.page_id])
        return self._read[entry.page_id][entry.index]

    def _answer(self, call_ids: tuple[str, ...]) -> None:
        if call_ids:
            results = tuple(ToolResult(call_id, NO_RESULT, is_error=True) for call_id in call_ids)
            content = self._codec.page([Message(Role.TOOL, results)])
            (fact,) = content.facts
            self.entries.append(Entry(self._called_in, "", 0, fact, CLOSED, written=content.blob))

    def _leave_out(self, entry: Entry, rest: Message | None) -> None:
        tokens = entry.fact.tokens
        if rest is not None:
            content = self._codec.page([rest])
            (fact,) = content.facts
            # Counted by another counter than the whole, the rest may seem to be more.
            fact = replace(fact, tokens=min(fact.tokens, tokens))
            tokens -= fact.tokens
            self.entries.append(entry._replace(fact=fact, written=content.blob))
        self.unpaired.append(LeftOut(entry.floor_id, entry.page_id, entry.index, tokens, UNPAIRED))
