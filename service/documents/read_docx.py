"""Word documents (DOCX): paragraphs, headings, lists, tables as rows, footnotes, page headers and footers.

Does: stream the parts of the archive that have text. Does not: run macros, follow links or read embedded objects;
deleted text of tracked changes and hidden text are left out.
"""

import re
from itertools import islice
from typing import Any, Final

from .archive import Archive
from .parsed_document import DOCX, ParsedDocument, normalised, row
from .xml_tree import elements

_W: Final = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_STRICT: Final = "{http://purl.oclc.org/ooxml/wordprocessingml/main}"
_SKIPPED: Final = frozenset({"del", "moveFrom", "Fallback", "instrText"})
_MARGINS: Final = re.compile(r"word/(header|footer)\d*\.xml")
_HEADING: Final = re.compile(r"heading\s*([1-6])", re.IGNORECASE)


def read_docx(content: bytes) -> ParsedDocument:
    """A Word document as a document. Raises `ReadingRefused` if it is damaged or too large."""
    with Archive(content) as archive:
        margins = {"header": dict[str, None](), "footer": dict[str, None]()}
        for name in sorted(archive.names):
            if (found := _MARGINS.fullmatch(name)) is not None:
                margins[found[1]].update(dict.fromkeys(_lines(archive.read(name))))
        body = _lines(archive.read("word/document.xml"))
        notes = [
            line
            for part in ("word/footnotes.xml", "word/endnotes.xml")
            if part in archive.names
            for line in _lines(archive.read(part))
        ]
    lines = [*margins["header"], *body, *notes, *margins["footer"]]
    return ParsedDocument(DOCX, normalised("\n".join(lines)))


def _lines(part: bytes) -> list[str]:
    """The lines of one part of the archive."""
    writer = _PartText()
    for event, element in elements(part):
        if event == "start":
            writer.start(element)
        else:
            writer.end(element)
    return writer.lines


class _Paragraph:
    """The text of a paragraph so far, its prefix, such as a list number, and whether the current run is hidden."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.prefix = ""
        self.hidden = False


class _PartText:
    """Collects the lines of a part, in which paragraphs and tables may be nested."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._paragraphs: list[_Paragraph] = []
        self._rows: list[list[str]] = []
        self._cells: list[list[str]] = []
        self._skipped = 0

    def start(self, element: Any) -> None:
        """An element begins."""
        name = _local(element.tag)
        if name in _SKIPPED:
            self._skipped += 1
        elif name == "p":
            self._paragraphs.append(_Paragraph())
        elif name == "tr":
            self._rows.append([])
        elif name == "tc":
            self._cells.append([])
        elif name in ("footnote", "endnote") and self._number(element):
            self.lines.append(f"[{self._number(element)}]")

    def end(self, element: Any) -> None:
        """An element has ended, and its content is known."""
        name = _local(element.tag)
        if name in _SKIPPED:
            self._skipped -= 1
        elif name == "p" and self._paragraphs:
            found = self._paragraphs.pop()
            self._write(found.prefix + "".join(found.parts))
        elif name == "tc" and self._cells:
            cell = "\n".join(self._cells.pop())
            if self._rows:
                self._rows[-1].append(cell)
        elif name == "tr" and self._rows:
            self._write(row(self._rows.pop()))
        elif self._paragraphs and not self._skipped:
            self._add(name, element)

    def _add(self, name: str, element: Any) -> None:
        """Add the text of an element to the innermost paragraph."""
        paragraph = self._paragraphs[-1]
        if name == "vanish":
            above = [_local(each.tag) for each in islice(element.iterancestors(), 2)]
            paragraph.hidden = _is_on(element) and above == ["rPr", "r"]
        elif name == "r":
            paragraph.hidden = False
        elif paragraph.hidden:
            return
        elif name == "t":
            paragraph.parts.append(element.text or "")
        elif name == "tab" and _local(element.getparent().tag) == "r":
            paragraph.parts.append("\t")
        elif name in ("br", "cr"):
            paragraph.parts.append("\n")
        elif name == "noBreakHyphen":
            paragraph.parts.append("-")
        elif name in ("footnoteReference", "endnoteReference"):
            paragraph.parts.append(f"[{self._number(element)}]")
        elif name == "pStyle":
            heading = _HEADING.fullmatch(_attribute(element, "val"))
            if heading is not None:
                paragraph.prefix = "#" * int(heading[1]) + " "
        elif name == "numPr" and not paragraph.prefix:
            paragraph.prefix = "- "

    def _write(self, text: str) -> None:
        if not text.strip():
            return
        if self._cells:
            self._cells[-1].append(text)
        elif self.lines and re.fullmatch(r"\[\d+\]", self.lines[-1]):  # the number of a note
            self.lines[-1] += f" {text.strip()}"
        else:
            self.lines.append(text)

    def _number(self, element: Any) -> str:
        """The number of a note; empty for separators, which are stored among the notes."""
        number = _attribute(element, "id")
        is_note = number.isascii() and number.isdecimal() and not _attribute(element, "type")
        return number if is_note else ""


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]


def _is_on(element: Any) -> bool:
    """Whether a property that is a switch is on, as it is without a value."""
    return _attribute(element, "val") not in ("0", "false", "off")


def _attribute(element: Any, name: str) -> str:
    found = element.get(_W + name) or element.get(_STRICT + name) or ""
    return str(found)
