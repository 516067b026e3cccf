"""What is kept of paths: found in any range, forgotten by budget, positions for their fork count alone."""

from collections.abc import Sequence
from random import Random

import pytest

from kernel.tree.model import Place
from kernel.tree.places import Link, clipped
from kernel.wire.path_cache import PathCache
from kernel.wire.path_chunks import Chunk, Floors, Joined, Piece, Positioned

CHAIN = [Link(0, 0, 90), Link(3, 91, 91), Link(7, 92, 200)]


def field(segment: int, depth: int) -> bytes:
    """Of different lengths."""
    return f"<{segment}.{depth}>".encode() * (1 + depth % 3)


def alone(segment: int, depth: int) -> bytes:
    return f"({segment}.{depth})".encode()


def floors(link: Link) -> Floors:
    depths = range(link.first, link.last + 1)
    return Floors(
        link.segment,
        link.first,
        [f"{link.segment}.{depth}" for depth in depths],
        [field(link.segment, depth) for depth in depths],
        [alone(link.segment, depth) for depth in depths],
    )


def put(cache: PathCache, links: Sequence[Link], session: str = "s") -> None:
    for link in links:
        for chunk in floors(link).chunks():
            cache.put("t", session, chunk)


def filled(budget: int = 10**6) -> PathCache:
    cache = PathCache(budget)
    cache.learn("t", "s", CHAIN)
    put(cache, clipped(CHAIN, 1, 200))
    return cache


def found(cache: PathCache, links: Sequence[Link]) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """(segment, depth) of what is kept and of what is not; the bytes of the kept are right, in any order."""
    kept, missing = [], []
    for one in cache.find("t", "s", links):
        if isinstance(one, Link):
            missing += [(one.segment, depth) for depth in range(one.first, one.last + 1)]
            continue
        places = [(one.chunk.segment, depth) for depth in range(one.first, one.last + 1)]
        kept += places
        for backwards in (False, True):
            wanted = places[::-1] if backwards else places
            cut = Positioned(one, one.chunk.alone).cut(len(places), backwards=backwards)
            assert cut == (
                b"".join(field(*place) for place in wanted),
                b"".join(alone(*place) for place in wanted),
            )
    return kept, missing


def places(links: Sequence[Link]) -> list[tuple[int, int]]:
    return [(link.segment, depth) for link in links for depth in range(link.first, link.last + 1)]


@pytest.mark.parametrize(("first", "last"), [(1, 200), (64, 64), (60, 130), (92, 93), (200, 200)])
def test_what_was_put_is_found_in_any_range(first: int, last: int) -> None:
    links = clipped(CHAIN, first, last)
    assert [depth for _, depth in places(links)] == list(range(first, last + 1))
    assert found(filled(), links) == (places(links), [])


def test_nothing_is_asked_and_nothing_is_found() -> None:
    assert clipped(CHAIN, 9, 8) == []
    assert found(filled(), []) == ([], [])


def test_what_was_not_put_is_not_found() -> None:
    cache = filled()
    assert found(cache, [Link(0, 90, 92)]) == ([(0, 90)], [(0, 91), (0, 92)])
    assert found(cache, [Link(7, 199, 202)]) == ([(7, 199), (7, 200)], [(7, 201), (7, 202)])
    assert list(cache.find("t", "other", [Link(0, 1, 2)])) == [Link(0, 1, 2)]
    assert list(cache.find("other", "s", [Link(0, 1, 2)])) == [Link(0, 1, 2)]


