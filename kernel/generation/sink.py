"""Where a run's output goes. The runner knows no storage: the service gives it a sink."""

from dataclasses import dataclass
from typing import Protocol

from kernel.generation.provider import FailureReason
from kernel.tree.model import Branch, Floor, Page, Usage


@dataclass(frozen=True, slots=True)
class OutputDraft:
    """What the provider wrote. `usage` is None when it gave no count; `partial`: it was cut off."""

    text: str
    reasoning: str
    usage: Usage | None
    partial: bool

    @property
    def empty(self) -> bool:
        """No text worth a page."""
        return not self.text.strip()


class RunSink(Protocol):
    """Makes the end of one run durable. Exactly one of these ends a run; each returns when its row
    is durable, and retries by itself what a retry can cure.

    A sink raises when the end could not be made durable or its outcome is not known. The runner then
    calls `fail` once, also after a `fail` that raised: it must be safe to repeat, change nothing on a
    floor that is no longer pending, and return the floor as it is then.
    """

    async def complete(self, draft: OutputDraft) -> tuple[Page, Floor, Branch]:
        """Seals the output and commits the floor. `draft` is whole and not empty."""
        ...

    async def cancelled(self, draft: OutputDraft, keep: bool) -> tuple[Floor, Branch | None]:
        """Ends a cancelled run: with `keep`, and when `draft` is not empty, commits it as a partial
        page; otherwise fails the floor with the partial page readable, and gives no branch if none
        changed. A floor that was abandoned meanwhile is returned as it is."""
        ...

    async def fail(self, draft: OutputDraft, reason: FailureReason) -> Floor:
        """Fails the floor, with the partial page when `draft` is not empty. Returns it."""
        ...
