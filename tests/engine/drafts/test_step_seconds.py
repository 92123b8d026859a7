"""The fitted line is that of the steps, in spite of interruptions."""

from random import Random

import pytest
from intaglio.engine.drafts.step_seconds import FIRST_SLOPE, MOST_TOKENS, StepSeconds


def learned(base: float, slope: float, steps: int, sizes: range) -> StepSeconds:
    """After steps of random sizes, of which some were interrupted."""
    seconds, dice = StepSeconds(), Random(3)
    for _ in range(steps):
        tokens = dice.choice(sizes)
        noise = dice.uniform(0.95, 1.1) * (50 if dice.random() < 0.01 else 1)
        seconds.observe(tokens, noise * (base + slope * tokens))
    return seconds


@pytest.mark.parametrize("slope", [0.0, 1 / 100, 1 / 20, 1 / 2])
def test_a_line_is_learned(slope: float) -> None:
    seconds = learned(1e-2, slope * 1e-2, 600, range(1, 24))
    for tokens in (6, 12, 24):
        assert seconds(tokens) == pytest.approx(1e-2 * (1 + slope * tokens), rel=0.25)


def test_steps_of_one_size_tell_nothing_about_the_slope() -> None:
    seconds = learned(0.02, 0.0, 300, range(1, 2))
    assert seconds(1) == pytest.approx(0.02, rel=0.2)
    assert 0 < seconds(25) / seconds(1) - 1 <= 25 * FIRST_SLOPE


def test_a_machine_that_becomes_slower_is_followed() -> None:
    seconds = learned(0.01, 0.001, 400, range(1, 9))
    for _ in range(400):
        seconds.observe(4, 0.1)
    assert seconds(4) == pytest.approx(0.1, rel=0.2)


def test_long_prompts_are_not_counted() -> None:
    seconds = learned(0.01, 0.001, 100, range(1, 9))
    before = seconds(1), seconds(50)
    seconds.observe(MOST_TOKENS + 1, 100.0)
    seconds.observe(4, 0.0)
    assert (seconds(1), seconds(50)) == before
