"""Fits a logistic regression that predicts from its features whether a value is right, with an offset for each field.

Does: maximise the penalised likelihood by Newton's method. Does not: choose between methods (`fit_calibration`).

The penalty is that of a normal prior around 0 (ridge). It keeps the offset of a field with few values small, so that
such a field is judged by what all fields have in common.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..calibration.calibration_file import FieldOffsets
from ..calibration.value_evidence import ValueEvidence, features

JudgedEvidence = tuple[ValueEvidence, bool]
Field = tuple[tuple[str, ...], str]

_PENALTY: Final = 0.5  # of half the squared sum of all weights but the constant
_MOST_ROUNDS: Final = 50
_SMALL: Final = 1e-9


def fit_regression(
    judged: Sequence[JudgedEvidence],
) -> tuple[dict[str, float], tuple[FieldOffsets, ...]]:
    """(weights of the features, offsets of the fields) with the greatest penalised likelihood.

    Values with a match count twice, each time half, with it and without it: answers without sources have none.
    """
    rows = [(evidence, right, 0.5 if evidence.match else 1.0) for evidence, right in judged]
    rows += [(e.not_located(), right, 0.5) for e, right in judged if e.match]
    read = [features(evidence) for evidence, _, _ in rows]
    names = ["constant", *sorted({name for one in read for name in one} - {"constant"})]
    fields: list[Field] = sorted({(e.properties, e.field) for e, _, _ in rows})
    column = {name: at for at, name in enumerate(names)}
    offset = {field: len(names) + at for at, field in enumerate(fields)}
    matrix = np.zeros((len(rows), len(names) + len(fields)))
    for row, ((evidence, _, _), found) in enumerate(zip(rows, read, strict=True)):
        for name, number in found.items():
            matrix[row, column[name]] = number
        matrix[row, offset[evidence.properties, evidence.field]] = 1.0
    right = np.array([float(is_right) for _, is_right, _ in rows])
    counts = np.array([count for _, _, count in rows])
    weights = _newton(matrix, right, counts)
    found_offsets: dict[tuple[str, ...], dict[str, float]] = {}
    for (properties, field), at in offset.items():
        found_offsets.setdefault(properties, {})[field] = float(weights[at])
    return (
        {name: float(weights[at]) for name, at in column.items()},
        tuple(FieldOffsets(properties=p, offsets=each) for p, each in found_offsets.items()),
    )


def _newton(
    matrix: NDArray[np.float64], right: NDArray[np.float64], counts: NDArray[np.float64]
) -> NDArray[np.float64]:
    penalty = np.full(matrix.shape[1], _PENALTY)
    penalty[0] = _SMALL
    weights = np.zeros(matrix.shape[1])
    for _ in range(_MOST_ROUNDS):
        share = 1 / (1 + np.exp(-np.clip(matrix @ weights, -30, 30)))
        gradient = matrix.T @ (counts * (share - right)) + penalty * weights
        curvature = (matrix * (counts * share * (1 - share))[:, None]).T @ matrix
        step = np.linalg.solve(curvature + np.diag(penalty), gradient)
        weights = weights - np.clip(step, -5, 5)
        if np.abs(step).max() < _SMALL:
            break
    return weights
