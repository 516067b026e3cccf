"""Places against parents: whatever tree is built, segments and depths say what walking up parents says."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from kernel.tree.model import Place
from kernel.tree.places import ChildPlace, Link, first_child, later_child, left_behind, on_path

# Each number picks a parent among the floors that are there already, or a step of a walk.
CHOICES = st.lists(st.integers(0, 10_000), min_size=1, max_size=40)


@dataclass
class Tree:
    """A tree of numbered floors, 0 the root, twice: by parents, and by places."""

    parents: list[int | None] = field(default_factory=lambda: [None])
    places: list[Place] = field(default_factory=lambda: [Place(0, 0)])
    ordinals: list[int] = field(default_factory=lambda: [0])
    # The floor that each segment hangs on.
    hangs_on: dict[int, Place] = field(default_factory=dict)

    def add(self, parent: int) -> int:
        child = self._place(parent)
        if child.opens_segment:
            self.hangs_on[child.place.segment] = self.places[parent]
        self.parents.append(parent)
        self.places.append(child.place)
        self.ordinals.append(child.ordinal)
        return len(self.parents) - 1

    def _place(self, parent: int) -> ChildPlace:
        place = self.places[parent]
        if parent not in self.parents:
            return first_child(place)
        hanging = sum(found == place for found in self.hangs_on.values())
        return later_child(place, hanging, 1 + len(self.hangs_on))

    def path(self, floor: int) -> list[int]:
        """From the root, by parents."""
        parent = self.parents[floor]
        return [floor] if parent is None else [*self.path(parent), floor]

    def chain(self, floor: int) -> list[Link]:
        """From the root's segment, by segments."""
        links: list[Link] = []
        place = self.places[floor]
        while place.segment:
            above = self.hangs_on[place.segment]
            links.append(Link(place.segment, above.depth + 1, place.depth))
            place = above
        return [Link(0, 0, place.depth), *reversed(links)]

    def at(self, place: Place) -> int:
        return self.places.index(place)


def grown(choices: Sequence[int]) -> Tree:
    tree = Tree()
    for choice in choices:
        # Mostly near the newest floor, so that there are long runs as well as forks.
        size = len(tree.parents)
        tree.add(choice % size if choice % 3 else max(0, size - 1 - choice % 4))
    return tree


def test_the_first_child_goes_on_and_later_ones_open_segments() -> None:
    parent = Place(3, 7)
    assert first_child(parent) == ChildPlace(Place(3, 8), 0, opens_segment=False)
    assert later_child(parent, 0, 9) == ChildPlace(Place(9, 8), 1, opens_segment=True)
    assert later_child(parent, 4, 12) == ChildPlace(Place(12, 8), 5, opens_segment=True)


@given(CHOICES)
def test_each_floor_has_a_place_and_an_ordinal_of_its_own(choices: list[int]) -> None:
    tree = grown(choices)
    assert len(set(tree.places)) == len(tree.places)
    for parent in range(len(tree.parents)):
        children = [floor for floor, above in enumerate(tree.parents) if above == parent]
        assert [tree.ordinals[floor] for floor in children] == list(range(len(children)))
        assert {tree.places[floor].depth for floor in children} <= {tree.places[parent].depth + 1}
    # An unforked run: no segment holds two floors of one depth, or a gap.
    for segment in {place.segment for place in tree.places}:
        depths = [place.depth for place in tree.places if place.segment == segment]
        assert sorted(depths) == list(range(min(depths), max(depths) + 1))


@given(CHOICES)
def test_a_chain_holds_exactly_the_path(choices: list[int]) -> None:
    tree = grown(choices)
    for floor in range(len(tree.parents)):
        chain = tree.chain(floor)
        held = [other for other, place in enumerate(tree.places) if on_path(chain, place)]
        assert sorted(held) == sorted(tree.path(floor))
        # Consecutive depths, so that a depth names one floor of the path.
        assert [link.first for link in chain[1:]] == [link.last + 1 for link in chain[:-1]]


@given(CHOICES, st.integers(0, 10_000), st.integers(0, 10_000))
def test_what_is_left_behind_is_what_is_below_the_common_ancestor(
    choices: list[int], from_choice: int, to_choice: int
) -> None:
    tree = grown(choices)
    leaving, entering = from_choice % len(tree.parents), to_choice % len(tree.parents)
    links = left_behind(tree.chain(leaving), tree.chain(entering))
    left = [floor for floor in tree.path(leaving) if floor not in tree.path(entering)]
    # The links of the segments with a floor that is left, each down to where the path leaves it ...
    assert [link.segment for link in links] == list(dict.fromkeys(tree.places[f].segment for f in left))
    assert {tree.at(Place(link.segment, link.last)) for link in links} <= set(left)
    # ... and none when the head only goes down.
    assert bool(links) == bool(left)


def literal_leaf_left(tree: Tree, moves: Sequence[tuple[int, int]], below: int) -> int | None:
    """T6 in its own words: the head of the last move that left the part of the tree below a floor."""
    for source, target in reversed(moves):
        if below in tree.path(source) and below not in tree.path(target):
            return source
    return None


@settings(max_examples=300)
@given(CHOICES, CHOICES)
def test_the_newest_row_of_a_segment_is_the_leaf_last_left(choices: list[int], walk: list[int]) -> None:
    """The rule that `Store.leaf_left` follows, on walks that append, roll back and switch."""
    tree, head = grown(choices), 0
    rows: dict[tuple[int, int], tuple[int, int]] = {}
    moves: list[tuple[int, int]] = []
    for version, choice in enumerate(walk):
        target = tree.add(head) if choice % 4 == 0 else choice % len(tree.parents)
        for link in left_behind(tree.chain(head), tree.chain(target)):
            rows[link.segment, link.last] = version, head
        moves.append((head, target))
        head = target
        for floor, place in enumerate(tree.places):
            if floor in tree.path(head):
                continue  # a switch is asked for only off the path
            fitting = [row for key, row in rows.items() if key[0] == place.segment and key[1] >= place.depth]
            assert (max(fitting)[1] if fitting else None) == literal_leaf_left(tree, moves, floor)
