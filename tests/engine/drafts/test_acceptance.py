"""Acceptance rates follow the recorded outcomes, over all sequences and for each one."""

from random import Random

import pytest
from intaglio.engine.drafts.acceptance import AcceptanceRates, Evidence

CHANCES = {"copy": (0.15, 0.45, 0.85), "other": (0.5,)}
LONG, SHORT, OTHER = Evidence("copy", 2), Evidence("copy", 0), Evidence("other", 0)


@pytest.mark.parametrize("rate", [0.0, 0.3, 0.9])
def test_a_chance_becomes_the_measured_rate(rate: float) -> None:
    rates, dice = AcceptanceRates(CHANCES), Random(3)
    for number in range(3000):
        rates.record(number, [SHORT], int(dice.random() < rate))
        rates.forget(number)
    assert rates.chance(-1, SHORT) == pytest.approx(rate, abs=0.1)
    assert rates.chance(-1, LONG) == AcceptanceRates(CHANCES).chance(-1, LONG)


def test_a_chance_follows_a_change() -> None:
    rates = AcceptanceRates(CHANCES)
    for accepted in (0, 1):
        for number in range(2000):
            rates.record(number, [LONG], accepted)
        assert (rates.chance(-1, LONG) > 0.8) == accepted


def test_drafts_after_the_first_that_fell_tell_nothing() -> None:
    rates = AcceptanceRates(CHANCES)
    rates.record(1, [LONG, SHORT], 0)
    fresh = AcceptanceRates(CHANCES)
    assert rates.chance(2, SHORT) == fresh.chance(2, SHORT)
    assert rates.chance(2, LONG) < fresh.chance(2, LONG)


def test_a_sequence_without_luck_is_drafted_less_than_others() -> None:
    rates = AcceptanceRates(CHANCES)
    for _ in range(10):
        rates.record(1, [LONG], 0)
        rates.record(2, [LONG], 1)
    assert rates.chance(1, LONG) < rates.chance(3, LONG) < rates.chance(2, LONG) < 1
    rates.forget(1)
    assert rates.chance(1, LONG) == rates.chance(3, LONG)


def test_luck_with_one_source_tells_nothing_about_another() -> None:
    rates = AcceptanceRates(CHANCES)
    for _ in range(10):
        rates.record(1, [LONG], 0)
    assert rates.chance(1, OTHER) == rates.chance(2, OTHER) == 0.5
