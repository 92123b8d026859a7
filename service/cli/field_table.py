"""The reports of an answer's values as a table for the terminal.

Does: show for each value its source within its line, the kind of match and the probability. Does not: print.
"""

from collections.abc import Mapping
from typing import Final

from intaglio.schemas.extraction.grounding import FieldReport, LeafConfidence, Span
from rich.table import Table
from rich.text import Text

_AROUND: Final = 24  # characters of the document before and after a source
_LONGEST: Final = 60  # characters of a source that are shown
_AGREEMENT: Final = {True: "same", False: "other", None: ""}


def field_table(fields: Mapping[str, FieldReport], document: str | None) -> Table:
    """A row for each value. `document` is the text that the spans refer to; None shows pages and offsets instead.

    Calibrated probabilities and second readings have columns if the answer has them.
    """
    table = Table(box=None, header_style="dim", pad_edge=False)
    sures = [report.confidence for report in fields.values() if report.confidence is not None]
    has_right = any(sure.calibrated is not None for sure in sures)
    has_agreement = any(sure.agrees is not None for sure in sures)
    more = (*(("right",) if has_right else ()), *(("again",) if has_agreement else ()))
    for name in ("value", "match", "source", "probability", "masked", *more):
        table.add_column(name, no_wrap=name != "source", justify="left")
    for pointer, report in fields.items():
        sure = report.confidence
        table.add_row(
            Text(pointer or "/"),
            Text(report.match),
            _place(report) if document is None else _source(document, report.span),
            *(_share(share) for share in _shares(sure, has_right)),
            *((Text(_AGREEMENT[None if sure is None else sure.agrees]),) if has_agreement else ()),
        )
    return table


def _shares(sure: LeafConfidence | None, has_right: bool) -> tuple[float | None, ...]:
    """The figures of a confidence, in the order of their columns."""
    sure = sure or LeafConfidence()
    return (sure.probability, sure.masked, *((sure.calibrated,) if has_right else ()))


def _share(share: float | None) -> Text:
    return Text("" if share is None else f"{share:.3f}")


def _place(report: FieldReport) -> Text:
    """The page and the offsets of a source."""
    if report.span is None:
        return Text()
    page = "" if report.page is None else f"page {report.page}, "
    return Text(f"{page}{report.span.start}-{report.span.end}")


def _source(document: str, span: Span | None) -> Text:
    """A source with its context in the line; the source itself is bold."""
    if span is None:
        return Text()
    before = document[max(0, span.start - _AROUND) : span.start].rpartition("\n")[2]
    after = document[span.end : span.end + _AROUND].partition("\n")[0]
    source = " ".join(document[span.start : span.end].split())
    if len(source) > _LONGEST:
        source = source[: _LONGEST - 1] + "…"
    return Text.assemble(
        (_printable(before), "dim"), (_printable(source), "bold"), (_printable(after), "dim")
    )


def _printable(text: str) -> str:
    """The text without control characters, which could change the terminal."""
    return "".join(c if c.isprintable() else " " for c in text)
