"""On which branches places are: the way up from every head is walked once, and where two meet, not again."""

from collections.abc import Sequence

from kernel.tree.model import Place
from kernel.tree.places import Segment


class Whereabouts:
    """The paths of some heads of one session: (branch, place), the preferred branch first."""

    def __init__(self, heads: Sequence[tuple[str, Place]], segments: Sequence[Segment]) -> None:
        hangs = {
            one.segment: None
            if one.parent_segment is None or one.parent_depth is None
            else Place(one.parent_segment, one.parent_depth)
            for one in segments
        }
        # By segment: (depth that a path reaches in it, its branch), each deeper than the one before.
        self._reach: dict[int, list[tuple[int, str]]] = {}
        for branch, head in heads:
            place: Place | None = head
            while place is not None:
                reached = self._reach.setdefault(place.segment, [])
                if reached and reached[-1][0] >= place.depth:
                    break  # Above here, it is the path of a branch that came before.
                reached.append((place.depth, branch))
                place = hangs[place.segment]

    def branch_of(self, place: Place) -> str:
        """The first branch that has the place on its path; empty when none has."""
        reached = self._reach.get(place.segment, [])
        return next((branch for depth, branch in reached if depth >= place.depth), "")
