"""Frozen copies of a session at a floor, or of a project, and the digest that names one.

A digest is over content alone, like those of pages and floors: two sources that say the same have the same
snapshot, whatever their ids. The golden vector is in `tests/unit/test_snapshots.py`.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from hashlib import sha256

from kernel.errors import DataLoss
from kernel.prompt.config import Config
from kernel.prompt.config_text import config_text
from kernel.state.model import MemoryItem, State, Value
from kernel.state.text import state_text
from kernel.strict_json import dumps
from kernel.tree.digest import ABSENT, ROOT_DIGEST, effects_hold, page_holds, sealed_digest
from kernel.tree.model import Floor, Page
from kernel.verbs.state_store import LiveLayer


@dataclass(frozen=True, slots=True)
class Versions:
    """Of configuration and live values as their answers name them, and the integers of the two layers of
    configuration; a project by itself has no session's: 0."""

    config_version: str
    live_version: str
    project_version: int
    session_version: int = 0


@dataclass(frozen=True, slots=True)
class Base:
    """Where path and state end. `source_floor_id` is the floor that was named: the base itself, or for a
    reply its child, whose input page is `Snapshot.input`."""

    floor_id: str
    digest: bytes
    depth: int
    source_floor_id: str
    path_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A snapshot but for the floors of its path.

    `config` is what was effective, without endpoints; `own_endpoints` the paths of the models that had one.
    `state` is the path's at the base. A project has no base, no session's values and no state. `floor_count`
    is that of the path, 0 without history.
    """

    project_id: str
    session_id: str
    title: str
    config: Config
    versions: Versions
    state: State
    session_live: LiveLayer
    project_live: LiveLayer
    base: Base | None = None
    input: Page | None = None
    floor_count: int = 0
    own_endpoints: tuple[str, ...] = ()

    @property
    def has_history(self) -> bool:
        return self.floor_count > 0


def snapshot_digest(snapshot: Snapshot) -> bytes:
    """sha256 over `stemma.snapshot.1` and five digests of 32 bytes: the configuration's canonical text, the
    state's text without its ids, the live values' text, the input page's digest and the path's, which is
    that of its last floor. Zeros for what is absent, the path also where it is left out or has no floor.
    """
    path = snapshot.base.digest if snapshot.base and snapshot.has_history else ABSENT
    return sha256(
        b"stemma.snapshot.1"
        + sha256(config_text(snapshot.config).encode()).digest()
        + sha256(state_text(_without_ids(snapshot.state)).encode()).digest()
        + sha256(_live_text(snapshot).encode()).digest()
        + (snapshot.input.digest if snapshot.input else ABSENT)
        + path
    ).digest()


def _live_text(snapshot: Snapshot) -> str:
    """The pairs of key and value by key, the session's and the project's."""
    return dumps(
        [
            [[row.key, row.value_json] for row in layer.values]
            for layer in (snapshot.session_live, snapshot.project_live)
        ]
    )


def _without_ids(state: State) -> State:
    """An item of memory keeps its own id, which says what it is; ids of floors and messages go."""
    return State(
        {key: Value(value.value_json, "") for key, value in state.variables.items()},
        state.deleted,
        {memory_id: _bare(item) for memory_id, item in state.memory.items()},
        {key: Value(value.value_json, "") for key, value in state.slots.items()},
    )


def _bare(item: MemoryItem) -> MemoryItem:
    return replace(item, covers_floor_id="", floor_id="", message_id="", added_floor_id="")


def check_snapshot(snapshot: Snapshot, digest: bytes, path: Iterable[Floor]) -> None:
    """Holds a received snapshot, whole, to the digest that it was given. DATA_LOSS when it is another.

    Every page, every effect and every floor of the path is digested again; `path` may be an iterator.
    """
    if snapshot.input is not None:
        _check_page(snapshot.input)
    check = PathCheck()
    for floor in path:
        check.add(floor)
    check.end(snapshot)
    if snapshot_digest(snapshot) != digest:
        raise mismatch()


class PathCheck:
    """A path that is checked floor by floor, as it comes: without the root, the first floor first."""

    def __init__(self) -> None:
        self._above, self._count = ROOT_DIGEST, 0

    def add(self, floor: Floor) -> None:
        """DATA_LOSS for what does not say what its digests say, or does not follow the floor before."""
        for page in floor.pages:
            _check_page(page)
        if floor.effects is not None and not effects_hold(floor.effects.blob, floor.effects.digest):
            raise mismatch()
        self._count += 1
        if floor.place.depth != self._count or sealed_digest(self._above, floor) != floor.digest:
            raise mismatch()
        self._above = floor.digest

    def end(self, snapshot: Snapshot) -> None:
        """DATA_LOSS unless the path is the snapshot's, from its first floor to its last."""
        if self._count != snapshot.floor_count:
            raise mismatch()
        if snapshot.base is not None and snapshot.has_history and self._above != snapshot.base.digest:
            raise mismatch()


def _check_page(page: Page) -> None:
    if not page_holds(page.slot, page.partial, page.content.blob, page.digest):
        raise mismatch()


def mismatch() -> DataLoss:
    return DataLoss("DIGEST_MISMATCH", "A snapshot is not what its digest says: fetch it again.")
