"""AUROC, calibration error and risk-coverage against their definitions, by brute force."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from intaglio.service.evaluation.ranking import Judged, auroc, confidence_scores, risk_coverage

PROBABILITIES = st.sampled_from([0.0, 0.05, 0.1, 0.3, 0.3000001, 0.55, 0.9, 1.0]) | st.floats(0, 1)
JUDGED = st.lists(st.tuples(PROBABILITIES, st.booleans()), min_size=1, max_size=30)


@settings(deadline=None)
@given(JUDGED)
def test_auroc_is_the_share_of_right_wrong_pairs_in_order(judged: list[Judged]) -> None:
    pairs = [(r, w) for r, yes in judged if yes for w, other in judged if not other]
    wins = sum(1.0 if r > w else 0.5 if r == w else 0.0 for r, w in pairs)
    assert auroc(judged) == (pytest.approx(wins / len(pairs)) if pairs else None)


@settings(deadline=None)
@given(JUDGED)
def test_ece_is_the_mean_gap_over_ten_bins(judged: list[Judged]) -> None:
    gap = 0.0
    for number in range(10):
        inside = [
            (p, right) for p, right in judged if int(p * 10) == number or (p == 1.0 and number == 9)
        ]
        gap += abs(sum(p for p, _ in inside) - sum(right for _, right in inside))
    found = confidence_scores(judged)
    assert found is not None
    assert found.ece == pytest.approx(gap / len(judged))
    assert sum(each.count for each in found.bins) == found.values == len(judged)
    assert found.brier == pytest.approx(sum((p - right) ** 2 for p, right in judged) / len(judged))


@settings(deadline=None)
@given(JUDGED)
def test_each_point_is_what_its_threshold_accepts(judged: list[Judged]) -> None:
    curve = risk_coverage(judged)
    assert {point.threshold for point in curve} == {p for p, _ in judged}
    for point in curve:
        accepted = [right for p, right in judged if p >= point.threshold]
        assert point.coverage == pytest.approx(len(accepted) / len(judged))
        assert point.risk == pytest.approx(accepted.count(False) / len(accepted))
    assert curve[-1].coverage == 1.0


def test_the_area_is_the_mean_risk_over_coverages() -> None:
    found = confidence_scores([(0.9, True), (0.8, False), (0.8, True), (0.2, False)])
    assert found is not None
    # Coverage 1/4 has risk 0, up to 3/4 risk 1/3, up to 1 risk 1/2.
    assert found.area == pytest.approx(0.5 * (1 / 3) + 0.25 * 0.5)
    assert found.auroc == pytest.approx((2 + 0.5 + 1) / 4)


def test_without_values_there_are_no_figures() -> None:
    assert confidence_scores([]) is None


def test_a_curve_of_many_points_is_thinned_to_both_ends() -> None:
    found = confidence_scores([(index / 5000, index % 3 > 0) for index in range(5000)])
    assert found is not None
    assert len(found.curve) == 200
    assert (found.curve[0].coverage, found.curve[-1].coverage) == (1 / 5000, 1.0)
