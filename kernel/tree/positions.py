"""The numbers beside a floor, as in "2/3"."""

from collections.abc import Iterable
from dataclasses import dataclass

from kernel.tree.model import Position


@dataclass(frozen=True, slots=True)
class Sibling:
    """A committed floor as far as positions need it."""

    floor_id: str
    ordinal: int
    input_page_id: str | None
    has_output: bool


def positions(siblings: Iterable[Sibling]) -> dict[str, Position]:
    """By floor id, for all committed children of one parent.

    Inputs are numbered among the distinct input pages, by lowest ordinal; outputs among the
    siblings with the same input page, by ordinal. Floors without an input count as one input.
    """
    groups: dict[str | None, list[Sibling]] = {}
    for sibling in sorted(siblings, key=lambda s: s.ordinal):
        groups.setdefault(sibling.input_page_id, []).append(sibling)
    found: dict[str, Position] = {}
    for index, (input_page_id, group) in enumerate(groups.items(), 1):
        inputs = (index, len(groups)) if input_page_id else (0, 0)
        for number, sibling in enumerate(group, 1):
            outputs = (number, len(group)) if sibling.has_output else (0, 0)
            found[sibling.floor_id] = Position(sibling.floor_id, *inputs, *outputs)
    return found