def test_ranges_put_one_after_the_other_are_found_as_far_as_they_join() -> None:
    """Against a set: a range beside the kept ones of its chunk joins them, another takes their place."""
    random = Random(5)
    for _ in range(200):
        cache, kept = PathCache(10**6), dict[int, set[int]]()
        for _ in range(random.randint(1, 5)):
            first = random.randint(1, 140)
            last = random.randint(first, 150)
            put(cache, [Link(0, first, last)])
            for number in range(first // 64, last // 64 + 1):
                new = {depth for depth in range(first, last + 1) if depth // 64 == number}
                old = kept.get(number, set())
                beside = any(depth + step in old for depth in new for step in (-1, 0, 1))
                kept[number] = new | old if beside else new
        every = set().union(*kept.values())
        assert found(cache, [Link(0, 1, 150)]) == (
            [(0, depth) for depth in sorted(every)],
            [(0, depth) for depth in range(1, 151) if depth not in every],
        )


def test_chains_are_known_as_far_as_they_were_learnt() -> None:
    cache = filled()
    assert cache.chain("t", "s", Place(7, 150), 1) == [*CHAIN[:2], Link(7, 92, 150)]
    assert cache.chain("t", "s", Place(7, 150), 92) == [Link(7, 92, 150)]
    assert cache.chain("t", "s", Place(0, 4), 1) == [Link(0, 0, 4)]
    assert cache.chain("t", "s", Place(8, 150), 150) is None
    assert cache.chain("u", "s", Place(0, 4), 1) is None


def test_the_budget_holds_and_the_least_lately_used_leave() -> None:
    cache = filled(filled().bytes)
    first_chunk = [Link(0, 1, 63)]
    assert found(cache, first_chunk)[1] == []
    put(cache, first_chunk, "other")
    assert cache.bytes <= filled().bytes
    assert not any(isinstance(one, Link) for one in cache.find("t", "other", first_chunk))
    assert found(cache, first_chunk)[1] == []
    assert found(cache, clipped(CHAIN, 64, 200))[1] != []


def test_putting_twice_counts_once() -> None:
    cache = filled()
    size = cache.bytes
    put(cache, clipped(CHAIN, 1, 200))
    put(cache, [Link(0, 5, 9)])
    assert cache.bytes == size


def test_nothing_is_kept_without_a_budget() -> None:
    cache = filled(0)
    assert cache.bytes == 0
    assert found(cache, [Link(0, 1, 90)])[0] == []
    assert cache.chain("t", "s", Place(0, 4), 1) is None


def chunk() -> Chunk:
    (made,) = floors(Link(0, 1, 9)).chunks()
    return made


def test_positions_are_those_at_forks_beside_those_that_are_alone() -> None:
    made = chunk()
    whole = Piece(made, 0, 9)
    assert not whole.knows(5)
    positions = whole.positions(5, {"0.3": b"[a fork]"})
    expected = [b"[a fork]" if depth == 3 else alone(0, depth) for depth in range(1, 10)]
    assert positions.fields(0, 9) == expected
    assert whole.knows(5)
    assert Piece(made, 2, 4).positions(5, {}).fields(0, 9) == expected, "kept for that count"
    assert not whole.knows(6)
    assert whole.positions(6, {}).fields(0, 9) == [alone(0, depth) for depth in range(1, 10)]


def test_positions_that_were_read_for_a_part_are_not_kept_for_the_whole() -> None:
    made = chunk()
    part = Piece(made, 2, 4)
    assert part.positions(5, {"0.3": b"[a fork]"}).fields(2, 4) == [b"[a fork]", alone(0, 4)]
    assert not part.knows(5)


def test_floors_that_join_forget_their_positions() -> None:
    made = chunk()
    Piece(made, 0, 9).positions(5, {"0.3": b"[a fork]"})
    (more,) = floors(Link(0, 10, 12)).chunks()
    joined = more.with_those_of(made)
    assert joined.ids == [f"0.{depth}" for depth in range(1, 13)]
    assert not Piece(joined, 0, 12).knows(5)


@pytest.mark.parametrize("backwards", [False, True])
def test_how_many_fit(backwards: bool) -> None:
    fields = [bytes(size) for size in (3, 0, 5, 1, 4)]
    joined = Joined(fields)
    for low in range(5):
        for high in range(low, 6):
            for room in range(15):
                wanted = fields[low:high][::-1] if backwards else fields[low:high]
                sums = [sum(map(len, wanted[:count])) for count in range(len(wanted) + 1)]
                assert joined.fitting(low, high, room, backwards=backwards) == max(
                    count for count, total in enumerate(sums) if total <= room
                )
