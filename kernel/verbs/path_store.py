"""The contract of the store for paths as they are shown: rows that become bytes without values in between."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from kernel.tree.digest import fails_its_digest, page_holds
from kernel.tree.model import Floor, FloorOutline, MessageFacts, Place, Slot, Usage
from kernel.tree.places import Chain, Link
from kernel.tree.positions import Sibling
from kernel.verbs.prefix_store import PrefixReads
from kernel.verbs.records import Project, Session, Tip
from kernel.verbs.state_store import LiveLayer, Written

# A floor as the engine gives it: segment, depth, floor id, ordinal, digest, path tokens, principal; then for
# the input and for the output: page id, facts, blob, digest, tokens, source; then `more`; then its times.
# A page that is not there is None throughout. `more` is None for a plain floor: committed below another one
# and by no run, with no effects, its pages whole and its own.
PathRow = Sequence[Any]


class Few(NamedTuple):
    """Where the pages were first written, if elsewhere; the run that wrote the floor, and its usage."""

    input_floor_id: str | None = None
    output_floor_id: str | None = None
    run_id: str | None = None
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class PathRows:
    """Floors of a path, by depth, and what reads them.

    `text`: of an id. `times`: of what stands behind `more`, the floor's creation, its pages' (the same
    where there is no page), and its commit, in microseconds since `epoch`, which is in seconds since 1970.
    `few`: what `more` says of a floor that is not plain, but has nothing else; else None, and `floor` is
    the value of the row, without its mark; raises DATA_LOSS as `ReadTx.path` does.
    """

    rows: Sequence[PathRow]
    text: Callable[[Any], str]
    times: Callable[[Any], tuple[int, ...]]
    epoch: int
    few: Callable[[str], Few | None]
    floor: Callable[[PathRow], Floor]


@dataclass(frozen=True, slots=True)
class ContextRows:
    """Floors of a path as far as a context needs them, by depth; `text` reads an id, `facts` facts.

    A row: depth, floor id, then for the input and for the output: page id, facts, bytes of the body, the
    body, digest, and whether the page is partial. A page that is not there is None throughout.
    """

    rows: Sequence[PathRow]
    text: Callable[[Any], str]
    facts: Callable[[bytes], tuple[MessageFacts, ...]]


@dataclass(frozen=True, slots=True)
class Basis:
    """What a context starts from, all of one moment. `end` is the tip's floor without its bodies."""

    tip: Tip
    session: Session
    project: Project
    end: Floor


# More than any body has.
MAX_BODY = 2**31 - 1
# Places in a context row: of page ids, and behind them.
_SIDES = ((Slot.INPUT, 2), (Slot.OUTPUT, 8))
_BODY, _DIGEST, _PARTIAL = 3, 4, 5


def bodies(found: ContextRows) -> dict[str, bytes]:
    """By page id, those that were read. DATA_LOSS for one that fails its digest."""
    read = {}
    for row in found.rows:
        for slot, at in _SIDES:
            blob = row[at + _BODY]
            if blob is not None:
                page_id = found.text(row[at])
                if not page_holds(slot, bool(row[at + _PARTIAL]), blob, row[at + _DIGEST]):
                    raise fails_its_digest(page_id)
                read[page_id] = blob
    return read


class ContextReads(PrefixReads, Protocol):
    """What a context is made of, as `ReadTx` has it."""

    async def project(self, project_id: str) -> Project | None: ...

    async def since_copy(self, floor: Floor) -> tuple[str, list[Written]]: ...

    async def live_layers(self, *owner_ids: str) -> dict[str, LiveLayer]: ...

    async def path_outline(
        self, session_id: str, place: Place, first: int, last: int
    ) -> list[FloorOutline]: ...

    async def path_bodies(self, session_id: str, place: Place, first: int, last: int) -> dict[str, bytes]: ...


class PathSource(Protocol):
    """Reads that touch nothing but what lies on the path, whatever branches there are."""

    async def tip(self, session_id: str, branch: str, floor_id: str) -> Tip | None:
        """Of the committed floor that is named, or of the branch's head with the branch's pending floor.
        None when one of them is not there, or the floor is not committed."""

    async def chain(self, session_id: str, place: Place) -> list[Link]:
        """The segments from the root's to the place's, cut at it."""

    async def path_rows(self, session_id: str, links: Chain, most: int) -> PathRows:
        """The floors at those places. Bodies are not checked against their digests: who shows them does.
        A body of more than `most` bytes is None, though its page is there: so a path of large pages is
        not read at once.
        """

    async def context_rows(self, session_id: str, links: Chain, most: int) -> ContextRows:
        """As `path_rows`; with `most` 0 no bodies are read."""

    async def path_bodies(self, session_id: str, place: Place, first: int, last: int) -> dict[str, bytes]:
        """The bodies of the floors of the path to `place` between two depths, by page id. DATA_LOSS for
        one that fails its digest."""

    async def basis(self, session_id: str, branch: str, floor_id: str) -> Basis | None:
        """As `tip`, with what belongs to it."""

    async def siblings_at_forks(self, session_id: str, links: Chain) -> list[tuple[str, Sibling]]:
        """The committed children, as (parent floor id, sibling), of those of the floors at those places
        that have more than one child, of whatever state."""
