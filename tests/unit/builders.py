"""Values for tests of the pure kernel."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from kernel.tree.blob import frame
from kernel.tree.digest import floor_digest, page_digest
from kernel.tree.model import (
    Floor,
    FloorState,
    MessageFacts,
    Page,
    PageContent,
    PageOutline,
    Place,
    Role,
    Slot,
)

NOW = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)


def content(*messages: bytes | str, tokens: int = 1, hidden: Sequence[int] = ()) -> PageContent:
    """Messages of any bytes, each of `tokens`; those whose index is in `hidden` are hidden."""
    frames = [frame(m.encode() if isinstance(m, str) else m) for m in messages]
    facts = tuple(MessageFacts(Role.USER, i in hidden, tokens) for i in range(len(messages)))
    return PageContent(b"".join(frames), facts)


def page(
    page_id: str,
    slot: Slot,
    held: PageContent,
    *,
    floor_id: str = "",
    partial: bool = False,
) -> Page:
    digest = page_digest(slot, partial, held.blob)
    return Page(page_id, floor_id, slot, held, digest, held.tokens, partial, "client", NOW)


def outline(page_id: str, held: PageContent) -> PageOutline:
    return PageOutline(page_id, held.facts, len(held.blob))


def floor(
    floor_id: str,
    parent: Floor | None = None,
    *,
    input: Page | None = None,
    output: Page | None = None,
) -> Floor:
    """A committed floor below `parent`, or a root."""
    below = Floor(
        floor_id=floor_id,
        session_id="session",
        parent_floor_id=parent.floor_id if parent else None,
        parent_segment=0 if parent else None,
        place=Place(0, parent.place.depth + 1 if parent else 0),
        ordinal=0,
        state=FloorState.COMMITTED,
        input=input,
        output=output,
        digest=bytes(32),
        path_tokens=0,
        usage=None,
        run_id=None,
        failure_reason="",
        principal="somebody",
        create_time=NOW,
        commit_time=NOW,
        branch="main",
    )
    if parent is not None and parent.digest is not None:
        return replace(below, digest=floor_digest(parent.digest, input, output))
    return below
