"""What a model was sent, kept with the floor that it wrote (C4). Pure.

Pages never change, so a record names none of them: which turns left is enough to find the rest again on
the floor's path. What pages do not hold (the system prompt and the memory as they were rendered) is kept
as blocks, each stored once a session.
"""

from dataclasses import dataclass
from hashlib import sha256

from kernel.prompt.config import Config, without_keys
from kernel.prompt.config_text import config_text
from kernel.prompt.memory import NO_MEMORY, MemoryBlock, MemoryRef
from kernel.strict_json import dumps
from kernel.tree.model import PageContent


@dataclass(frozen=True, slots=True)
class PromptRecord:
    """Everything from which a context and its explanation are rebuilt, whatever has changed since.

    `options` is the text of a configuration that holds the model's parameters and the budget alone.
    `dropped` counts the oldest turns that left; `context_digest` proves the rebuilt context.
    """

    session_id: str
    floor_id: str
    system: PageContent | None
    memory: MemoryBlock
    dropped: int
    missing: tuple[str, ...]
    options: str
    token_counter: str
    config_version: str
    live_version: str
    tokens_abandoned: int
    context_digest: str


def options_text(config: Config) -> str:
    """The part of an effective configuration that decides how a context is used and trimmed."""
    return config_text(without_keys(Config(model=config.model, budget=config.budget)))


@dataclass(frozen=True, slots=True)
class Block:
    """A system prompt or a memory as it is stored: `items` is JSON text, empty for a system prompt."""

    content: PageContent
    items: str = ""

    @property
    def digest(self) -> bytes:
        """By which equal blocks are one; the counts are part of it, as a tokenizer may change."""
        counts = ",".join(str(fact.tokens) for fact in self.content.facts)
        head = f"stemma.block.1 {len(self.content.blob)} {len(self.items)} {counts}\n"
        return sha256(head.encode() + self.content.blob + self.items.encode()).digest()


def memory_items(memory: MemoryBlock) -> str:
    """The items of a memory as text; empty for none."""
    return dumps([_refs(memory.sent), _refs(memory.left_out)]) if memory != NO_MEMORY else ""


def memory_of(content: PageContent, items: list[list[list[str | int]]]) -> MemoryBlock:
    """The memory that `memory_items` wrote the items of."""
    sent, left_out = (tuple(_ref(*values) for values in refs) for refs in items)
    return MemoryBlock(content.blob, content.facts, sent, left_out)


def _refs(refs: tuple[MemoryRef, ...]) -> list[list[str | int]]:
    return [[ref.memory_id, ref.floor_id, ref.tokens, ref.covers_depth, ref.why] for ref in refs]


def _ref(
    memory_id: str | int, floor_id: str | int, tokens: str | int, covers: str | int, why: str | int
) -> MemoryRef:
    return MemoryRef(str(memory_id), str(floor_id), int(tokens), int(covers), str(why))
