"""Options that are numbers: `inf` and `nan` are numbers to Python, and pass bounds on one side."""

import math

import typer


def finite(value: float | None) -> float | None:
    """`value`, for options without an infinite meaning. Raises `typer.BadParameter` if it is infinite or no number."""
    if value is not None and not math.isfinite(value):
        raise typer.BadParameter(f"{value} is not a finite number")
    return value
