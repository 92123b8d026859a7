"""The reports of the values of a merged document: sources as places of the whole, other readings as candidates.

Does: carry the reports and pointers of windows over to the whole. Does not: find sources or choose values.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from intaglio.schemas.extraction.grounding import Candidate, FieldReport, Span

from ..grounding.data_leaves import records
from .merge_readings import ChosenValue, Merged, Relocation
from .split import Window

Fields = Mapping[str, FieldReport]


def merged_fields(
    merged: Merged, data: Any, windows: Sequence[Window], fields: Sequence[Fields], repaired: Fields
) -> dict[str, FieldReport]:
    """The report of each scalar of `data`: that of the window that gave it, with spans in the whole document.

    `fields` are the reports of each window, `repaired` those of values that no window gave, with spans in the whole.
    """
    found = dict[str, FieldReport]()
    places = relocated_pointers(merged.relocations)
    for number, (window, reports) in enumerate(zip(windows, fields, strict=True)):
        for pointer, report in reports.items():
            place = pointer_in_whole(pointer, places.get(number, {}))
            if place is not None:
                found[place] = shifted(report, window.start)
    for pointer, others in merged.candidates.items():
        if pointer in found:
            report = found[pointer]
            more = tuple(_candidate(one, pointer, windows, fields) for one in others)
            found[pointer] = report.model_copy(update={"candidates": (*report.candidates, *more)})
    _, scalars = records(data)
    return {place: repaired.get(place) or found.get(place) or FieldReport() for place in scalars}


def shifted(report: FieldReport, offset: int) -> FieldReport:
    """A report of a part of a document, with its spans in the whole; the part begins at `offset`."""
    return report.model_copy(
        update={
            "span": _shifted_span(report.span, offset),
            "occurrences": tuple(
                Span(start=one.start + offset, end=one.end + offset) for one in report.occurrences
            ),
            "candidates": tuple(
                one.model_copy(update={"span": _shifted_span(one.span, offset)})
                for one in report.candidates
            ),
        }
    )


def relocated_pointers(relocations: Sequence[Relocation]) -> dict[int, dict[str, str]]:
    """By window, the pointers of its values in the whole."""
    places: dict[int, dict[str, str]] = {}
    for one in relocations:
        places.setdefault(one.number, {})[one.pointer] = one.to
    return places


def pointer_in_whole(place: str, relocations: Mapping[str, str]) -> str | None:
    """The pointer in the whole of a value of a window; None if the value is not part of it."""
    head, tail = place, ""
    while head not in relocations:
        if not head:
            return None
        head, _, last = head.rpartition("/")
        tail = f"/{last}{tail}"
    return relocations[head] + tail


def _candidate(
    other: ChosenValue, pointer: str, windows: Sequence[Window], fields: Sequence[Fields]
) -> Candidate:
    report = fields[other.number].get(pointer)
    span = None if report is None else _shifted_span(report.span, windows[other.number].start)
    return Candidate(value=other.value, span=span, probability=other.certainty)


def _shifted_span(span: Span | None, offset: int) -> Span | None:
    return None if span is None else Span(start=span.start + offset, end=span.end + offset)
