"""The values of a result that a person should look at.

Does: compare the confidences of an answer with a job's threshold. Does not: store reviews (`reviews`).
"""

from collections.abc import Mapping
from typing import Any


def unsure_values(raw: Mapping[str, Any], below: float | None) -> dict[str, float | None]:
    """The probabilities of values that are less than `below`, by JSON Pointer; calibrated ones where there are some.

    An answer without any probability is unsure as a whole: the pointer "" with None. Without `below`, nothing is.
    """
    if below is None:
        return {}
    found = dict(_probabilities(raw.get("fields")))
    if not found:
        return {"": None}
    return {pointer: value for pointer, value in found.items() if value < below}


def _probabilities(fields: Any) -> list[tuple[str, float]]:
    found = []
    for pointer, report in (fields or {}).items():
        confidence = report.get("confidence") or {}
        value = confidence.get("calibrated")
        if value is None:
            value = confidence.get("probability")
        if value is not None:
            found.append((pointer, float(value)))
    return found
