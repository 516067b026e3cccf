"""What a model is sent: the path, and nothing else.

`select` is a pure function of the configuration, the path, what is remembered on it and the input: dry
run and live run are this one function (T4). It decides how many turns leave; `lay_out` does what was
decided, then and when it is explained later. They see facts and sizes; bodies are joined afterwards by
`render`, as bytes. Order: system prompt, memory, then each floor's messages, then the pending input.
Hidden messages stay out. Over budget, whole floors leave from the oldest; the system prompt, the memory
and the last turn always stay.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kernel.prompt.config import BudgetConfig
from kernel.prompt.memory import NO_MEMORY, MemoryBlock
from kernel.tree.blob import split
from kernel.tree.digest import context_digest
from kernel.tree.model import MessageFacts, PageContent, PageOutline

SYSTEM_PROMPT, MEMORY, PATH, PENDING, INPUT = "system_prompt", "memory", "path", "pending", "input"
HIDDEN, BUDGET, SUMMARY = "hidden", "budget", "summary"


class Turn(NamedTuple):
    """One floor's share of the context; `floor_id` is empty for an input given with the call."""

    floor_id: str
    pages: tuple[PageOutline, ...]
    why: str = PATH

    @property
    def tokens(self) -> int:
        return sum(fact.tokens for page in self.pages for fact in page.facts)

    @property
    def sent_tokens(self) -> int:
        return sum(fact.tokens for page in self.pages for fact in page.facts if not fact.hidden)


class Entry(NamedTuple):
    """A message of the context. `index` is its place in its page, or among the remembered items; a
    remembered item names the floor that wrote it last."""

    floor_id: str
    page_id: str
    index: int  # type: ignore[assignment]  # a tuple has a method of that name
    fact: MessageFacts
    why: str
    memory_id: str = ""

    @property
    def message_id(self) -> str:
        """Empty for what no page of the tree holds."""
        return f"{self.page_id}.{self.index}" if self.floor_id and not self.memory_id else ""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A whole floor, with `page_id` one message of it, or with `memory_id` a remembered item."""

    floor_id: str
    page_id: str
    index: int
    tokens: int
    why: str
    memory_id: str = ""


@dataclass(frozen=True, slots=True)
class Selection:
    entries: tuple[Entry, ...]
    left_out: tuple[LeftOut, ...]
    tokens_on_path: int
    # How many of the oldest turns are left out.
    dropped: int = 0

    @property
    def tokens_in(self) -> int:
        return sum(entry.fact.tokens for entry in self.entries)

    @property
    def page_ids(self) -> set[str]:
        return {entry.page_id for entry in self.entries}


@dataclass(frozen=True, slots=True)
class Context:
    """The messages as one blob, in the order of the selection's entries, and their digest."""

    selection: Selection
    blob: bytes
    digest: str


def select(
    turns: Sequence[Turn],
    budget: BudgetConfig,
    system: PageContent | None,
    memory: MemoryBlock = NO_MEMORY,
) -> Selection:
    """Chooses the messages. `system` is the rendered system prompt, if there is one."""
    before = (system.tokens if system else 0) + memory.tokens
    return lay_out(turns, _over_budget(turns, budget, before), system, memory)


def lay_out(
    turns: Sequence[Turn], dropped: int, system: PageContent | None, memory: MemoryBlock = NO_MEMORY
) -> Selection:
    """All but the first `dropped` turns, below the system prompt and the memory."""
    entries = [Entry("", "", i, fact, SYSTEM_PROMPT) for i, fact in enumerate(system.facts if system else ())]
    for index, (item, fact) in enumerate(zip(memory.sent, memory.facts, strict=True)):
        entries.append(Entry(item.floor_id, MEMORY, index, fact, MEMORY, item.memory_id))
    left_out = [
        LeftOut(item.floor_id, "", 0, item.tokens, item.why, item.memory_id) for item in memory.left_out
    ]
    # Turns begin with the path's, so the first so many are the floors down to that depth.
    covered = max((item.covers_depth for item in memory.sent), default=0)
    for index, turn in enumerate(turns[:dropped]):
        why = SUMMARY if index < covered else BUDGET
        left_out.append(LeftOut(turn.floor_id, "", 0, turn.tokens, why))
    for turn in turns[dropped:]:
        for page in turn.pages:
            for index, fact in enumerate(page.facts):
                if fact.hidden:
                    left_out.append(LeftOut(turn.floor_id, page.page_id, index, fact.tokens, HIDDEN))
                else:
                    entries.append(Entry(turn.floor_id, page.page_id, index, fact, turn.why))
    tokens = sum(turn.tokens for turn in turns)
    return Selection(tuple(entries), tuple(left_out), tokens, dropped)


def _over_budget(turns: Sequence[Turn], budget: BudgetConfig, tokens_before: int) -> int:
    """How many of the oldest turns must leave."""
    if budget.max_input_tokens is None:
        return 0
    room = budget.max_input_tokens - (budget.reserved_output_tokens or 0) - tokens_before
    used = 0
    for kept, turn in enumerate(reversed(turns)):
        used += turn.sent_tokens
        if used > room and kept > 0:
            return len(turns) - kept
    return 0


def render(
    selection: Selection,
    bodies: Mapping[str, bytes],
    system: PageContent | None,
    memory: MemoryBlock = NO_MEMORY,
) -> Context:
    """Joins the chosen messages. `bodies` are stored blobs by page id, at least the chosen ones."""
    blobs: list[bytes] = []
    frames: dict[str, list[bytes]] = {MEMORY: split(memory.blob)}
    if system is not None:
        frames[""] = split(system.blob)
    for entry in selection.entries:
        if entry.page_id not in frames:
            frames[entry.page_id] = split(bodies[entry.page_id])
        blobs.append(frames[entry.page_id][entry.index])
    blob = b"".join(blobs)
    return Context(selection, blob, context_digest([blob]).hex())
