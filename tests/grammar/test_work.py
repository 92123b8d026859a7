"""Counted work: limits, and results of caches, which cost the same whether they are kept or made anew."""

import pytest
from intaglio.grammar.api import ConstraintTooLarge
from intaglio.grammar.automata.automaton_cache import SizeBoundedCache
from intaglio.grammar.contract.work import metered, spend, spend_once


def counted() -> tuple[SizeBoundedCache[[int], int], SizeBoundedCache[[int], int]]:
    """A cached function of 10 units, and another of 100 units that calls the first for each smaller number."""

    def inner(number: int) -> int:
        spend(10)
        return number

    def outer(number: int) -> int:
        spend(100)
        return sum(first(each) for each in range(number))

    first = SizeBoundedCache(inner, 1 << 20, lambda _: 8)
    return first, SizeBoundedCache(outer, 1 << 20, lambda _: 8)


def test_what_is_kept_costs_what_it_took_once() -> None:
    first, second = counted()
    for _ in range(3):
        with metered(10_000) as meter:
            second(3)
            second(3)
            first(1)
            first(5)
        assert meter.total == 100 + 3 * 10 + 10
    first.shrink(0)
    with metered(10_000) as meter:
        first(1)
        second(3)
    assert meter.total == 100 + 3 * 10


def test_a_limit_is_reached_with_and_without_a_cache() -> None:
    _, second = counted()
    for _ in range(2):
        with pytest.raises(ConstraintTooLarge, match="units of work") as caught, metered(110):
            second(3)
        assert caught.value.refusals[0].hint
        with metered(1_000):
            second(3)


def test_a_key_is_charged_once_a_meter() -> None:
    for _ in range(2):
        with metered(100) as meter:
            spend_once("a", 7)
            spend_once("a", 7)
            with metered(1) as same:
                spend(1)
        assert same is meter
        assert meter.total == 8
