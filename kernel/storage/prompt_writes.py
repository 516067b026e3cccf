"""What models were sent: writing."""

import json
from typing import Any

from kernel.prompt.memory import NO_MEMORY, MemoryBlock
from kernel.prompt.record import Block, PromptRecord, memory_items
from kernel.storage import tables as t
from kernel.storage.rows import pack_facts
from kernel.storage.writes import Writes
from kernel.tree.model import PageContent


class PromptWrites(Writes):
    async def insert_prompt(self, record: PromptRecord) -> None:
        system = Block(record.system) if record.system is not None else None
        memory = _memory_block(record.memory)
        for block in (system, memory):
            if block is not None:
                values = _block_values(block)
                statement = self.upsert(t.prompt_block).values(
                    tenant_id=self._tenant, session_id=record.session_id, **values
                )
                await self._run(statement.on_conflict_do_nothing())
        values = {
            "session_id": record.session_id,
            "floor_id": record.floor_id,
            "system_digest": system and system.digest,
            "memory_digest": memory and memory.digest,
            "dropped": record.dropped,
            "missing": json.dumps(record.missing) if record.missing else "",
            "options": record.options,
            "token_counter": record.token_counter,
            "config_version": record.config_version,
            "live_version": record.live_version,
            "tokens_abandoned": record.tokens_abandoned,
            "context_digest": bytes.fromhex(record.context_digest),
        }
        statement = self.upsert(t.prompt).values(tenant_id=self._tenant, **values)
        # A floor that was held may be written again: what its latest run was sent is kept.
        keys = ["tenant_id", "session_id", "floor_id"]
        await self._run(statement.on_conflict_do_update(index_elements=keys, set_=values))


def _memory_block(memory: MemoryBlock) -> Block | None:
    if memory == NO_MEMORY:
        return None
    return Block(PageContent(memory.blob, memory.facts), memory_items(memory))


def _block_values(block: Block) -> dict[str, Any]:
    return {
        "digest": block.digest,
        "blob": block.content.blob,
        "facts": pack_facts(block.content.facts),
        "items": block.items,
    }
