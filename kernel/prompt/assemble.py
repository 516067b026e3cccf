"""What a model is sent: the path, and nothing else.

`select` is a pure function of the configuration, the path and the input: dry run, live run and
explanation are this one function (T4). It sees facts and sizes; bodies are joined afterwards by
`render`, as bytes. Order: system prompt, then each floor's messages, then the pending input.
Hidden messages stay out. Over budget, whole floors leave from the oldest; the system prompt and
the last turn always stay.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kernel.prompt.config import BudgetConfig
from kernel.tree.blob import split
from kernel.tree.digest import context_digest
from kernel.tree.model import MessageFacts, PageContent, PageOutline

SYSTEM_PROMPT, PATH, PENDING, INPUT = "system_prompt", "path", "pending", "input"
HIDDEN, BUDGET = "hidden", "budget"


@dataclass(frozen=True, slots=True)
class Turn:
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


@dataclass(frozen=True, slots=True)
class Entry:
    """A message of the context. `index` is its place in its page."""

    floor_id: str
    page_id: str
    index: int
    fact: MessageFacts
    why: str


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A whole floor, or with `page_id` one message of it."""

    floor_id: str
    page_id: str
    index: int
    tokens: int
    why: str


@dataclass(frozen=True, slots=True)
class Selection:
    entries: tuple[Entry, ...]
    left_out: tuple[LeftOut, ...]
    tokens_on_path: int

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


def select(turns: Sequence[Turn], budget: BudgetConfig, system: PageContent | None) -> Selection:
    """Chooses the messages. `system` is the rendered system prompt, if there is one."""
    dropped = _over_budget(turns, budget, system.tokens if system else 0)
    entries = [Entry("", "", i, fact, SYSTEM_PROMPT) for i, fact in enumerate(system.facts if system else ())]
    left_out = [LeftOut(turn.floor_id, "", 0, turn.tokens, BUDGET) for turn in turns[:dropped]]
    for turn in turns[dropped:]:
        for page in turn.pages:
            for index, fact in enumerate(page.facts):
                if fact.hidden:
                    left_out.append(LeftOut(turn.floor_id, page.page_id, index, fact.tokens, HIDDEN))
                else:
                    entries.append(Entry(turn.floor_id, page.page_id, index, fact, turn.why))
    return Selection(tuple(entries), tuple(left_out), sum(turn.tokens for turn in turns))


def _over_budget(turns: Sequence[Turn], budget: BudgetConfig, system_tokens: int) -> int:
    """How many of the oldest turns must leave."""
    if budget.max_input_tokens is None:
        return 0
    room = budget.max_input_tokens - (budget.reserved_output_tokens or 0) - system_tokens
    used = 0
    for kept, turn in enumerate(reversed(turns)):
        used += turn.sent_tokens
        if used > room and kept > 0:
            return len(turns) - kept
    return 0


def render(selection: Selection, bodies: Mapping[str, bytes], system: PageContent | None) -> Context:
    """Joins the chosen messages. `bodies` are stored blobs by page id, at least the chosen ones."""
    blobs: list[bytes] = []
    frames: dict[str, list[bytes]] = {}
    for entry in selection.entries:
        if entry.why == SYSTEM_PROMPT:
            assert system is not None
            frames.setdefault("", split(system.blob))
        elif entry.page_id not in frames:
            frames[entry.page_id] = split(bodies[entry.page_id])
        blobs.append(frames[entry.page_id][entry.index])
    return Context(selection, b"".join(blobs), context_digest(blobs).hex())
