"""A cache holds what was put into it until its bound is passed, and then begins anew."""

from intaglio.grammar.base.bounded_cache import BoundedCache


def test_a_value_is_found_by_its_key() -> None:
    cache = BoundedCache[str, int]()
    assert cache.get("a") is None
    cache.put("a", 7, 1)
    assert cache.get("a") == 7
    assert len(cache) == 1


def test_memory_grows_with_entries_and_their_texts() -> None:
    cache = BoundedCache[int, int]()
    cache.put(1, 1, 0)
    one = cache.nbytes
    cache.put(2, 2, 1000)
    assert cache.nbytes == 2 * one + 1000


def test_the_value_that_passes_the_bound_is_the_first_of_a_new_cache() -> None:
    cache = BoundedCache[int, int](most_bytes=10_000)
    kept = []
    for number in range(100):
        cache.put(number, number, 700)
        assert cache.nbytes <= 10_000
        assert cache.get(number) == number
        kept.append(len(cache))
    assert max(kept) == 10
    assert kept.count(1) == 10


def test_a_value_larger_than_the_bound_is_kept_alone() -> None:
    cache = BoundedCache[int, int](most_bytes=1000)
    cache.put(1, 1, 0)
    cache.put(2, 2, 5000)
    assert (cache.get(1), cache.get(2), len(cache)) == (None, 2, 1)
