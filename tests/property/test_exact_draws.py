"""Draws under small grammars have their exact probabilities, with drafts as without; a sample of `exact_draws`."""

import math
from collections import Counter
from pathlib import Path

from tests.property.exact_draws import fit, measure

UNLIKELY = 1e-4
"""Of a right sampler, for one of the few seeds below. A wrong one has hardly any chance (see the last test)."""


def test_draws_have_their_exact_probabilities_with_and_without_drafts(tmp_path: Path) -> None:
    outcomes, accepted = measure(tmp_path / "model", grammars=4, draws=150)
    assert accepted > 100
    assert sum(outcome.drafted.cells - 1 for outcome in outcomes) >= 6
    for outcome in outcomes:
        assert min(outcome.plain.chance, outcome.drafted.chance) > UNLIKELY, outcome


def test_the_statistic_is_pearsons_and_cells_of_little_weight_are_joined() -> None:
    chances = {b"a": 0.5, b"b": 0.25, b"c": 0.25}
    found = fit(Counter({b"a": 40, b"b": 30, b"c": 30}), chances)
    assert (found.square, found.cells) == (4.0, 3)
    assert math.isclose(found.chance, math.exp(-2), rel_tol=1e-6)  # two degrees of freedom
    assert fit(Counter({b"a": 99, b"d": 1}), chances).chance == 0.0, "an output that is no word"
    rare = {b"a": 0.9, b"b": 0.05, b"c": 0.03, b"d": 0.02}
    assert fit(Counter({b"a": 92, b"b": 4, b"c": 3, b"d": 1}), rare).cells == 3
    assert fit(Counter({b"a": 20}), {b"a": 1.0}).chance == 1.0


def test_drafts_that_are_accepted_whatever_is_drawn_are_found(tmp_path: Path) -> None:
    """A planted fault, for drafts alone: the draws without drafts stay right."""
    outcomes, _ = measure(tmp_path / "model", grammars=2, draws=150, rates=(0.9,) * 8)
    assert min(outcome.drafted.chance for outcome in outcomes) < UNLIKELY / 100
    assert min(outcome.plain.chance for outcome in outcomes) > UNLIKELY
