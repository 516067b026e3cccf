"""Where each floor of a session is drawn. Pure, and without recursion: trees may be deep.

The path of the branch that is looked at goes straight down; every other child of a floor is drawn to its
right, below it, with all that follows it. Long unforked runs are shortened to their ends.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from stemma.kernel.v1 import floor_pb2

# Of a run without a fork, this many stay at each end; shorter ones stay whole.
_KEEP = 3
_MAX_INDENT = 24

ACTIVE, LIVE, ABANDONED = "active", "live", "abandoned"


@dataclass(frozen=True, slots=True)
class Line:
    """One floor (`floor`), or a run of `hidden` turns that are not drawn. `prefix` is what stands before."""

    prefix: str
    floor: floor_pb2.Floor | None
    hidden: int
    # ACTIVE: on the path of the branch that is looked at; LIVE: on another branch's; ABANDONED: on none.
    standing: str
    # Names of the branches whose head, pending or failed floor this is.
    heads: tuple[str, ...] = ()
    pending_of: str = ""


@dataclass(slots=True)
class _Tree:
    root: floor_pb2.Floor
    children: dict[str, list[floor_pb2.Floor]]
    standing: dict[str, str]
    heads: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    pending: dict[str, str] = field(default_factory=dict)

    def main_child(self, floor: floor_pb2.Floor) -> floor_pb2.Floor | None:
        """The child that goes straight down: a branch's, else the committed one with the highest ordinal."""
        rank = {ACTIVE: 2, LIVE: 1}
        committed = [c for c in self.children[floor.floor_id] if c.state == floor_pb2.FLOOR_STATE_COMMITTED]
        return max(committed, key=lambda c: (rank.get(self.standing[c.floor_id], 0), c.ordinal), default=None)

    def plain(self, floor: floor_pb2.Floor) -> bool:
        """Whether nothing is to be seen at this floor but that the talk goes on."""
        return (
            len(self.children[floor.floor_id]) == 1
            and floor.floor_id not in self.heads
            and floor.floor_id != self.root.floor_id
        )


def lay_out(
    floors: Sequence[floor_pb2.Floor],
    branches: Iterable[floor_pb2.Branch],
    *,
    branch: str,
    whole: bool = False,
) -> list[Line]:
    """The lines from top to bottom; with `whole` no run is shortened. `floors` is all of GetTree."""
    tree = _build(floors, branches, branch)
    lines: list[Line] = []
    # Each entry is the beginning of a downward line: its floor, and the prefixes of its first line and of
    # those that follow.
    waiting: list[tuple[floor_pb2.Floor, str, str]] = [(tree.root, "", "")]
    while waiting:
        start, first, rest = waiting.pop()
        _run_down(tree, start, first, rest, lines, waiting, whole)
    return lines


def _run_down(
    tree: _Tree,
    start: floor_pb2.Floor,
    first: str,
    rest: str,
    lines: list[Line],
    waiting: list[tuple[floor_pb2.Floor, str, str]],
    whole: bool,
) -> None:
    """Draws from `start` down to the next fork or the end, and puts what follows on `waiting`."""
    run = [start]
    while len(tree.children[run[-1].floor_id]) == 1:
        only = tree.main_child(run[-1])
        if only is None:
            break
        run.append(only)
    for index, drawn in enumerate(_shortened(tree, run, whole)):
        lines.append(_line(tree, drawn, first if index == 0 else rest))
    end = run[-1]
    below = tree.main_child(end)
    sides = [child for child in tree.children[end.floor_id] if child is not below]
    if below is not None:
        waiting.append((below, rest, rest))
    for index, side in enumerate(reversed(sides)):
        last = index == 0 and below is None
        waiting.append((side, _deeper(rest, "└─" if last else "├─"), _deeper(rest, "  " if last else "│ ")))


def _deeper(rest: str, turn: str) -> str:
    return rest[: 2 * _MAX_INDENT] + turn


def _shortened(
    tree: _Tree, run: list[floor_pb2.Floor], whole: bool
) -> list[floor_pb2.Floor | list[floor_pb2.Floor]]:
    """The run with each long stretch of plain floors in one list."""
    drawn: list[floor_pb2.Floor | list[floor_pb2.Floor]] = []
    stretch: list[floor_pb2.Floor] = []

    def close() -> None:
        if whole or len(stretch) <= 2 * _KEEP + 1:
            drawn.extend(stretch)
        else:
            drawn.extend(stretch[:_KEEP])
            drawn.append(stretch[_KEEP:-_KEEP])
            drawn.extend(stretch[-_KEEP:])
        stretch.clear()

    for floor in run:
        if tree.plain(floor):
            stretch.append(floor)
        else:
            close()
            drawn.append(floor)
    close()
    return drawn


def _line(tree: _Tree, drawn: floor_pb2.Floor | list[floor_pb2.Floor], prefix: str) -> Line:
    if isinstance(drawn, list):
        return Line(prefix, None, len(drawn), tree.standing[drawn[0].floor_id])
    floor_id = drawn.floor_id
    heads = tuple(tree.heads.get(floor_id, ()))
    return Line(prefix, drawn, 0, tree.standing[floor_id], heads, tree.pending.get(floor_id, ""))


def _build(floors: Sequence[floor_pb2.Floor], branches: Iterable[floor_pb2.Branch], looked_at: str) -> _Tree:
    by_id = {floor.floor_id: floor for floor in floors}
    children: dict[str, list[floor_pb2.Floor]] = {floor.floor_id: [] for floor in floors}
    for floor in sorted(floors, key=lambda f: f.ordinal):
        if floor.parent_floor_id in children:
            children[floor.parent_floor_id].append(floor)
    tree = _Tree(next(f for f in floors if not f.parent_floor_id), children, {})
    # The one that is looked at last, so that its mark stays.
    for branch in sorted(branches, key=lambda b: b.name == looked_at):
        tree.heads[branch.head_floor_id].append(branch.name)
        if branch.pending_floor_id:
            tree.pending[branch.pending_floor_id] = branch.name
        mark = ACTIVE if branch.name == looked_at else LIVE
        at = branch.pending_floor_id or branch.head_floor_id
        while at in by_id and tree.standing.get(at) != mark:
            tree.standing[at] = mark
            at = by_id[at].parent_floor_id
    for floor in floors:
        tree.standing.setdefault(floor.floor_id, ABANDONED)
    return tree
