"""A parsed document: its text, its pages, and the box of each character on its page.

Does: define the frozen values that readers make and that travel between processes. Does not: read files.

Offsets are code points of the normalised text: lines end with a line feed, and there are no control characters except
tabs and line feeds.
"""

import re
from array import array
from collections.abc import Iterable
from typing import Final

import msgspec

PDF: Final = "application/pdf"
DOCX: Final = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
XLSX: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
XLSB: Final = "application/vnd.ms-excel.sheet.binary.macroenabled.12"
XLS: Final = "application/vnd.ms-excel"
ODS: Final = "application/vnd.oasis.opendocument.spreadsheet"
HTML: Final = "text/html"
MAIL: Final = "message/rfc822"
PLAIN: Final = "text/plain"

NO_TEXT_LAYER: Final = "no_text_layer"
"""The kind of the note about pages without a text layer."""
BLANK_PAGE: Final = "blank_page"
"""The kind of the note about pages on which nothing is drawn."""

UNKNOWN: Final = "application/octet-stream"

MAX_ATTACHMENTS: Final = 64
MAX_ATTACHED_BYTES: Final = 16 << 20

CELLS: Final = " | "
"""What separates the cells of a table in a line of text."""

_LINE_ENDS: Final = re.compile("\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_CONTROLS: Final = re.compile("[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f]")
_SURROGATES: Final = re.compile("[\ud800-\udfff]")


class Page(msgspec.Struct, frozen=True):
    """A page, or the sheet of a workbook. `number` counts from 1; its text is the range from `start` to `end`.

    `width` and `height` are in points, 0 if the format has no sizes. `boxes` are four 32-bit floats for each character
    of the range (x0, y0, x1, y1 in points from the top left corner), all zero for a character without a glyph; empty if
    the format has no places. `label` is the name of the sheet, or the page number as printed.
    """

    number: int
    start: int
    end: int
    width: float = 0.0
    height: float = 0.0
    label: str = ""
    boxes: bytes = b""

    def places(self) -> "array[float]":
        """`boxes` as numbers."""
        found = array("f")
        found.frombytes(self.boxes)
        return found


class Note(msgspec.Struct, frozen=True):
    """Content of a document that its reader cannot give: `kind` is stable, `pages` are the pages concerned."""

    kind: str
    message: str
    pages: tuple[int, ...] = ()


class AttachedFile(msgspec.Struct, frozen=True):
    """A file within a document: an attachment of a mail or a PDF. `media_type` is that of its content."""

    name: str
    media_type: str
    content: bytes


class ParsedDocument(msgspec.Struct, frozen=True):
    """A document as text. `media_type` follows from the content, not from the file's name or its sender."""

    media_type: str
    text: str
    pages: tuple[Page, ...] = ()
    notes: tuple[Note, ...] = ()
    attachments: tuple[AttachedFile, ...] = ()

    def page_at(self, offset: int) -> Page | None:
        """The page with the character at `offset`; None between pages, and in a document without pages."""
        low, high = 0, len(self.pages)
        while low < high:
            middle = (low + high) // 2
            if self.pages[middle].end <= offset:
                low = middle + 1
            else:
                high = middle
        found = self.pages[low] if low < len(self.pages) else None
        return found if found is not None and found.start <= offset else None


class PageText(msgspec.Struct, frozen=True):
    """The text of a page before it has its place in the document; the fields as in `Page`."""

    text: str
    label: str = ""
    width: float = 0.0
    height: float = 0.0
    boxes: bytes = b""


def joined(pages: Iterable[PageText]) -> tuple[str, tuple[Page, ...]]:
    """The text of a document and its pages, with an empty line between the texts of two pages."""
    texts, found, at = list[str](), list[Page](), 0
    for number, page in enumerate(pages, 1):
        if texts and page.text:
            texts.append("\n\n")
            at += 2
        end = at + len(page.text)
        found.append(Page(number, at, end, page.width, page.height, page.label, page.boxes))
        texts.append(page.text)
        at = end
    return "".join(texts), tuple(found)


def normalised(text: str) -> str:
    """`text` with line feeds as line ends, without other control characters and lone surrogates."""
    text = _CONTROLS.sub(" ", _LINE_ENDS.sub("\n", text))
    return _SURROGATES.sub("\ufffd", text)


def one_line_of(text: str) -> str:
    """`text` with each run of white space as one space, and none at the ends."""
    return " ".join(text.split())


def row(cells: Iterable[str]) -> str:
    """A row of a table as a line; empty cells at its end are left out."""
    found = [one_line_of(cell) for cell in cells]
    while found and not found[-1]:
        found.pop()
    return CELLS.join(found)
