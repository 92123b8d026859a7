"""Tokens are fetched where that was measured to be faster, and otherwise computed; now and then both are tried."""

import pytest
from intaglio.engine.memory.swap import LEAST_TOKENS, PROBE, RETRY, TransferRule


def measured(compute_s: float, fetch_s: float) -> TransferRule:
    rule = TransferRule()
    for _ in range(50):
        rule.computed(100, 100 * compute_s)
        rule.fetched("host", 16, 16 * fetch_s)
    return rule


def test_the_faster_way_is_taken_and_counted() -> None:
    assert measured(1e-3, 1e-5).pays("host", 160)
    slow = measured(1e-5, 1e-3)
    assert not slow.pays("host", 160)
    assert slow.decided == {"recompute_host": 160}
    assert slow.rates["compute"] == pytest.approx(1e5)
    assert slow.rates["host"] == pytest.approx(1e3)
    assert slow.rates["disk"] == 0


def test_what_was_never_measured_is_tried() -> None:
    rule = TransferRule()
    assert rule.pays("disk", 16)
    rule.computed(100, 1.0)
    assert rule.pays("disk", 16)
    rule.computed(LEAST_TOKENS - 1, 1e-9)  # too few tokens to tell
    assert rule.rates["compute"] == pytest.approx(100)


def test_the_rest_of_a_prompt_does_not_count_beside_whole_ones() -> None:
    """The rest costs a hundred times as much a token; only where nothing else is computed does it count in the end."""
    rule = measured(1e-3, 1e-5)
    rule.computed(4000, 4000 * 1e-5)
    for _ in range(100):
        rule.computed(4000, 4000 * 1e-5)
        rule.computed(100, 100 * 1e-3)
    assert rule.rates["compute"] == pytest.approx(1e5, rel=0.01)
    for _ in range(1000):
        rule.computed(100, 100 * 1e-3)
    assert rule.rates["compute"] == pytest.approx(1e3, rel=0.01)


def test_a_refused_tier_is_probed_and_a_change_is_noticed() -> None:
    rule = measured(1e-5, 1e-3)
    tried = 0
    for _ in range(40 * PROBE):
        if rule.pays("host", 16):
            tried += 1
            rule.fetched("host", 16, 16e-7)  # the link is fast again
    assert tried > PROBE


def test_one_interrupted_transfer_changes_no_decision() -> None:
    rule = measured(1e-3, 1e-4)
    rule.fetched("host", 16, 100.0)
    assert rule.pays("host", 16)


def test_contents_are_kept_where_those_that_return_save_more_than_all_cost() -> None:
    rule = measured(3e-6, 1e-6)  # one of two saves as much as both cost
    assert rule.keeps(0.6)
    assert not rule.keeps(0.4)
    assert measured(1e-4, 1e-6).keeps(0.02)
    assert TransferRule().keeps(0.0)


def test_a_host_that_is_too_slow_gets_a_few_contents_to_be_measured_again() -> None:
    rule = measured(1e-6, 2e-6)
    answers = [rule.keeps(1.0) for _ in range(10 * RETRY * PROBE)]
    assert sum(answers) == 10 * PROBE
    assert not any(answers[: (RETRY - 1) * PROBE - 1])
