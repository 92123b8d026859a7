"""The regression finds the weights that made the data, and an offset for each field."""

import math
import random

import pytest
from intaglio.service.calibration.value_evidence import ValueEvidence
from intaglio.service.evaluation.fit_regression import fit_regression


def test_the_weights_of_the_data_are_found() -> None:
    rng = random.Random(1)
    judged = []
    for _ in range(4000):
        one = ValueEvidence(rng.uniform(0.02, 0.98), field=rng.choice(["/a", "/b"]))
        odds = math.log(one.probability / (1 - one.probability))
        true = 0.5 * odds + (1.5 if one.field == "/a" else -1.5)
        judged.append((one, rng.random() < 1 / (1 + math.exp(-true))))
    weights, (fields,) = fit_regression(judged)
    assert weights["log_odds"] == pytest.approx(0.5, abs=0.08)
    assert fields.offsets["/a"] - fields.offsets["/b"] == pytest.approx(3, abs=0.3)


def test_without_a_match_a_value_is_judged_by_the_share_of_all() -> None:
    found = [(ValueEvidence(0.5, match="exact", occurrences=1), True)] * 30
    lost = [(ValueEvidence(0.5, match="none"), False)] * 30
    weights, (fields,) = fit_regression([*found, *lost])
    assert weights["match_exact"] > 1 > -1 > weights["match_none"]
    assert weights["constant"] + fields.offsets[""] == pytest.approx(0, abs=0.1)


def test_values_that_are_all_right_have_finite_weights() -> None:
    weights, _ = fit_regression([(ValueEvidence(0.9), True)] * 50)
    assert all(math.isfinite(weight) for weight in weights.values())
