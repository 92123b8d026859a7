"""Figures of confidences: how well they rank right values above wrong ones, and how well they predict the share.

Does: AUROC, expected calibration error with its bins, Brier score, and the risk-coverage curve. Does not: decide which
values are right.
"""

from bisect import bisect_right
from collections.abc import Sequence
from typing import Final

from intaglio.schemas.base import Wire
from pydantic import Field

BINS: Final = 10
_MOST_POINTS: Final = 200

Judged = tuple[float, bool]
"""The probability that a value is right, and whether it is."""


class CalibrationBin(Wire):
    """The values with a probability from `low` to below `high` (the last bin includes 1)."""

    low: float
    high: float
    count: int
    mean_probability: float
    share_right: float


class CoveragePoint(Wire):
    """Accepting all values with a probability of at least `threshold`: `coverage` is their share of all values, `risk`
    the share of wrong ones among them.
    """

    threshold: float
    coverage: float
    risk: float


class ConfidenceScores(Wire):
    """The quality of the probabilities of `values` values.

    `auroc` is the probability that a right value has a greater probability than a wrong one, ties counting half; it is
    None if all are right or all wrong. `ece` is the expected calibration error over bins of equal width, `brier` the
    mean squared error. `area` is that under the risk-coverage curve.
    """

    values: int
    right: int
    auroc: float | None
    ece: float
    brier: float
    area: float
    bins: tuple[CalibrationBin, ...]
    curve: tuple[CoveragePoint, ...] = Field(description="At most 200 points.")


def confidence_scores(judged: Sequence[Judged]) -> ConfidenceScores | None:
    """The figures of these values; None without values."""
    if not judged:
        return None
    bins = calibration_bins(judged)
    curve = risk_coverage(judged)
    gap = sum(each.count * abs(each.mean_probability - each.share_right) for each in bins)
    return ConfidenceScores(
        values=len(judged),
        right=sum(right for _, right in judged),
        auroc=auroc(judged),
        ece=gap / len(judged),
        brier=sum((probability - right) ** 2 for probability, right in judged) / len(judged),
        area=_area(curve),
        bins=bins,
        curve=_thinned(curve),
    )


def auroc(judged: Sequence[Judged]) -> float | None:
    """The area under the receiver operating characteristic, by ranks (Mann and Whitney 1947); ties count half.

    None if there are no right or no wrong values.
    """
    wrong = sorted(probability for probability, is_right in judged if not is_right)
    right = sorted(probability for probability, is_right in judged if is_right)
    if not wrong or not right:
        return None
    below = tied = 0
    at = 0
    for probability in right:
        while at < len(wrong) and wrong[at] < probability:
            at += 1
        below += at
        tied += bisect_right(wrong, probability, lo=at) - at
    return (below + tied / 2) / (len(right) * len(wrong))


def calibration_bins(judged: Sequence[Judged]) -> tuple[CalibrationBin, ...]:
    """The values in `BINS` bins of equal width; empty bins are left out."""
    members: list[list[Judged]] = [[] for _ in range(BINS)]
    for probability, is_right in judged:
        members[min(int(probability * BINS), BINS - 1)].append((probability, is_right))
    return tuple(
        CalibrationBin(
            low=number / BINS,
            high=(number + 1) / BINS,
            count=len(found),
            mean_probability=sum(probability for probability, _ in found) / len(found),
            share_right=sum(is_right for _, is_right in found) / len(found),
        )
        for number, found in enumerate(members)
        if found
    )


def risk_coverage(judged: Sequence[Judged]) -> list[CoveragePoint]:
    """The risk at every coverage that a threshold can choose, from the highest threshold to the lowest."""
    ordered = sorted(judged, key=lambda each: -each[0])
    points, wrong = [], 0
    for count, (probability, is_right) in enumerate(ordered, 1):
        wrong += not is_right
        if count == len(ordered) or ordered[count][0] < probability:
            points.append(
                CoveragePoint(
                    threshold=probability, coverage=count / len(ordered), risk=wrong / count
                )
            )
    return points


def _area(curve: Sequence[CoveragePoint]) -> float:
    """The mean risk over all coverages; between two points the risk is that of the greater coverage."""
    area = before = 0.0
    for point in curve:
        area += (point.coverage - before) * point.risk
        before = point.coverage
    return area


def _thinned(curve: Sequence[CoveragePoint]) -> tuple[CoveragePoint, ...]:
    if len(curve) <= _MOST_POINTS:
        return tuple(curve)
    last = len(curve) - 1
    chosen = sorted({round(i * last / (_MOST_POINTS - 1)) for i in range(_MOST_POINTS)})
    return tuple(curve[i] for i in chosen)
