"""Papers as annotated for GROBID (Apache-2.0): headers, affiliations, references, names, dates.

The annotation is TEI around the text as it was printed, so each value stands in the document.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from lxml import etree

from . import dates
from .records import Record, Sort, Stated, Table, cut

_PARSER_OPTIONS = {"resolve_entities": False, "no_network": True, "recover": False}


def _root(text: str) -> etree._Element | None:
    try:
        return etree.fromstring(text.encode(), etree.XMLParser(**_PARSER_OPTIONS))
    except etree.XMLSyntaxError:
        return None


def _local(element: etree._Element) -> str:
    return etree.QName(element).localname if isinstance(element.tag, str) else ""


def _flat(element: etree._Element) -> str:
    """All text of an element on one line."""
    return re.sub(r"\s+", " ", "".join(element.itertext())).strip()


def _trimmed(text: str) -> str:
    return text.strip(" ,;:.")


def _lines(element: etree._Element) -> str:
    """All text of an element, with the line breaks that the page had."""
    parts: list[str] = []
    for node in element.iter():
        if _local(node) == "lb":
            parts.append("\n")
        elif node.text:
            parts.append(re.sub(r"\s+", " ", node.text))
        if node.tail and node is not element:
            parts.append(re.sub(r"\s+", " ", node.tail))
    lines = (line.strip() for line in "".join(parts).split("\n"))
    return "\n".join(line for line in lines if line)


def _find(root: etree._Element, name: str, **attributes: str) -> list[etree._Element]:
    return [
        node
        for node in root.iter()
        if _local(node) == name and all(node.get(key) == value for key, value in attributes.items())
    ]


def _first(root: etree._Element, name: str, **attributes: str) -> str | None:
    found = _find(root, name, **attributes)
    return _trimmed(_flat(found[0])) or None if len(found) == 1 else None


def _stated(root: etree._Element, keys: str, name: str, notes: str = "", **attributes: str) -> tuple[Stated, ...]:
    """The field of a name: null where there is no such element, left out where there are several."""
    if len(_find(root, name, **attributes)) > 1:
        return ()
    return (Stated(keys, _first(root, name, **attributes), notes=notes),)


def references(path: str, text: str) -> Iterator[Record]:
    """One record a reference."""
    root = _root(text)
    for entry in _find(root, "bibl") if root is not None else ():
        document = _flat(entry)
        title = _first(entry, "title", level="a")
        journal = _first(entry, "title", level="j")
        book = _first(entry, "title", level="m")
        if len(document) < 30 or not (title or journal or book):
            continue
        year = re.search(r"\b(1[5-9]\d\d|20\d\d)\b", _first(entry, "date") or "")
        several = len(_find(entry, "date")) > 1 or len(_find(entry, "title", level="a")) > 1
        if several or len(_find(entry, "title")) > 2:
            continue
        fields = (
            *_stated(entry, "authors|author|by|author_names", "author", "as printed"),
            Stated("title|article_title|paper|work", title, notes="Title of the article") if title or not book else Stated("title|book_title|work", book),
            *_stated(entry, "journal|periodical|published_in|journal_name", "title", level="j"),
            Stated("year|publication_year|published", int(year[1]) if year else None, "number"),
            *_stated(entry, "volume|vol", "biblScope", type="vol"),
            *_stated(entry, "issue|number|no", "biblScope", type="issue"),
            *_stated(entry, "pages|page_range|pp", "biblScope", type="pp"),
            *_stated(entry, "publisher|publishing_house|press", "publisher"),
            *_stated(entry, "place|city|place_of_publication", "pubPlace"),
            *((Stated("container|book_title|proceedings", book, notes="Book or proceedings it is in"),) if title else ()),
            *_stated(entry, "editor|editors|edited_by", "editor"),
            *_stated(entry, "url|link|web", "ptr", type="web"),
        )  # fmt: skip
        yield Record("references", document, fields)


def affiliation(path: str, text: str) -> Iterator[Record]:
    """Addresses of institutions, one record a file, a row an affiliation."""
    root = _root(text)
    found = _find(root, "affiliation") if root is not None else []
    for entry in found:
        document = _lines(entry)
        names = _find(entry, "orgName")
        if len(document) < 20 or not names or any(name.get("type") is None for name in names):
            continue
        fields = (
            *_stated(entry, "institution|organisation|organization|university|company", "orgName", type="institution"),
            *_stated(entry, "department|division|unit", "orgName", type="department"),
            *_stated(entry, "laboratory|lab|group", "orgName", type="laboratory"),
            *_stated(entry, "street|address_line|street_address", "addrLine"),
            *_stated(entry, "city|town|settlement|place", "settlement"),
            *_stated(entry, "region|state|province", "region"),
            *_stated(entry, "postcode|postal_code|zip|zip_code", "postCode"),
            *_stated(entry, "country|nation", "country"),
            Stated("email|mail", None, "email"),
            *_stated(entry, "po_box|post_box", "postBox"),
        )
        if not any(stated.value for stated in fields):
            continue
        yield Record("affiliations", document, fields)


def header(path: str, text: str) -> Record | None:
    """The first page of a paper."""
    rng = random.Random(path)
    root = _root(text)
    fronts = _find(root, "front") if root is not None else []
    if not fronts:
        return None
    front = fronts[0]
    title = _first(front, "titlePart") or _first(front, "docTitle")
    document = cut(_lines(front), rng.choice((900, 1800, 3400)), ())
    mails = [_trimmed(_flat(node)) for node in _find(front, "email")]
    if not title or document is None or len(document) < 120:
        return None
    flat = re.sub(r"\s+", " ", document)
    if title not in flat:
        return None

    def seen(value: str | None) -> str | None:
        return value if value and value in flat else None

    published = seen(_first(front, "date"))
    fields = (
        Stated("title|paper_title|article_title", title, notes="Title of the paper, on one line"),
        Stated("authors|author_line|by|author_names", seen(_first(front, "docAuthor")), notes="as printed"),
        Stated("affiliation|institution|organisation", seen(_first(front, "affiliation")), notes="as printed"),
        Stated("email|contact_email|correspondence", seen(mails[0]) if len(mails) == 1 and "@" in mails[0] and " " not in mails[0] else None),
        Stated("journal|periodical|venue", seen(_first(front, "title", level="j"))),
        Stated("doi|identifier", seen(_first(front, "idno"))),
        Stated("published|date|publication_date", dates.read(published) if published else None, "date"),
        Stated("keywords|key_words|index_terms", seen(_first(front, "keyword")), notes="as printed"),
        Stated("publisher|publishing_house", seen(_first(front, "publisher"))),
        Stated("price|fee", None, "number"),
    )  # fmt: skip
    return Record("paper-headers", document, fields)


def author_names(path: str, text: str) -> Record | None:
    """Lines of authors, a row a person."""
    root = _root(text)
    people = _find(root, "persName") if root is not None else []
    rows = tuple(
        (
            " ".join(_trimmed(_flat(node)) for node in _find(person, "forename")) or None,
            _first(person, "surname"),
        )
        for person in people
    )
    authors = _find(root, "author") if root is not None else []
    if not rows or len(authors) != 1 or len(rows) > 9 or any(None in row for row in rows):
        return None
    columns: tuple[tuple[str, Sort], ...] = (
        ("first_name|given_name|forename", "text"),
        ("last_name|surname|family_name", "text"),
    )
    document = _flat(authors[0])
    fields = (Stated("number_of_authors|count|author_count", len(rows), "number"),)
    return Record("author-lines", document, fields, (Table("authors|people|persons|names", columns, rows),))
