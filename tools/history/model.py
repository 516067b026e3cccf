"""A history: what clients asked for and were told; and a dump: everything that is there afterwards.

Both are JSON lines. **History**: a line for each call when it is about to be sent, flushed before it is, and
the same line completed when it is over; the later line of an `op` counts, so a history that was cut off
says `unknown` of what was under way. **Dump**: one row a line, `{"row": "floors", …}`, named as the fields of
`Dump` are.

`invoked` and `returned` come from one counter, so of two calls the one that returned before the other was
invoked is known to be the earlier. There are no times: nothing here may depend on a clock (T9).

Digests are lowercase hex sha256. `input` and `output` are digests of what a caller said on one side of a
turn (`tools.history.content`); empty for an absent side. Clients never say the same thing twice, except in a
repeat of one request: so a floor tells which request made it.

A dump must hold everything that is in the database, and the history everything that was asked of it: what
nobody asked for is a violation. It is read when nothing is under way any more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

Outcome = Literal["ok", "fail", "unknown"]

# What a caller who was told this does not know: whether it happened. The empty reason is an error of the
# transport, which has none.
AMBIGUOUS = frozenset({"", "UNAVAILABLE", "DEADLINE_EXCEEDED", "CANCELLED", "INTERNAL", "UNKNOWN"})
# Refusals at the door, before anything was looked up: a repeat may meet them, too.
AT_THE_DOOR = frozenset({"OVERLOADED", "QUOTA"})

OPEN, COMMITTED, FAILED = "open", "committed", "failed"


@dataclass(frozen=True, slots=True)
class Answer:
    """What an `ok` call was told. Empty where the method's answer has no such field.

    `raw` is the digest of the answer's bytes: those of a repeat are equal. `head_floor_id`,
    `pending_floor_id` and `version` are the branch's; `page_id` is the page that AddPage made.
    """

    session_id: str = ""
    floor_id: str = ""
    parent_floor_id: str = ""
    digest: str = ""
    state: str = ""
    depth: int = 0
    input: str = ""
    output: str = ""
    page_id: str = ""
    head_floor_id: str = ""
    pending_floor_id: str = ""
    version: int = 0
    raw: str = ""


@dataclass(frozen=True, slots=True)
class Operation:
    """One call. `method` is its short name (`AppendFloor`); a retry is a call of its own.

    What was asked: `fingerprint` is over the whole request without its `request_id`; `floor_id` and
    `page_id` are those that it names; `abandon` is `on_pending` ABANDON. What came of it: `returned` is
    None and `outcome` unknown until it is over; `reason` is the ErrorInfo's (or the status code's name when
    there is none); `current_head` the one that HEAD_MOVED told.
    """

    op: int
    client: str
    method: str
    request_id: str
    fingerprint: str
    invoked: int
    tenant: str = "local"
    session_id: str = ""
    branch: str = ""
    floor_id: str = ""
    page_id: str = ""
    input: str = ""
    output: str = ""
    expected_head: str = ""
    abandon: bool = False
    returned: int | None = None
    outcome: Outcome = "unknown"
    reason: str = ""
    current_head: str = ""
    answer: Answer | None = None

    @property
    def acknowledged(self) -> bool:
        return self.outcome == "ok"

    @property
    def refused(self) -> bool:
        """It was told that nothing happened."""
        return self.outcome == "fail" and self.reason not in AMBIGUOUS


@dataclass(frozen=True, slots=True)
class SessionRow:
    session_id: str
    project_id: str
    root_floor_id: str
    tenant: str = "local"


@dataclass(frozen=True, slots=True)
class PageRow:
    """A version of an opened floor's output. `content` is the digest of what it says."""

    page_id: str
    floor_id: str
    content: str


@dataclass(frozen=True, slots=True)
class FloorRow:
    """`state` is open, generating, committed or failed; `digest` empty until the commit."""

    session_id: str
    floor_id: str
    parent_floor_id: str
    state: str
    depth: int
    ordinal: int
    digest: str = ""
    input: str = ""
    output: str = ""
    output_page_id: str = ""
    principal: str = ""


@dataclass(frozen=True, slots=True)
class BranchRow:
    """`path` is what ListPath showed: floor ids, oldest first, without the root."""

    session_id: str
    name: str
    head_floor_id: str
    pending_floor_id: str
    version: int
    path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MoveRow:
    """One head move. The moves of a branch stand in the order in which they happened."""

    session_id: str
    branch: str
    from_floor_id: str
    to_floor_id: str
    kind: str


@dataclass(frozen=True, slots=True)
class RequestRow:
    """The record of one request: what it was, and what it was answered with."""

    method: str
    request_id: str
    fingerprint: str
    tenant: str = "local"
    principal: str = "local"
    session_id: str = ""
    floor_id: str = ""
    floor_state: str = ""
    page_id: str = ""
    branch: str = ""
    head_floor_id: str = ""
    version: int = 0


@dataclass(frozen=True, slots=True)
class EventRow:
    """One fact of a project's feed; the last four are those of its payload, for a move or a commit."""

    project_id: str
    position: int
    event_id: str
    type: str
    session_id: str = ""
    floor_id: str = ""
    branch: str = ""
    from_floor_id: str = ""
    to_floor_id: str = ""
    kind: str = ""
    tenant: str = "local"


@dataclass(frozen=True, slots=True)
class FeedRow:
    """`last` is the position of the feed's last event."""

    project_id: str
    last: int
    tenant: str = "local"


@dataclass(slots=True)
class Dump:
    """Everything that is there. Only `moves` has an order: see there."""

    sessions: list[SessionRow] = field(default_factory=list)
    floors: list[FloorRow] = field(default_factory=list)
    pages: list[PageRow] = field(default_factory=list)
    branches: list[BranchRow] = field(default_factory=list)
    moves: list[MoveRow] = field(default_factory=list)
    requests: list[RequestRow] = field(default_factory=list)
    events: list[EventRow] = field(default_factory=list)
    feeds: list[FeedRow] = field(default_factory=list)


Rule = Literal["T1", "T3", "T9", "R1", "R2", "R3", "C3"]


@dataclass(frozen=True, slots=True)
class Violation:
    """A promise that was broken: `operations` are the ids of the calls concerned, the one to blame first;
    `at` its `invoked`, beyond every call's when no call is concerned; `text` says what was expected."""

    rule: Rule
    operations: tuple[int, ...]
    at: int
    text: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """`violations` in the order of `at`. Counts are of calls, but `lost` is of acknowledged requests that
    left no effect or another one; `happened` of unknown calls whose request took effect."""

    violations: tuple[Violation, ...]
    acknowledged: int
    refused: int
    unknown: int
    happened: int
    lost: int

    @property
    def passed(self) -> bool:
        return not self.violations

    @property
    def first(self) -> Violation | None:
        return self.violations[0] if self.violations else None

    def lines(self) -> Iterator[str]:
        """For people: the verdict, the counts, and the first violations."""
        many = f"{len(self.violations)} violation{'s' * (len(self.violations) > 1)}, the first one first"
        yield f"history: {'the promises hold' if self.passed else many}"
        yield (
            f"{self.acknowledged} acknowledged, {self.refused} refused, {self.unknown} unknown"
            f" ({self.happened} of them happened), {self.lost} lost"
        )
        for violation in self.violations[:10]:
            calls = ", ".join(map(str, violation.operations)) or "none"
            yield f"{violation.rule}: {violation.text} [operations: {calls}]"
