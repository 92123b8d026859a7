"""The report of each value of an answer: where in the document it comes from, and how sure the model is of it.

Does: find all values, choose among their places, and put these and the confidences on the wire. Does not: change
values.
"""

from dataclasses import dataclass
from typing import Any, Final

from intaglio.schemas.extraction.grounding import Candidate, FieldReport, Span
from intaglio.schemas.extraction.grounding_modes import ConfidenceMode, Grounding
from intaglio.schemas.extraction.requests import ExtractOptions

from .data_leaves import records
from .date_spellings import written
from .document_index import DocumentIndex, Found, Range
from .leaf_confidence import ScoredOutput, confidences
from .place_choice import choose
from .value_choices import value_choices

MAX_OCCURRENCES: Final = 64


@dataclass(frozen=True, slots=True)
class ReportRequest:
    """The reports that a request asks for, and the document that the values come from."""

    document: str = ""
    grounding: Grounding = "off"
    confidence: ConfidenceMode = "off"
    alternatives: int = 0

    @classmethod
    def of(cls, document: str, options: ExtractOptions) -> "ReportRequest":
        """The reports that the options request. The document is kept only if it is searched."""
        located = options.grounding != "off"
        return cls(
            document if located else "",
            options.grounding,
            options.confidence,
            options.token_alternatives,
        )

    @property
    def is_requested(self) -> bool:
        """Whether there is anything to report."""
        return self.grounding != "off" or self.confidence != "off"


NO_REPORT: Final = ReportRequest()


def field_reports(
    request: ReportRequest, data: Any, schema: Any, output: ScoredOutput
) -> dict[str, FieldReport]:
    """The report of each scalar of `data`, by JSON Pointer; none unless asked for.

    `data` is the answer under `schema`, its numbers as `Decimal` to be exact; `output` are its tokens.
    """
    if not request.is_requested:
        return {}
    if request.grounding == "off":
        reports = {pointer: FieldReport() for pointer in records(data)[1]}
    else:
        reports = locate(request.document, data)
    if request.confidence == "off":
        return reports
    found = confidences(output, value_choices(schema, data), request.alternatives)
    return {
        pointer: report.model_copy(update={"confidence": found[pointer]})
        for pointer, report in reports.items()
    }


def locate(document: str, data: Any) -> dict[str, FieldReport]:
    """The sources of all scalars of `data` in `document`, by JSON Pointer, in the order of `data`."""
    index = DocumentIndex(document)
    root, scalars = records(data)
    kinds = dict[tuple[type, Any], Found]()
    found = dict[str, Found]()
    for pointer, value in scalars.items():
        key = type(value), value
        if key not in kinds:
            kinds[key] = index.find(value)
        found[pointer] = kinds[key]
    chosen = choose(root, {pointer: one.places for pointer, one in found.items()})
    return {pointer: _report(one, chosen.get(pointer)) for pointer, one in found.items()}


def _report(found: Found, chosen: Range | None) -> FieldReport:
    if chosen is None:
        return FieldReport()
    span = _span(chosen)
    other = found.others.get(chosen)
    return FieldReport(
        match=found.match,
        span=span,
        occurrences=tuple(_span(place) for place in _around(found.places, chosen)),
        candidates=() if other is None else (Candidate(value=written(other), span=span),),
    )


def _around(places: tuple[Range, ...], chosen: Range) -> tuple[Range, ...]:
    """The first places; where there are too many, those up to the chosen one and on."""
    at = places.index(chosen)
    first = max(0, min(at - MAX_OCCURRENCES // 2, len(places) - MAX_OCCURRENCES))
    return places[first : first + MAX_OCCURRENCES]


def _span(place: Range) -> Span:
    return Span(start=place[0], end=place[1])
