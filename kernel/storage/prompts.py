"""What models were sent: reading. A row a floor, and the blocks that it names, each once a session."""

import json
from typing import Any

from sqlalchemy import select

from kernel.errors import DataLoss
from kernel.prompt.memory import NO_MEMORY
from kernel.prompt.record import Block, PromptRecord, memory_of
from kernel.storage import tables as t
from kernel.storage.reads import Scoped
from kernel.storage.rows import unpack_facts
from kernel.tree.model import PageContent


class PromptReads(Scoped):
    async def prompt(self, floor_id: str) -> PromptRecord | None:
        row = await self.one(select(t.prompt).where(self.where(t.prompt, floor_id=floor_id)))
        if row is None:
            return None
        named = [digest for digest in (row["system_digest"], row["memory_digest"]) if digest is not None]
        query = select(t.prompt_block).where(self.where(t.prompt_block, session_id=row["session_id"]))
        found = await self.all(query.where(t.prompt_block.c.digest.in_(named))) if named else []
        blocks = {block["digest"]: _block(block) for block in found}
        if set(named) != set(blocks) or any(block.digest != digest for digest, block in blocks.items()):
            raise DataLoss(
                "DIGEST_MISMATCH", "What a model was sent fails its digest.", {"floor_id": floor_id}
            )
        return _record(row, blocks)


def _block(row: Any) -> Block:
    return Block(PageContent(row["blob"], unpack_facts(row["facts"])), row["items"])


def _record(row: Any, blocks: dict[bytes, Block]) -> PromptRecord:
    system, memory = blocks.get(row["system_digest"]), blocks.get(row["memory_digest"])
    return PromptRecord(
        session_id=row["session_id"],
        floor_id=row["floor_id"],
        system=system.content if system else None,
        memory=memory_of(memory.content, json.loads(memory.items)) if memory else NO_MEMORY,
        dropped=row["dropped"],
        missing=tuple(json.loads(row["missing"])) if row["missing"] else (),
        options=row["options"],
        token_counter=row["token_counter"],
        config_version=row["config_version"],
        live_version=row["live_version"],
        tokens_abandoned=row["tokens_abandoned"],
        context_digest=row["context_digest"].hex(),
    )
