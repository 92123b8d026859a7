"""Encodes explanations as bytes, to send them from a worker to its parent process.

Does: encode and decode. Does not: make explanations (`explain`).
"""

import json
from dataclasses import asdict, replace
from typing import Any

from ..contract.constraint import Constraint
from ..contract.coverage import Coverage
from ..contract.errors import Refusal
from .explain import ConstraintCost, Explanation, Finding
from .verdict import error_of


def encode_explanation(found: Explanation) -> bytes:
    """Encode an explanation as JSON, without its constraint."""
    error = found.error
    value = asdict(replace(found, error=None))
    del value["constraint"]
    if error is not None:
        refusals = [asdict(refusal) for refusal in error.refusals]
        value["error"] = {"code": error.code, "message": error.message, "refusals": refusals}
    return json.dumps(value).encode()


def decode_explanation(constraint: Constraint, data: bytes) -> Explanation:
    """The inverse of `encode_explanation`.

    Raises:
        ValueError, TypeError, KeyError: `data` is not an explanation.
    """
    value: dict[str, Any] = json.loads(data)
    error, findings, cost = value.pop("error"), value.pop("findings"), value.pop("cost")
    covered = value.pop("coverage")
    if error is not None:
        refusals = tuple(Refusal(**refusal) for refusal in error["refusals"])
        error = error_of(error["code"], error["message"], refusals)
    return Explanation(
        constraint,
        error,
        findings=tuple(Finding(**finding) for finding in findings),
        coverage=None if covered is None else Coverage.decode(covered),
        cost=None if cost is None else ConstraintCost(**cost),
        **value,
    )
