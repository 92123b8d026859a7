"""The pages and boxes of the sources of an answer's values.

Does: turn spans of the text into pages and boxes, one box for each line. Does not: find spans.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from intaglio.schemas.extraction.grounding import Box, FieldReport, Span

from .parsed_document import Page, ParsedDocument

_GAP: Final = 3.0  # in heights of a character; text further apart is in another column

Rectangle = tuple[float, float, float, float]


def placed(fields: Mapping[str, FieldReport], document: ParsedDocument) -> dict[str, FieldReport]:
    """`fields` with the page and the boxes of each span."""
    return {pointer: _placed(report, document) for pointer, report in fields.items()}


def span_boxes(span: Span, document: ParsedDocument) -> tuple[Box, ...]:
    """The boxes that a span covers, line by line; none if the format has no places."""
    return tuple(
        Box(page=page.number, x0=x0, y0=y0, x1=x1, y1=y1)
        for page in document.pages
        if page.boxes and page.start < span.end and span.start < page.end
        for x0, y0, x1, y1 in _lines(page, span, document.text)
    )


def _placed(report: FieldReport, document: ParsedDocument) -> FieldReport:
    if report.span is None:
        return report
    page = document.page_at(report.span.start)
    boxes = span_boxes(report.span, document)
    return report.model_copy(update={"page": page and page.number, "boxes": boxes})


def _lines(page: Page, span: Span, text: str) -> Iterator[Rectangle]:
    """The rectangles around the characters of a span on one page; a new one begins with a line or a column."""
    numbers = page.places()
    current: Rectangle | None = None
    for offset in range(max(page.start, span.start), min(page.end, span.end)):
        at = 4 * (offset - page.start)
        box: Rectangle = (numbers[at], numbers[at + 1], numbers[at + 2], numbers[at + 3])
        if current is not None and (text[offset] == "\n" or (any(box) and _is_apart(current, box))):
            yield current
            current = None
        if any(box):
            current = box if current is None else _union(current, box)
    if current is not None:
        yield current


def _is_apart(one: Rectangle, other: Rectangle) -> bool:
    height = max(other[3] - other[1], other[2] - other[0], 4.0)
    across = max(other[0] - one[2], one[0] - other[2])
    down = max(other[1] - one[3], one[1] - other[3])
    return across > _GAP * height or down > _GAP * height


def _union(one: Rectangle, other: Rectangle) -> Rectangle:
    low, high = map(min, one[:2], other[:2]), map(max, one[2:], other[2:])
    x0, y0, x1, y1 = (*low, *high)
    return x0, y0, x1, y1
