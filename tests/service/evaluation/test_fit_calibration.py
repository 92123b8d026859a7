"""Fits against brute force, and the choice between them on held-out documents."""

import math
import random
from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from intaglio.service.calibration.calibration_file import Calibration
from intaglio.service.calibration.value_evidence import ValueEvidence
from intaglio.service.evaluation.fit_calibration import (
    best_temperature,
    fit_calibration,
    isotonic_points,
)
from intaglio.service.evaluation.gold import EvaluationInputError
from intaglio.service.evaluation.ranking import Judged

SMALL = st.lists(
    st.tuples(st.sampled_from([0.1, 0.3, 0.5, 0.7, 0.9]), st.booleans()), min_size=1, max_size=12
)


def least_error(judged: list[Judged]) -> float:
    """The least squared error of a non-decreasing function: all ways to cut the probabilities into blocks."""
    at = sorted({p for p, _ in judged})
    best = math.inf
    for count in range(len(at)):
        for cuts in combinations(range(1, len(at)), count):
            edges = [0, *cuts, len(at)]
            blocks = [
                [right for p, right in judged if p in at[low:high]] for low, high in pairwise(edges)
            ]
            means = [sum(block) / len(block) for block in blocks]
            if means == sorted(means):
                errors = (
                    (right - mean) ** 2
                    for block, mean in zip(blocks, means, strict=True)
                    for right in block
                )
                best = min(best, sum(errors))
    return best


@settings(deadline=None)
@given(SMALL)
def test_no_rising_function_has_a_smaller_error(judged: list[Judged]) -> None:
    points = isotonic_points(judged)
    assert list(points) == sorted(points)
    share = dict(points)
    # Inside of a block the function is constant: the share of its nearest corner below.
    value = {p: share[max(x for x in share if x <= p)] for p, _ in judged}
    error = sum((right - value[p]) ** 2 for p, right in judged)
    assert error == pytest.approx(least_error(judged), abs=1e-9)


def known(values: dict[str, list[Judged]]) -> dict[str, list[tuple[ValueEvidence, bool]]]:
    """Values of which only the probability is known."""
    return {id_: [(ValueEvidence(p), right) for p, right in each] for id_, each in values.items()}


def drawn(temperature: float, documents: int, rng: random.Random) -> dict[str, list[Judged]]:
    """Values that are right with the probability that a temperature makes of the given one."""
    found: dict[str, list[Judged]] = {}
    for number in range(documents):
        values = []
        for _ in range(20):
            given_ = rng.uniform(0.02, 0.98)
            true = 1 / (1 + math.exp(-math.log(given_ / (1 - given_)) / temperature))
            values.append((given_, rng.random() < true))
        found[f"d{number}"] = values
    return found


def test_the_temperature_of_the_data_is_found() -> None:
    judged = [v for values in drawn(3.0, 400, random.Random(1)).values() for v in values]
    assert best_temperature(judged) == pytest.approx(3.0, rel=0.1)


def test_a_fit_names_its_model_and_tells_the_error_on_documents_that_it_did_not_see() -> None:
    found = fit_calibration(known(drawn(4.0, 200, random.Random(2))), model="m", fingerprint="f")
    assert (found.model, found.fingerprint, found.documents, found.values) == ("m", "f", 200, 4000)
    held = found.held_out
    assert held.ece_after < 0.05 < held.ece_before
    assert held.brier_after < held.brier_before
    assert 0 < held.documents < 200
    assert held.values == 20 * held.documents
    assert found.apply(ValueEvidence(0.9)) == pytest.approx(9**0.25 / (1 + 9**0.25), abs=0.05)


def test_isotonic_is_chosen_where_no_temperature_fits() -> None:
    rng = random.Random(3)
    steps = {
        f"d{n}": [
            (p, rng.random() < (0.2 if p < 0.9 else 0.8))
            for p in (rng.uniform(0.7, 0.99) for _ in range(20))
        ]
        for n in range(100)
    }
    found = fit_calibration(known(steps), model="m", fingerprint="f")
    assert found.method == "isotonic"
    assert found.apply(ValueEvidence(0.75)) == pytest.approx(0.2, abs=0.1)
    assert found.apply(ValueEvidence(0.97)) == pytest.approx(0.8, abs=0.1)


def test_fields_are_told_apart_where_probabilities_do_not() -> None:
    rng = random.Random(4)
    shares = {"/sure": 0.95, "/hard": 0.1, "/items/*/n": 0.5}
    judged = {
        f"d{n}": [
            (ValueEvidence(rng.uniform(0.9, 0.99), field=f, properties=("a",)), rng.random() < p)
            for f, p in shares.items()
        ]
        for n in range(300)
    }
    found = fit_calibration(judged, model="m", fingerprint="f")
    assert found.method == "regression"
    assert found.held_out.auroc_after is not None
    assert found.held_out.auroc_after > 0.8 > 0.6 > (found.held_out.auroc_before or 0)
    for name, share in shares.items():
        one = ValueEvidence(0.95, field=name, properties=("a",))
        assert found.apply(one) == pytest.approx(share, abs=0.1)
    # A field that was not seen is judged as all of them together.
    assert 0.2 < found.apply(ValueEvidence(0.95, field="/new", properties=("a",))) < 0.8
    again = Calibration.model_validate_json(found.model_dump_json(), strict=False)
    assert again.apply(ValueEvidence(0.95)) == found.apply(ValueEvidence(0.95))


@pytest.mark.parametrize("judged", [{}, {f"d{n}": [(0.5, True)] * 20 for n in range(20)}])
def test_too_little_is_refused(judged: dict[str, list[Judged]]) -> None:
    with pytest.raises(EvaluationInputError, match="needs at least 40"):
        fit_calibration(known(judged), model="m", fingerprint="f")
