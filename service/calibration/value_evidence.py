"""The features by which the confidence of a value is calibrated: probabilities, kind, match and field.

Does: gather them from the report of an answer, and turn them into numbers. Does not: weigh them (`calibration_file`).
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from intaglio.schemas.extraction.grounding import FieldReport, MatchKind

_EDGE: Final = 1e-6  # keeps logarithms finite
_INDEX: Final = re.compile(r"/\d+(?=/|$)")
_MATCHES: Final[tuple[MatchKind, ...]] = ("exact", "folded", "number", "date", "none")


@dataclass(frozen=True, slots=True)
class ValueEvidence:
    """One value. `match` is None if no value of the answer was found in the document, or none was looked for.

    `field` is its JSON Pointer with `*` for every index; `properties` are the names at the root of its schema, which
    distinguish forms of answers.
    """

    probability: float
    masked: float = 0.0
    not_stated: float | None = None
    match: MatchKind | None = None
    occurrences: int = 0
    value: object = None
    field: str = ""
    properties: tuple[str, ...] = ()

    def not_located(self) -> "ValueEvidence":
        """The same without its match, as in an answer without sources."""
        return replace(self, match=None, occurrences=0)


def evidence_of(
    fields: Mapping[str, FieldReport], values: Mapping[str, object], properties: tuple[str, ...]
) -> Iterator[tuple[str, ValueEvidence]]:
    """The evidence of each value with a probability, by JSON Pointer. `values` are the scalars of the answer."""
    is_located = any(report.match != "none" for report in fields.values())
    for pointer, report in fields.items():
        sure = report.confidence
        if sure is None or sure.probability is None:
            continue
        yield (
            pointer,
            ValueEvidence(
                sure.probability,
                sure.masked or 0.0,
                sure.not_stated,
                report.match if is_located else None,
                len(report.occurrences),
                values.get(pointer),
                _INDEX.sub("/*", pointer),
                properties,
            ),
        )


def root_properties(schema: Any) -> tuple[str, ...]:
    """The names that a schema declares at its root, sorted; none for a schema that declares them elsewhere."""
    declared = schema.get("properties") if isinstance(schema, Mapping) else None
    return tuple(sorted(declared)) if isinstance(declared, Mapping) else ()


def features(evidence: ValueEvidence) -> dict[str, float]:
    """The evidence as numbers; those that are 0 are left out."""
    value = evidence.value
    found = {
        "constant": 1.0,
        "log_odds": log_odds(evidence.probability),
        "masked": evidence.masked,
        "masked_log_odds": log_odds(evidence.masked) / 5,
        "null": float(value is None),
        "boolean": float(isinstance(value, bool)),
        "text": float(isinstance(value, str)),
        "length": math.log1p(len(value)) if isinstance(value, str) else 0.0,
    }
    if evidence.not_stated is not None:
        found["nullable"] = 1.0
        found["not_stated"] = log_odds(evidence.not_stated) / 5
    if evidence.match in _MATCHES:
        found[f"match_{evidence.match}"] = 1.0
        found["occurrences"] = math.log1p(evidence.occurrences)
    return {name: number for name, number in found.items() if number}


def log_odds(probability: float) -> float:
    """The logarithm of the odds of a probability, bounded at both ends."""
    inside = min(max(probability, _EDGE), 1 - _EDGE)
    return math.log(inside / (1 - inside))
