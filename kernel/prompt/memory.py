"""The memory block: what is remembered on a path, as messages, within a budget of its own. Pure."""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from kernel.prompt.config import BudgetConfig
from kernel.prompt.memory_policy import TRUSTED
from kernel.state.model import MemoryItem, MemoryKind
from kernel.tree.model import MessageFacts, PageContent

# What memory may take where the configuration says nothing: so many tokens, and never more than this share
# of what a budget leaves beside the system prompt.
DEFAULT_TOKENS, DEFAULT_SHARE = 2_048, 4

_WORDS = {
    MemoryKind.FACT: "Remembered",
    MemoryKind.SUMMARY: "Summary of what came before",
    MemoryKind.OPEN_LOOP: "Still open",
}


@dataclass(frozen=True, slots=True)
class MemoryRef:
    """A remembered item of a block: the floor that wrote it last, what it costs, for a summary the depth
    of the last floor that it covers, and for one that is left out why it is."""

    memory_id: str
    floor_id: str
    tokens: int
    covers_depth: int = 0
    why: str = ""


@dataclass(frozen=True, slots=True)
class MemoryBlock:
    """One SYSTEM message for each item of `sent`, in its order; `blob` joins them as stored bytes.
    `left_out` are the items that did not fit or may not be sent, in the order in which they were tried."""

    blob: bytes = b""
    facts: tuple[MessageFacts, ...] = ()
    sent: tuple[MemoryRef, ...] = ()
    left_out: tuple[MemoryRef, ...] = ()

    @property
    def tokens(self) -> int:
        return sum(fact.tokens for fact in self.facts)


NO_MEMORY = MemoryBlock()
OVER_BUDGET, REFUSED = "memory_budget", "memory_policy"


def memory_limit(budget: BudgetConfig, system_tokens: int) -> int:
    """How many tokens the block may take, at most what the system prompt leaves of the budget."""
    given, window = budget.max_memory_tokens, budget.max_input_tokens
    if window is None:
        return DEFAULT_TOKENS if given is None else given
    room = max(0, window - (budget.reserved_output_tokens or 0) - system_tokens)
    return min(DEFAULT_TOKENS, room // DEFAULT_SHARE) if given is None else min(given, room)


def memory_block(
    items: Sequence[MemoryItem],
    recency: Mapping[str, int],
    limit: int,
    write: Callable[[str], PageContent],
    refused: Set[str] = frozenset(),
) -> MemoryBlock:
    """The items that fit into `limit` tokens and may be sent, each as a message of its own.

    Tried first is the summary that covers the most, as it stands for turns that may have to leave; then
    the others by importance, then by the depth of the floor that wrote them (`recency`, by floor id),
    the latest first, then the latest added first. One that does not fit lets smaller ones pass.

    Args:
        items: What is remembered, in the order in which it was added.
        write: A SYSTEM message of a text, as it is stored.
        refused: Ids of the items that may not be sent.
    """
    sent, left_out, contents, used = [], [], [], 0
    for item in _in_order(items, recency, refused):
        content = write(item_text(item))
        ref = MemoryRef(item.memory_id, item.floor_id, content.tokens, _covered(item))
        over = used + content.tokens > limit
        if over or item.memory_id in refused:
            left_out.append(replace(ref, why=REFUSED if item.memory_id in refused else OVER_BUDGET))
            continue
        used += content.tokens
        sent.append(ref)
        contents.append(content)
    facts = tuple(fact for content in contents for fact in content.facts)
    return MemoryBlock(b"".join(c.blob for c in contents), facts, tuple(sent), tuple(left_out))


def _in_order(items: Sequence[MemoryItem], recency: Mapping[str, int], refused: Set[str]) -> list[MemoryItem]:
    ranked = sorted(
        (-item.importance, -recency.get(item.floor_id, 0), -place) for place, item in enumerate(items)
    )
    ordered = [items[-place] for *_, place in ranked]
    covering = max((item for item in ordered if item.memory_id not in refused), key=_covered, default=None)
    if covering is None or not _covered(covering):
        return ordered
    return [covering, *(item for item in ordered if item is not covering)]


def item_text(item: MemoryItem) -> str:
    """An item as the model reads it; what no client of this service wrote says so."""
    doubt = "" if item.trust == TRUSTED else ", unverified"
    key = f"{item.fact_key}: " if item.fact_key else ""
    return f"{_WORDS[item.kind]}{doubt}: {key}{item.text}"


def _covered(item: MemoryItem) -> int:
    return item.covers_depth if item.kind is MemoryKind.SUMMARY else 0
