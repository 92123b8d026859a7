"""Parsers of untrusted XML and HTML: no entities, no network, bounded depth.

Does: stream the elements of XML, and build the tree of HTML. Does not: know formats of documents.
"""

from collections.abc import Iterator
from io import BytesIO
from typing import Any, Final

from lxml import etree, html

from .refused import too_large, unreadable

MAX_DEPTH: Final = 200

_LIMITS: Final = ("ERR_RESOURCE_LIMIT", "ERR_NO_MEMORY")

Event = tuple[str, Any]
"""`start` or `end`, and the element."""


def elements(content: bytes) -> Iterator[Event]:
    """The beginnings and ends of all elements, in the order of the file. An ended element is emptied after its turn.

    Raises:
        ReadingRefused: the XML is malformed, declares a document type, or is nested too deeply.
    """
    if b"<!DOCTYPE" in content[:4096] or b"<!ENTITY" in content:
        raise unreadable("a part of the document declares entities")
    depth = 0
    try:
        for event, element in etree.iterparse(
            BytesIO(content),
            events=("start", "end"),
            no_network=True,
            resolve_entities=False,
            load_dtd=False,
            huge_tree=False,
            remove_comments=True,
            remove_pis=True,
        ):
            depth += 1 if event == "start" else -1
            if depth > MAX_DEPTH:
                raise unreadable("a part of the document is nested too deeply")
            yield event, element
            if event == "end":
                element.clear(keep_tail=True)
                while element.getprevious() is not None:
                    del element.getparent()[0]
    except etree.XMLSyntaxError:
        raise unreadable("a part of the document is not well-formed XML") from None


def html_tree(content: bytes | str, encoding: str | None) -> Any:
    """The root element of an HTML page; None if it has no element. `encoding` is that of bytes.

    Raises:
        ReadingRefused: the page is nested too deeply. The parser would drop the rest of it without an error.
    """
    parser = html.HTMLParser(
        no_network=True,
        huge_tree=True,  # the memory of this process is bounded
        remove_comments=True,
        remove_pis=True,
        encoding=encoding,
        recover=True,
    )
    try:
        root = html.document_fromstring(content, parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError):
        root = None
    if any(error.type_name in _LIMITS for error in parser.error_log):
        raise too_large("the page is nested too deeply", "send its text instead")
    return root
