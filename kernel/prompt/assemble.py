"""What a model is sent: the path, and nothing else.

`select` is a pure function of the configuration, the path, what is remembered on it and the input: dry
run and live run are this one function (T4). It decides how many turns leave; `lay_out` does what was
decided, then and when it is explained later. They see facts and sizes; `kernel.prompt.pairing` then looks
at the messages that hold tool calls and results, and bodies are joined by `render`, as bytes. Order:
system prompt, memory, then each floor's messages, then the pending input. Hidden messages stay out. Over
budget, whole floors leave from the oldest; the system prompt, the memory and the last turn always stay,
with the turn whose tool calls it answers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from kernel.prompt.config import BudgetConfig
from kernel.prompt.memory import NO_MEMORY, MemoryBlock
from kernel.tree.blob import split
from kernel.tree.digest import context_digest
from kernel.tree.model import MessageFacts, PageContent, PageOutline, Role

SYSTEM_PROMPT, MEMORY, PATH, PENDING, INPUT = "system_prompt", "memory", "path", "pending", "input"
CLOSED = "closed_call"
HIDDEN, BUDGET, SUMMARY, UNPAIRED = "hidden", "budget", "summary", "unpaired"


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

    @property
    def roles(self) -> list[Role]:
        """Who speaks in it to the model."""
        return [fact.role for page in self.pages for fact in page.facts if not fact.hidden]


class Entry(NamedTuple):
    """A message of the context. `index` is its place in its page, or among the remembered items; a
    remembered item names the floor that wrote it last, an error in the place of results the floor of its
    calls. `written` are the bytes to send where the page does not have them as they must be."""

    floor_id: str
    page_id: str
    index: int  # type: ignore[assignment]  # a tuple has a method of that name
    fact: MessageFacts
    why: str
    memory_id: str = ""
    written: bytes = b""

    @property
    def message_id(self) -> str:
        """Empty for what no page of the tree holds."""
        of_page = self.floor_id and not self.memory_id and self.why != CLOSED
        return f"{self.page_id}.{self.index}" if of_page else ""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A whole floor, with `page_id` one message of it, or with `memory_id` a remembered item. Of an
    unpaired message that is sent in part, only the `tokens` of the rest."""

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
    return lay_out(turns, over_budget(turns, budget, system, memory), system, memory)


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


def over_budget(
    turns: Sequence[Turn],
    budget: BudgetConfig,
    system: PageContent | None,
    memory: MemoryBlock = NO_MEMORY,
    added: Mapping[str, int] = MappingProxyType({}),
) -> int:
    """How many of the oldest turns must leave. `added` are tokens, by floor id, beside those stored."""
    if budget.max_input_tokens is None:
        return 0
    before = (system.tokens if system else 0) + memory.tokens
    room = budget.max_input_tokens - (budget.reserved_output_tokens or 0) - before
    used, least = 0, _staying(turns)
    for kept, turn in enumerate(reversed(turns)):
        used += turn.sent_tokens + added.get(turn.floor_id, 0)
        if used > room and kept >= least:
            return len(turns) - kept
    return 0


def _staying(turns: Sequence[Turn]) -> int:
    """How many of the newest turns stay whatever the budget says. A last turn that begins with a tool's
    result says nothing without its call: so the turns before it stay too, back to one that may have it."""
    if not turns or turns[-1].roles[:1] != [Role.TOOL]:
        return 1
    for kept, turn in enumerate(reversed(turns[:-1]), 2):
        if set(turn.roles) - {Role.TOOL}:
            return kept
    return 1


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
        if entry.written:
            blobs.append(entry.written)
            continue
        if entry.page_id not in frames:
            frames[entry.page_id] = split(bodies[entry.page_id])
        blobs.append(frames[entry.page_id][entry.index])
    blob = b"".join(blobs)
    return Context(selection, blob, context_digest([blob]).hex())
