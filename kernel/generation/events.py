"""What a run tells those who watch it. Plain values: the rpc layer turns them into frames."""

from dataclasses import dataclass
from enum import StrEnum

from kernel.generation.provider import FailureReason
from kernel.tree.message import ToolCall, ToolResult
from kernel.tree.model import Branch, Floor, Page


@dataclass(frozen=True, slots=True)
class Started:
    """Always the first. `context_digest` is of exactly what the model is sent, lowercase hex."""

    context_digest: str
    tokens_in: int
    left_out_count: int
    # Irreversible calls of the floor that is regenerated: they stand.
    standing: tuple[ToolCall, ...] = ()


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
class ToolCalled:
    """The model calls a tool; recorded, and not acted on yet. `call_id` is unique within the run."""

    page_id: str
    call: ToolCall


@dataclass(frozen=True, slots=True)
class ToolAnswered:
    """What the model is told of a call; recorded."""

    page_id: str
    result: ToolResult


class ActionKind(StrEnum):
    """What a waiting call waits for."""

    RESULT = "result"
    APPROVAL = "approval"


@dataclass(frozen=True, slots=True)
class RequiresAction:
    """The run waits, durably, for these calls; nothing of it runs."""

    calls: tuple[ToolCall, ...]
    kind: ActionKind


@dataclass(frozen=True, slots=True)
class PageCompleted:
    """The page as it is stored: a candidate, or the page of the FloorCommitted that comes right after."""

    page: Page


@dataclass(frozen=True, slots=True)
class Reset:
    """What was shown of the run so far is replaced by these pages."""

    pages: tuple[Page, ...]


@dataclass(frozen=True, slots=True)
class Held:
    """Last: the floor is OPEN, and its output pages wait for somebody to choose."""

    floor: Floor


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


RunEvent = (
    Started
    | TextDelta
    | ReasoningDelta
    | ToolCalled
    | ToolAnswered
    | RequiresAction
    | PageCompleted
    | Reset
    | FloorCommitted
    | Held
    | Failed
    | Cancelled
)


def is_last(event: RunEvent) -> bool:
    return isinstance(event, FloorCommitted | Held | Failed | Cancelled)


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """Where a frame stands: `seq` grows by one from 1 within an epoch. Nothing stands at 0."""

    epoch: int = 0
    seq: int = 0

    def __str__(self) -> str:
        return f"{self.epoch}.{self.seq}"


NOWHERE = Position()


@dataclass(frozen=True, slots=True)
class Frame:
    """An event at its position."""

    epoch: int
    seq: int
    event: RunEvent

    @property
    def position(self) -> Position:
        return Position(self.epoch, self.seq)
