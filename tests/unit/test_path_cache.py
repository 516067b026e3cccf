"""What is kept of paths: found again whole, forgotten by budget, positions only for their fork count."""

from kernel.tree.model import Place
from kernel.tree.places import Link
from kernel.wire.path_cache import Entry, PathCache, places

CHAIN = [Link(0, 0, 90), Link(3, 91, 91), Link(7, 92, 200)]
AT = list(places(CHAIN, 1, 200))


def entry(place: Place, mark: str = "") -> Entry:
    name = f"{place.segment}.{place.depth}{mark}"
    return Entry(name, name.encode(), f"position {name}".encode())


def filled(budget: int = 10**6) -> PathCache:
    cache = PathCache(budget)
    cache.learn("t", "s", CHAIN)
    cache.put("t", "s", 5, [(place, entry(place)) for place in AT])
    return cache


def test_places_of_a_path() -> None:
    assert [place.depth for place in AT] == list(range(1, 201))
    assert [place.segment for place in AT] == [0] * 90 + [3] + [7] * 109
    assert list(places(CHAIN, 90, 92)) == [Place(0, 90), Place(3, 91), Place(7, 92)]
    assert list(places(CHAIN, 9, 8)) == []


def test_what_was_put_is_found_in_any_range() -> None:
    cache = filled()
    for first, last in ((1, 200), (64, 64), (60, 130), (92, 93), (200, 200), (9, 8)):
        wanted = list(places(CHAIN, first, last))
        assert cache.get("t", "s", 5, wanted) == [entry(place) for place in wanted]


def test_what_was_not_put_is_not_found() -> None:
    cache = filled()
    assert cache.get("t", "s", 5, [Place(7, 201)]) is None
    assert cache.get("t", "s", 5, [Place(0, 90), Place(0, 91)]) is None
    assert cache.get("t", "other", 5, AT) is None
    assert cache.get("other", "s", 5, AT) is None


def test_chains_are_known_as_far_as_they_were_learnt() -> None:
    cache = filled()
    assert cache.chain("t", "s", Place(7, 150), 1) == [*CHAIN[:2], Link(7, 92, 150)]
    assert cache.chain("t", "s", Place(7, 150), 92) == [Link(7, 92, 150)]
    assert cache.chain("t", "s", Place(0, 4), 1) == [Link(0, 0, 4)]
    assert cache.chain("t", "s", Place(8, 150), 150) is None
    assert cache.chain("u", "s", Place(0, 4), 1) is None


def test_at_another_fork_count_floors_stay_and_positions_do_not() -> None:
    cache = filled()
    found = cache.get("t", "s", 6, AT)
    assert found is not None
    assert [one.floor for one in found] == [entry(place).floor for place in AT]
    assert {one.position for one in found} == {None}
    again = [entry(place, "new") for place in AT]
    cache.put("t", "s", 6, zip(AT, again, strict=True))
    assert cache.get("t", "s", 6, AT) == again


def test_the_budget_holds_and_the_least_lately_used_leave() -> None:
    budget = filled().bytes
    cache = filled(budget)
    first_half, rest = AT[:63], AT[63:]
    assert cache.get("t", "s", 5, first_half) is not None
    other = [(Place(0, depth), entry(Place(0, depth))) for depth in range(1, 64)]
    cache.put("t", "other", 1, other)
    assert cache.bytes <= budget
    assert cache.get("t", "other", 1, [place for place, _ in other]) is not None
    assert cache.get("t", "s", 5, first_half) is not None
    assert cache.get("t", "s", 5, rest) is None


def test_putting_twice_counts_once() -> None:
    cache = filled()
    size = cache.bytes
    cache.put("t", "s", 5, [(place, entry(place)) for place in AT])
    assert cache.bytes == size


def test_nothing_is_kept_without_a_budget() -> None:
    cache = filled(0)
    assert cache.bytes == 0
    assert cache.get("t", "s", 5, AT) is None
    assert cache.chain("t", "s", Place(0, 4), 1) is None
