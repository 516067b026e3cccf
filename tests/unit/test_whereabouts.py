"""Which branch a floor is on, against walking up from every head."""

from hypothesis import given
from hypothesis import strategies as st

from kernel.tree.model import Place
from kernel.tree.places import Segment
from kernel.tree.whereabouts import Whereabouts

# Each pair hangs a segment on a floor of an earlier one; both numbers are taken modulo what there is.
TREES = st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99)), max_size=8)
HEADS = st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99)), max_size=6)
LENGTH = 5


def segments_of(hanging: list[tuple[int, int]]) -> tuple[list[Segment], dict[int, int]]:
    """The segments, and at which depth each begins."""
    segments, begins = [Segment(0, None, None)], {0: 0}
    for number, (which, how_deep) in enumerate(hanging, 1):
        parent = which % number
        depth = begins[parent] + how_deep % LENGTH
        segments.append(Segment(number, parent, depth))
        begins[number] = depth + 1
    return segments, begins


def path_of(place: Place, segments: list[Segment], begins: dict[int, int]) -> set[Place]:
    """Every floor from the place to the root, one by one."""
    path = set()
    while True:
        path.add(place)
        if place.depth > begins[place.segment]:
            place = Place(place.segment, place.depth - 1)
            continue
        above = segments[place.segment]
        if above.parent_segment is None or above.parent_depth is None:
            return path
        place = Place(above.parent_segment, above.parent_depth)


@given(TREES, HEADS)
def test_the_first_branch_that_has_a_floor_on_its_path(
    hanging: list[tuple[int, int]], chosen: list[tuple[int, int]]
) -> None:
    segments, begins = segments_of(hanging)
    heads = []
    for number, (which, how_deep) in enumerate(chosen):
        segment = which % len(segments)
        heads.append((f"b{number}", Place(segment, begins[segment] + how_deep % LENGTH)))
    paths = [(name, path_of(head, segments, begins)) for name, head in heads]
    where = Whereabouts(heads, segments)
    for segment, first in begins.items():
        for depth in range(first, first + LENGTH):
            place = Place(segment, depth)
            assert where.branch_of(place) == next((name for name, path in paths if place in path), "")
