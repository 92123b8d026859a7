"""The share of evicted blocks that come back, against a plain list of all that happened."""

from random import Random

import pytest
from intaglio.engine.memory.page_key import Chain
from intaglio.engine.memory.reuse import ReuseRate


def chains(*numbers: int) -> list[Chain]:
    return [number.to_bytes(32, "big") for number in numbers]


def test_a_new_tier_is_trusted_and_one_that_is_never_used_is_not() -> None:
    rate = ReuseRate(100)
    assert rate.share == 1
    shares = []
    for _ in range(300):
        rate.evicted(1)
        shares.append(rate.share)
    assert shares == sorted(shares, reverse=True)
    assert shares[-1] == pytest.approx(25 / (100 + 25), rel=0.1)


@pytest.mark.parametrize("reused", [0.1, 0.5, 0.9])
def test_the_share_is_that_of_the_last_evictions(reused: float) -> None:
    rate, random = ReuseRate(1000), Random(3)
    for _ in range(10_000):
        rate.evicted(1)
        rate.returned(int(random.random() < reused))
    assert rate.share == pytest.approx((1000 * reused + 250) / 1250, abs=0.03)


def test_dropped_blocks_count_when_a_prompt_asks_for_them_each_once() -> None:
    rate = ReuseRate(100)
    rate.evicted(50)
    before = rate.share
    rate.dropped(chains(1, 2, 3))
    rate.missed(
        chains(9, 1)
    )  # the first block of the prompt was never there: none of it would have been fetched
    assert rate.share == before
    rate.missed(chains(1, 2, 9, 3))
    assert rate.share == pytest.approx(before + 2 / 75)
    rate.missed(chains(1, 2))
    assert rate.share == pytest.approx(before + 2 / 75)


def test_as_many_dropped_blocks_are_remembered_as_would_have_been_held() -> None:
    rate = ReuseRate(10)
    rate.evicted(40)
    rate.dropped(chains(*range(40)))
    before = rate.share
    rate.missed(chains(29))
    assert rate.share == before
    rate.missed(chains(30))
    assert rate.share > before
