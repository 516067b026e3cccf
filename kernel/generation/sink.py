"""Where a run's output goes. The runner knows no storage: the service gives it a sink."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from kernel.generation.events import RequiresAction
from kernel.generation.provider import FailureReason
from kernel.generation.so_far import has_content
from kernel.tree.message import Message, Text
from kernel.tree.model import Branch, Floor, Page, Usage


class RunOver(Exception):
    """The run was ended, or taken over, by somebody else: nothing more of it may be written."""


@dataclass(frozen=True, slots=True)
class PageDraft:
    """What was written of one page. `usage` is None when the provider gave no count; `partial`: it was cut
    off."""

    page_id: str
    messages: tuple[Message, ...]
    usage: Usage | None
    partial: bool

    @property
    def empty(self) -> bool:
        """Nothing worth a page."""
        return not has_content(self.messages)

    @property
    def text(self) -> str:
        return "".join(message.text for message in self.messages)

    @property
    def all_text(self) -> str:
        """With what is neither text nor a file, for an estimate of its tokens."""
        parts = [part for message in self.messages for part in message.parts]
        return "".join(part.text if isinstance(part, Text) else _words(part) for part in parts)


def _words(part: object) -> str:
    return "".join(str(getattr(part, name, "")) for name in ("name", "arguments_json", "text"))


class RunSink(Protocol):
    """Makes what becomes of one run durable. Exactly one of `complete`, `hold`, `pause`, `cancelled` and
    `fail` ends it here; each returns when its row is durable, and retries by itself what a retry can cure.

    A sink raises when the end could not be made durable or its outcome is not known. The runner then
    calls `fail` once, also after a `fail` that raised: it must be safe to repeat, change nothing on a
    floor that is no longer pending, and return the floor as it is then. RunOver: somebody else has ended
    the run or taken it over.
    """

    async def complete(self, draft: PageDraft) -> tuple[Page, Floor, Branch]:
        """Seals the output and commits the floor. `draft` is whole and not empty."""
        ...

    async def keep_page(self, draft: PageDraft) -> Page:
        """Stores a candidate of the floor; the run goes on. `draft` is not empty."""
        ...

    async def hold(self, chosen: Page, drafts: Sequence[PageDraft]) -> Floor:
        """Opens the floor for choosing, with `chosen` as its output. `drafts` are for the usage."""
        ...

    async def pause(
        self, actions: Sequence[RequiresAction], failed: Sequence[str], drafts: Sequence[PageDraft]
    ) -> bool:
        """Leaves the run WAITING, with these frames as the newest of its log. `failed` are the pages that
        were given up. False when somebody has asked for the end meanwhile: the run does not wait, and is
        interrupted."""
        ...

    async def cancelled(self, drafts: Sequence[PageDraft], keep: bool) -> tuple[Floor, Branch | None]:
        """Ends a cancelled run: with `keep`, commits the first draft that is not empty as a partial page,
        the others become versions; else fails the floor with what there is readable, and gives no branch
        if none changed. A floor that was ended meanwhile is returned as it is."""
        ...

    async def fail(self, drafts: Sequence[PageDraft], reason: FailureReason) -> Floor:
        """Fails the floor, with the partial pages of drafts that are not empty. Returns it."""
        ...
