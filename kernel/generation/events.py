"""What a run tells those who watch it. Plain values: the rpc layer turns them into frames."""

from dataclasses import dataclass

from kernel.generation.provider import FailureReason
from kernel.tree.model import Branch, Floor, Page


@dataclass(frozen=True, slots=True)
class Started:
    """Always the first. `context_digest` is of exactly what the model is sent, lowercase hex."""

    context_digest: str
    tokens_in: int
    left_out_count: int


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More of the page's text; joined, the deltas are the text."""

    page_id: str
    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """More of what the model thought."""

    page_id: str
    text: str


@dataclass(frozen=True, slots=True)
class PageCompleted:
    """The page as it is stored; comes right before FloorCommitted."""

    page: Page


@dataclass(frozen=True, slots=True)
class FloorCommitted:
    """Last: the floor is durable and the head stands on it."""

    floor: Floor
    branch: Branch


@dataclass(frozen=True, slots=True)
class Failed:
    """Last: the floor is durably FAILED. `message` is fit to be shown, and may be empty."""

    reason: FailureReason
    floor: Floor
    message: str = ""


@dataclass(frozen=True, slots=True)
class Cancelled:
    """Last: the floor is COMMITTED with a partial page, or FAILED."""

    floor: Floor
    branch: Branch | None


RunEvent = Started | TextDelta | ReasoningDelta | PageCompleted | FloorCommitted | Failed | Cancelled


def is_last(event: RunEvent) -> bool:
    return isinstance(event, FloorCommitted | Failed | Cancelled)


@dataclass(frozen=True, slots=True)
class Frame:
    """An event at its position; `seq` grows by one from 1 within an epoch."""

    epoch: int
    seq: int
    event: RunEvent
