"""Answers kept within a budget of bytes."""

from kernel.wire.byte_cache import ByteCache


def test_the_least_lately_used_leave_when_the_budget_is_exceeded() -> None:
    cache = ByteCache(4_000)
    for key in "abc":
        cache.put(key, key.encode() * 700)
    assert cache.get("a") == b"a" * 700
    cache.put("d", b"d" * 700)
    assert [key for key in "abcd" if cache.get(key) is not None] == ["a", "c", "d"]
    assert cache.size <= 4_000


def test_what_is_larger_than_the_budget_is_not_kept() -> None:
    cache = ByteCache(4_000)
    cache.put("a", b"a" * 9_000)
    assert cache.get("a") is None
    assert cache.size == 0


def test_putting_again_counts_once() -> None:
    cache = ByteCache(4_000)
    cache.put("a", b"a")
    size = cache.size
    cache.put("a", b"a")
    assert cache.size == size
