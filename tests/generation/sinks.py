"""A sink that keeps what it was given, and can be told to fail."""

from collections.abc import Sequence
from dataclasses import replace

from kernel.generation.events import RequiresAction
from kernel.generation.provider import FailureReason
from kernel.generation.sink import PageDraft
from kernel.tree.model import Branch, Floor, FloorState, Page
from tests.generation.builders import branch, floor, page


class RecordingSink:
    """Ends a floor as a service would, in memory.

    Attributes:
        calls: What was asked, in order, with the draft.
        complete_error: Raised by `complete`, when set.
        fail_errors: Raised by `fail`, one for each call, until there are none left.
        paused: What the run was left to wait for.
        found: The floor as `fail` finds it, when somebody else has ended it.
    """

    def __init__(self) -> None:
        self.calls: list[tuple[str, PageDraft]] = []
        self.complete_error: Exception | None = None
        self.fail_errors: list[Exception] = []
        self.found: Floor | None = None
        self.paused: list[tuple[RequiresAction, ...]] = []

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.calls]

    @property
    def draft(self) -> PageDraft:
        return self.calls[-1][1]

    async def complete(self, draft: PageDraft) -> tuple[Page, Floor, Branch]:
        self.calls.append(("complete", draft))
        if self.complete_error is not None:
            raise self.complete_error
        return page(draft.text), floor(FloorState.COMMITTED), branch()

    async def keep_page(self, draft: PageDraft) -> Page:
        self.calls.append(("keep_page", draft))
        return page(draft.text, partial=draft.partial)

    async def hold(self, chosen: Page, drafts: Sequence[PageDraft]) -> Floor:
        self.calls.append(("hold", drafts[0]))
        return replace(floor(FloorState.OPEN), output=chosen)

    async def pause(
        self, actions: Sequence[RequiresAction], failed: Sequence[str], drafts: Sequence[PageDraft]
    ) -> bool:
        self.paused.append(tuple(actions))
        return True

    async def cancelled(self, drafts: Sequence[PageDraft], keep: bool) -> tuple[Floor, Branch | None]:
        (draft,) = drafts
        self.calls.append((f"cancelled keep={keep}", draft))
        if keep and not draft.empty:
            return floor(FloorState.COMMITTED), branch()
        return floor(FloorState.FAILED, "CANCELLED"), None

    async def fail(self, drafts: Sequence[PageDraft], reason: FailureReason) -> Floor:
        self.calls.append((f"fail {reason}", drafts[0]))
        if self.fail_errors:
            raise self.fail_errors.pop(0)
        return self.found or floor(FloorState.FAILED, reason)
