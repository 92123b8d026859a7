"""HTML pages: the text that a reader sees, tables as rows.

Does: walk the tree without recursion, leaving out scripts, styles and hidden parts. Does not: load anything, run
scripts or apply style sheets.
"""

import re
from typing import Any, Final

from ..encoding_guess import mostly_fits
from .parsed_document import HTML, Note, ParsedDocument, normalised, one_line_of, row
from .read_text import encoding_of, guess_notes
from .refused import unreadable
from .xml_tree import html_tree

_HIDDEN: Final = frozenset(
    {
        *("script", "style", "template", "noscript", "svg", "math", "iframe", "object", "canvas"),
        *("audio", "video", "select", "datalist", "meta", "link"),
    }
)
_BLOCKS: Final = frozenset(
    {
        *("address", "article", "aside", "blockquote", "body", "dd", "details", "div", "dl", "dt"),
        *("fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6"),
        *("head", "header", "hr", "html", "legend", "li", "main", "nav", "ol", "p", "pre"),
        *("section", "summary", "table", "tbody", "tfoot", "thead", "title", "ul", "caption"),
    }
)
_CELLS: Final = frozenset({"td", "th"})
_DECLARED: Final = re.compile(
    rb"<meta[^>]{0,200}charset\s*=\s*[\"']?([\w.:-]{1,40})", re.IGNORECASE
)
_INVISIBLE: Final = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_HEAD: Final = 4096


def read_html(content: bytes) -> ParsedDocument:
    """An HTML page as a document. Raises `ReadingRefused` if it has no element."""
    encoding, notes = _encoding(content)
    return ParsedDocument(HTML, html_text(content, encoding), notes=notes)


def html_text(content: bytes | str, encoding: str | None) -> str:
    """The visible text of a page. Raises `ReadingRefused` if it has no element."""
    root = html_tree(content, encoding)
    if root is None:
        raise unreadable("the page has no content")
    writer = _PageWriter()
    writer.walk(root)
    return normalised("\n".join(writer.lines))


def _encoding(content: bytes) -> tuple[str | None, tuple[Note, ...]]:
    """The encoding of a page, with a note if it is a guess: by its byte order mark, its declaration, or its bytes."""
    declared = _DECLARED.search(content[:_HEAD])
    if declared is not None and not content.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        name = declared[1].decode("ascii").lower()
        try:
            if mostly_fits(content, name):
                return name, ()
        except LookupError:
            pass
    found = encoding_of(content)
    return found, guess_notes(found)


class _PageWriter:
    """Collects the lines of a page; cells of a table wait for the end of their row."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._line: list[str] = []
        self._rows: list[list[list[str]]] = []
        self._pre = 0

    def walk(self, root: Any) -> None:
        """Write an element and all within it."""
        waiting: list[tuple[Any, bool]] = [(root, False)]
        while waiting:
            element, is_over = waiting.pop()
            if is_over:
                self._end(element)
            elif isinstance(element.tag, str) and not _is_hidden(element):
                self._start(element)
                waiting.append((element, True))
                waiting.extend((child, False) for child in reversed(element))
            else:
                self._text(element.tail)

    def _start(self, element: Any) -> None:
        tag = element.tag
        if tag in _BLOCKS:
            self._break()
        elif tag == "tr":
            self._break()
            self._rows.append([])
        elif tag in _CELLS and self._rows:
            self._break()
            self._rows[-1].append([])
        elif tag == "br":
            self._break()
        if tag == "pre":
            self._pre += 1
        elif tag == "li":
            self._line.append("- ")
        elif re.fullmatch("h[1-6]", tag):
            self._line.append("#" * int(tag[1]) + " ")
        elif tag == "input" and element.get("type", "text").lower() not in ("hidden", "password"):
            self._text(element.get("value"))
        self._text(element.text)

    def _end(self, element: Any) -> None:
        tag = element.tag
        if tag in _BLOCKS or (tag in _CELLS and self._rows):
            self._break()
        elif tag == "tr" and self._rows:
            self._break()
            self._write(row(" ".join(cell) for cell in self._rows.pop()))
        if tag == "pre":
            self._pre -= 1
        self._text(element.tail)

    def _text(self, text: str | None) -> None:
        if not text:
            return
        if not self._pre:
            self._line.append(text)
            return
        first, *others = text.split("\n")
        self._line.append(first)
        for line in others:
            self._break()
            self._line.append(line)

    def _break(self) -> None:
        text = "".join(self._line)
        self._line.clear()
        self._write(text.rstrip() if self._pre else one_line_of(text))

    def _write(self, line: str) -> None:
        if not line.strip() or line in ("-", "#"):
            return
        if self._rows and self._rows[-1]:
            self._rows[-1][-1].append(line)
        else:
            self.lines.append(line)


def _is_hidden(element: Any) -> bool:
    return (
        element.tag in _HIDDEN
        or element.get("hidden") is not None
        or element.get("aria-hidden") == "true"
        or bool(_INVISIBLE.search(element.get("style") or ""))
    )
