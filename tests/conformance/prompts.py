"""Records of what models were sent, for the conformance suite."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kernel.prompt.memory import MemoryBlock, MemoryRef
from kernel.prompt.record import PromptRecord
from kernel.tree.model import Floor

if TYPE_CHECKING:
    from tests.conformance.world import World


def record(world: World, floor: Floor, text: str = "a prompt") -> PromptRecord:
    """With a system prompt, a memory of two items one of which was left out, and every other field set."""
    from tests.conformance.world import content

    system = content(f"{text} {world.mark}")
    remembered = content(f"remembered {world.mark}")
    sent = MemoryRef("m1", world.root.floor_id, remembered.tokens, 7)
    left_out = MemoryRef("m2", world.root.floor_id, 9, why="memory_budget")
    memory = MemoryBlock(remembered.blob, remembered.facts, (sent,), (left_out,))
    return PromptRecord(
        session_id=floor.session_id,
        floor_id=floor.floor_id,
        system=system,
        memory=memory,
        dropped=1,
        missing=("a name", "naïve"),
        options='{"budget":{"max_input_tokens":9}}',
        token_counter="estimate",
        config_version="project.1/session.2",
        live_version="project.3/session.4",
        tokens_abandoned=2**40,
        context_digest="ab" * 32,
    )


def bare(record: PromptRecord) -> PromptRecord:
    """With nothing before the path."""
    return replace(record, system=None, memory=MemoryBlock(), missing=())
