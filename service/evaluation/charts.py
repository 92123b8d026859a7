"""Charts of confidences as SVG text: the reliability diagram and the risk-coverage curve.

Does: draw with shapes and text only, in the page's colours where the page has some. Does not: escape text of documents,
because none is drawn.
"""

from collections.abc import Sequence
from typing import Final

from .ranking import CalibrationBin, CoveragePoint

_SIZE: Final = 320
_LEFT: Final = 46
_TOP: Final = 14
_BOTTOM: Final = 40
_RIGHT: Final = 14


def reliability_diagram(bins: Sequence[CalibrationBin], title: str) -> str:
    """The share of right values over their mean probability, a dot for each bin; its area is the number of values."""
    most = max((each.count for each in bins), default=1)
    dots = "".join(
        f'<circle cx="{_x(each.mean_probability):.1f}" cy="{_y(each.share_right):.1f}" '
        f'r="{3 + 9 * (each.count / most) ** 0.5:.1f}" class="mark"><title>{each.count} values: '
        f"mean probability {each.mean_probability:.3f}, {each.share_right:.1%} right</title></circle>"
        for each in bins
    )
    path = " ".join(f"{_x(each.mean_probability):.1f},{_y(each.share_right):.1f}" for each in bins)
    diagonal = f'<line x1="{_x(0)}" y1="{_y(0)}" x2="{_x(1)}" y2="{_y(1)}" class="ideal"/>'
    curve = f'<polyline points="{path}" class="curve"/>'
    return _chart(diagonal + curve + dots, title, "probability", "share right")


def risk_coverage_chart(curve: Sequence[CoveragePoint], title: str) -> str:
    """The share of wrong values among those above a threshold, over the share of values above it."""
    points = (
        [(0.0, curve[0].risk), *((each.coverage, each.risk) for each in curve)] if curve else []
    )
    path = " ".join(f"{_x(coverage):.1f},{_y(risk):.1f}" for coverage, risk in points)
    return _chart(f'<polyline points="{path}" class="curve"/>', title, "coverage", "risk")


def _x(value: float) -> float:
    return _LEFT + value * (_SIZE - _LEFT - _RIGHT)


def _y(value: float) -> float:
    return _SIZE - _BOTTOM - value * (_SIZE - _TOP - _BOTTOM)


def _chart(marks: str, title: str, across: str, up: str) -> str:
    ticks = (0, 0.25, 0.5, 0.75, 1)
    grid = "".join(
        f'<line x1="{_x(0)}" y1="{_y(tick):.1f}" x2="{_x(1)}" y2="{_y(tick):.1f}" class="grid"/>'
        f'<text x="{_LEFT - 6}" y="{_y(tick) + 4:.1f}" text-anchor="end">{tick:g}</text>'
        f'<text x="{_x(tick):.1f}" y="{_SIZE - _BOTTOM + 16}" text-anchor="middle">{tick:g}</text>'
        for tick in ticks
    )
    middle = (_x(0) + _x(1)) / 2
    axes = (
        f'<text x="{middle:.1f}" y="{_SIZE - 6}" text-anchor="middle">{across}</text>'
        f'<text transform="translate(12 {(_y(0) + _y(1)) / 2:.1f}) rotate(-90)" '
        f'text-anchor="middle">{up}</text>'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_SIZE} {_SIZE}" role="img" '
        f'width="{_SIZE}" height="{_SIZE}" aria-label="{title}"><style>'
        "text{font:11px system-ui,sans-serif;fill:currentColor}"
        ".grid{stroke:currentColor;opacity:.15}"
        ".ideal{stroke:currentColor;opacity:.5;stroke-dasharray:4 4}"
        ".curve{fill:none;stroke:#2f6fb0;stroke-width:2}.mark{fill:#2f6fb0;fill-opacity:.6}"
        f"</style><title>{title}</title>{grid}{axes}{marks}</svg>"
    )
