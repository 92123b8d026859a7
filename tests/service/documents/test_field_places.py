"""Spans of the text get the boxes of their glyphs: one for each line, none for formats without places."""

import random
from array import array

import pypdfium2 as pdfium
from intaglio.schemas.extraction.grounding import Box, FieldReport, Span
from intaglio.service.documents.field_places import placed, span_boxes
from intaglio.service.documents.parse_document import parse_document
from intaglio.service.documents.parsed_document import PDF, PLAIN, Page, ParsedDocument

from tests.support.document_files import pdf


def test_each_line_of_a_span_has_a_box_around_its_glyphs() -> None:
    document = parse_document(pdf([["first page"], ["one two", "three four"]]))
    start = document.text.index("two")
    boxes = span_boxes(Span(start=start, end=document.text.index(" four")), document)
    assert [box.page for box in boxes] == [2, 2]
    assert boxes[0].y1 < boxes[1].y0
    page = document.pages[1]
    numbers = page.places()
    for box, word in zip(boxes, ("two", "three"), strict=True):
        at = document.text.index(word) - page.start
        glyphs = [numbers[4 * i : 4 * i + 4] for i in range(at, at + len(word))]
        assert box.x0 == min(glyph[0] for glyph in glyphs)
        assert box.y0 == min(glyph[1] for glyph in glyphs)
        assert box.x1 == max(glyph[2] for glyph in glyphs)
        assert box.y1 == max(glyph[3] for glyph in glyphs)


def test_the_text_read_back_inside_the_boxes_is_that_of_the_span() -> None:
    choose = random.Random(4)
    words = [
        "Gross",
        "amount",
        "EUR",
        "1.059,00",
        "Qty",
        "ijlI",
        "gypsum",
        "x",
        "(net)",
        "W&M",
        "%",
    ]
    pages = [[" ".join(choose.choices(words, k=6)) for _ in range(12)] for _ in range(3)]
    content = pdf(pages)
    document = parse_document(content)
    drawn = pdfium.PdfDocument(content)
    try:
        for _ in range(120):
            start = choose.randrange(len(document.text) - 1)
            end = min(len(document.text), start + choose.randint(1, 90))
            boxes = span_boxes(Span(start=start, end=end), document)
            inside = "".join(_text_in(drawn, box) for box in boxes)
            assert _glyphs(inside) == _glyphs(document.text[start:end])
    finally:
        drawn.close()


def _text_in(drawn: pdfium.PdfDocument, box: Box) -> str:
    """What the library finds in a rectangle, grown by a hair: it takes characters that lie within."""
    page = drawn[box.page - 1]
    height, text = page.get_height(), page.get_textpage()
    edges = (box.x0 - 0.01, height - box.y1 - 0.01, box.x1 + 0.01, height - box.y0 + 0.01)
    found: str = text.get_text_bounded(*edges)
    return found


def _glyphs(text: str) -> str:
    return "".join(text.split())


def test_a_span_over_two_pages_has_boxes_on_both() -> None:
    document = parse_document(pdf([["end"], ["begin"]]))
    boxes = span_boxes(Span(start=0, end=len(document.text)), document)
    assert [box.page for box in boxes] == [1, 2]


def test_columns_have_boxes_of_their_own() -> None:
    numbers = [0, 0, 5, 10, 6, 0, 11, 10, 300, 0, 305, 10]
    page = Page(1, 0, 3, 400, 100, boxes=array("f", numbers).tobytes())
    boxes = span_boxes(Span(start=0, end=3), ParsedDocument(PDF, "abc", (page,)))
    assert [(box.x0, box.x1) for box in boxes] == [(0, 11), (300, 305)]


def test_reports_get_a_page_and_boxes() -> None:
    document = parse_document(pdf([["first"], ["second"]]))
    start = document.text.index("second")
    reports = {
        "/a": FieldReport(match="exact", span=Span(start=start, end=start + 6)),
        "/b": FieldReport(),
    }
    found = placed(reports, document)
    assert found["/a"].page == 2
    assert len(found["/a"].boxes) == 1
    assert found["/b"] == reports["/b"]
    sheets = ParsedDocument(PLAIN, "a\n\nb", (Page(1, 0, 1, label="A"), Page(2, 3, 4, label="B")))
    report = placed({"/a": FieldReport(span=Span(start=3, end=4))}, sheets)["/a"]
    assert (report.page, report.boxes) == (2, ())
    plain = ParsedDocument(PLAIN, "text")
    assert placed({"/a": FieldReport(span=Span(start=0, end=4))}, plain)["/a"].page is None
