"""The contract of the store for what models were sent; see `store.py`."""

from typing import Protocol

from kernel.prompt.record import PromptRecord


class PromptReads(Protocol):
    async def prompt(self, floor_id: str) -> PromptRecord | None:
        """What the model that wrote the floor was sent; None when no model did. DATA_LOSS when a block
        is gone or fails its digest."""


class PromptWrites(Protocol):
    async def insert_prompt(self, record: PromptRecord) -> None:
        """For each run of a floor, with the row that says so; the latest one's is kept. Blocks that the
        session has already are not stored again."""
