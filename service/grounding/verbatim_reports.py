"""The reports of verbatim strings: their places are known to be in the document.

Does: find the places of strings that decoding took from the document, also within words and with white space folded.
Does not: determine which strings are verbatim (`extraction.validate`).
"""

import re
from collections.abc import Mapping
from itertools import islice

from intaglio.schemas.extraction.grounding import FieldReport, Span

from .field_reports import MAX_OCCURRENCES


def verbatim_reports(
    reports: Mapping[str, FieldReport], values: Mapping[str, str], document: str
) -> dict[str, FieldReport]:
    """`reports` with those of the verbatim `values`, both by JSON Pointer. Empty strings have an empty span."""
    own = {place: _report(reports[place], values[place], document) for place in values}
    return {**reports, **own}


def _report(located: FieldReport, value: str, document: str) -> FieldReport:
    span = located.span
    if span is not None and _folded(document[span.start : span.end]) == _folded(value):
        return located.model_copy(update={"match": "verbatim"})
    found = re.finditer(_pattern(value), document) if value else iter(())
    spans = [Span(start=one.start(), end=one.end()) for one in islice(found, MAX_OCCURRENCES)]
    first = spans[0] if spans else Span(start=0, end=0)
    update = {"match": "verbatim", "span": first, "occurrences": tuple(spans), "candidates": ()}
    return located.model_copy(update=update)


def _pattern(value: str) -> str:
    """A pattern that finds a value as it is written, or with a run of white space for each space."""
    folded = r"\s+".join(map(re.escape, value.split(" ")))
    return f"{re.escape(value)}|{folded}"


def _folded(text: str) -> str:
    return re.sub(r"\s+", " ", text)
