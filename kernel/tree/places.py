"""Where floors sit.

A path could be stored as parents and walked with one lookup a turn. Instead a floor sits at
(segment, depth): a segment is an unforked run of floors that hangs on one floor of another
segment. The first child of a floor continues its segment; every later one opens a segment. So a
path is a *chain* of a few segments, each with the depth at which the path leaves it, and what lies
on other branches is never touched.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from kernel.tree.model import Place


@dataclass(frozen=True, slots=True)
class ChildPlace:
    """The place of a new floor, and its ordinal among its parent's children."""

    place: Place
    ordinal: int
    opens_segment: bool


@dataclass(frozen=True, slots=True)
class Link:
    """One segment of a chain, and the floors of it that are on the path, by depth."""

    segment: int
    first: int
    last: int

    def holds(self, place: Place) -> bool:
        return self.segment == place.segment and self.first <= place.depth <= self.last


@dataclass(frozen=True, slots=True)
class Segment:
    """Where a segment hangs; the root's hangs nowhere."""

    segment: int
    parent_segment: int | None
    parent_depth: int | None


Chain = Sequence[Link]
"""The segments of a path, from the root's on."""


def first_child(parent: Place) -> ChildPlace:
    return ChildPlace(Place(parent.segment, parent.depth + 1), 0, opens_segment=False)


def later_child(parent: Place, hanging: int, next_segment: int) -> ChildPlace:
    """`hanging`: how many segments hang on the parent already."""
    return ChildPlace(Place(next_segment, parent.depth + 1), 1 + hanging, opens_segment=True)


def on_path(chain: Chain, place: Place) -> bool:
    return any(link.holds(place) for link in chain)


def clipped(chain: Chain, first: int, last: int) -> list[Link]:
    """The part of a path between two depths."""
    return [
        Link(link.segment, max(first, link.first), min(last, link.last))
        for link in chain
        if max(first, link.first) <= min(last, link.last)
    ]


def left_behind(leaving: Chain, entering: Chain) -> list[Link]:
    """The parts of a path that a head leaves, from below the common ancestor down to its leaf.

    One row for each of them, holding the leaf, is what a later return needs (T6): the leaf last
    left below a floor at depth d of segment s is the newest row of s with `last` >= d.
    """
    entered = {link.segment: link.last for link in entering}
    return [link for link in leaving if entered.get(link.segment, -1) < link.last]
