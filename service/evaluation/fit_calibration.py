"""Fits a calibration to judged values and chooses its method by the loss on held-out documents.

Methods: isotonic regression, one temperature, or a logistic regression on all features of a value.

Does: split by document, fit all, choose, and fit the choice to all documents. Does not: read or write files.

Isotonic regression by pooling adjacent violators (Ayer, Brunk, Ewing, Reid and Silverman 1955; for probabilities
Zadrozny and Elkan 2002); the temperature after Guo, Pleiss, Sun and Weinberger, "On calibration of modern neural
networks" (2017).
"""

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from ..calibration.calibration_file import Calibration, HeldOut
from ..calibration.value_evidence import log_odds
from .fit_regression import JudgedEvidence, fit_regression
from .gold import EvaluationInputError
from .ranking import Judged, confidence_scores

LEAST_VALUES: Final = 40
_GOLDEN: Final = (math.sqrt(5) - 1) / 2
_SCALES: Final = (0.02, 20.0)  # reciprocals of the temperature

Points = tuple[tuple[float, float], ...]


def fit_calibration(
    judged: Mapping[str, Sequence[JudgedEvidence]], *, model: str, fingerprint: str
) -> Calibration:
    """The calibration of a model, from the judged values of each document, by its id.

    Half of the documents, chosen by a hash of their ids, are held out from all methods; the one with the smaller mean
    squared error on them is fitted to all documents.

    Raises:
        EvaluationInputError: there are too few values or documents, or all values are right or all wrong.
    """
    found = {id_: list(values) for id_, values in judged.items() if values}
    held = {id_: values for id_, values in found.items() if _is_held_out(id_)}
    seen = [value for id_, values in found.items() if id_ not in held for value in values]
    unseen = [value for values in held.values() for value in values]
    for part in (seen, unseen):
        _require_enough(part)
    whole = [*seen, *unseen]
    known: dict[str, Any] = {
        "model": model,
        "fingerprint": fingerprint,
        "documents": len(found),
        "values": len(whole),
    }
    blank = HeldOut(
        documents=len(held),
        values=len(unseen),
        auroc_before=None,
        auroc_after=None,
        ece_before=0,
        ece_after=0,
        brier_before=0,
        brier_after=0,
    )
    trials = [Calibration(**known, **fit(seen), held_out=blank) for fit in _METHODS.values()]
    best = min(trials, key=lambda trial: _loss(trial, unseen))
    fitted = _METHODS[best.method](whole)
    return Calibration(**known, **fitted, held_out=_held_out(best, unseen, len(held)))


def isotonic_points(judged: Sequence[Judged]) -> Points:
    """The non-decreasing step function with the least squared error, as its corners (probability, share right)."""
    blocks: list[list[float]] = []  # low, high, right, count
    for probability, is_right in sorted(judged):
        if blocks and blocks[-1][1] == probability:
            blocks[-1][2] += is_right
            blocks[-1][3] += 1
        else:
            blocks.append([probability, probability, float(is_right), 1.0])
    pooled: list[list[float]] = []
    for block in blocks:
        pooled.append(block)
        while len(pooled) > 1 and pooled[-2][2] * pooled[-1][3] >= pooled[-1][2] * pooled[-2][3]:
            _, high, right, count = pooled.pop()
            pooled[-1][1] = high
            pooled[-1][2] += right
            pooled[-1][3] += count
    corners: list[tuple[float, float]] = []
    for low, high, right, count in pooled:
        corners.append((low, right / count))
        if high > low:
            corners.append((high, right / count))
    return tuple(corners)


def best_temperature(judged: Sequence[Judged]) -> float:
    """The temperature with the least mean log loss, by golden section: the loss is convex in its reciprocal."""
    odds = [(log_odds(probability), is_right) for probability, is_right in judged]

    def loss(scale: float) -> float:
        return sum(
            _softplus(-scale * each if is_right else scale * each) for each, is_right in odds
        )

    low, high = _SCALES
    while high - low > 1e-6:
        first, second = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        if loss(first) <= loss(second):
            high = second
        else:
            low = first
    return 2 / (low + high)


def _regression(judged: Sequence[JudgedEvidence]) -> dict[str, Any]:
    weights, fields = fit_regression(judged)
    return {"method": "regression", "weights": weights, "fields": fields}


_METHODS: Final[Mapping[str, Callable[[Sequence[JudgedEvidence]], dict[str, Any]]]] = {
    "isotonic": lambda judged: {"method": "isotonic", "points": isotonic_points(before(judged))},
    "temperature": lambda judged: {
        "method": "temperature",
        "temperature": best_temperature(before(judged)),
    },
    "regression": _regression,
}


def before(judged: Sequence[JudgedEvidence]) -> list[Judged]:
    """The values with the model's own probabilities."""
    return [(evidence.probability, is_right) for evidence, is_right in judged]


def after(calibration: Calibration, judged: Sequence[JudgedEvidence]) -> list[Judged]:
    """The values with their calibrated probabilities."""
    return [(calibration.apply(evidence), is_right) for evidence, is_right in judged]


def _is_held_out(id_: str) -> bool:
    return hashlib.sha256(id_.encode()).digest()[0] % 2 == 1


def _softplus(value: float) -> float:
    return max(value, 0.0) + math.log1p(math.exp(-abs(value)))


def _loss(calibration: Calibration, judged: Sequence[JudgedEvidence]) -> float:
    found = confidence_scores(after(calibration, judged))
    assert found is not None
    return found.brier


def _held_out(trial: Calibration, unseen: Sequence[JudgedEvidence], documents: int) -> HeldOut:
    earlier, later = confidence_scores(before(unseen)), confidence_scores(after(trial, unseen))
    assert earlier is not None
    assert later is not None
    return HeldOut(
        documents=documents,
        values=len(unseen),
        auroc_before=earlier.auroc,
        auroc_after=later.auroc,
        ece_before=earlier.ece,
        ece_after=later.ece,
        brier_before=earlier.brier,
        brier_after=later.brier,
    )


def _require_enough(judged: Sequence[JudgedEvidence]) -> None:
    right = sum(is_right for _, is_right in judged)
    if len(judged) < LEAST_VALUES or right in (0, len(judged)):
        raise EvaluationInputError(
            f"a half of the documents has {len(judged)} values with a probability, {right} of them right; "
            f"a calibration needs at least {LEAST_VALUES}, some right and some wrong",
            "give more gold documents, or predictions with confidences",
        )
