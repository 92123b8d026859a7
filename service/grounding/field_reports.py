"""The report of each value of an answer: where in the document it comes from.

Does: find all values, choose among their places, and put both on the wire. Does not: change values.
"""

from dataclasses import dataclass
from typing import Any, Final

from intaglio.schemas.grounding import Candidate, FieldReport, Grounding, Span
from intaglio.schemas.wire import ExtractOptions

from .data_leaves import records
from .date_spellings import written
from .document_index import DocumentIndex, Found, Range
from .place_choice import choose

MAX_OCCURRENCES: Final = 64


@dataclass(frozen=True, slots=True)
class ReportRequest:
    """What an answer is to report of its values, and the document that they come from."""

    document: str = ""
    grounding: Grounding = "off"

    @classmethod
    def of(cls, document: str, options: ExtractOptions) -> "ReportRequest":
        """What the options ask for. A document without reports is not kept."""
        if options.grounding == "off":
            return NO_REPORT
        return cls(document, options.grounding)

    @property
    def is_wanted(self) -> bool:
        """Whether there is anything to report."""
        return self.grounding != "off"


def is_reportable(options: ExtractOptions) -> bool:
    """Whether the reports that the options ask for can be made."""
    return options.grounding != "verbatim" and options.confidence == "off"


NO_REPORT: Final = ReportRequest()


def field_reports(request: ReportRequest, data: Any) -> dict[str, FieldReport]:
    """The report of each scalar of `data`, by JSON Pointer. Numbers of `data` may be `Decimal`, to be exact."""
    return locate(request.document, data) if request.is_wanted else {}


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
