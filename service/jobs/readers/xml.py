"""Reader of XML files: one element per record.

Does: read the file as a stream and free each record once it is built. Does not: accept document type definitions (which
bring entities, external files and entity bombs), or use the network.
"""

from collections.abc import Generator, Iterator
from contextlib import closing, suppress
from itertools import islice
from pathlib import Path
from typing import Any, Final

from intaglio.schemas.jobs import Source
from lxml import etree
from pydantic import JsonValue

from ..records.errors import InputRefused
from ..records.input_files import open_source
from ..records.record import Record, RecordMapping, Rejected, document, suggestion

MOST_DEPTH: Final = 200
MOST_TEXT_BYTES: Final = 10_000_000  # of a text without elements; libxml2's own limit
_PROBED_RECORDS: Final = 100  # elements; a field that none of them has is misspelled


def read(source: Source, path: Path) -> Iterator[Record | Rejected]:
    """The elements at `source.record`; see `readers.records`. Without text or template, all text of the element is
    used.
    """
    record_path, shape = _path(source), RecordMapping(source)
    _require_fields(path, record_path, shape)
    count = 0
    for element in _elements(path, record_path):
        count += 1
        yield _record(shape, element, f"/record/{count}")
    if not count:
        raise InputRefused(
            f"no element is at {'/'.join(record_path)!r}",
            param="source.record",
            hint="give the path from the root, such as catalog/item, or a name alone for any place",
        )


def _elements(path: Path, record_path: tuple[str, ...]) -> Generator[Any, None, None]:
    """The elements at a path, one at a time; each is freed when the next is asked for."""
    with open_source(path) as file:
        events = etree.iterparse(
            file,
            events=("start", "end"),
            resolve_entities=False,
            no_network=True,
            load_dtd=False,
            huge_tree=False,
            remove_comments=True,
            remove_pis=True,
        )
        try:
            yield from _ended(events, record_path)
        except etree.XMLSyntaxError as error:
            raise _fault(path.name, str(error.msg), events.error_log) from None


def _fault(name: str, message: str, log: Any) -> InputRefused:
    """The refusal of a file that libxml2 cannot read on. Of an undefined entity, only its log tells."""
    undefined = [entry for entry in log if entry.type == etree.ErrorTypes.ERR_UNDECLARED_ENTITY]
    hint = "records before that position have been read"
    if undefined:
        message = f"{undefined[0].message}, line {undefined[0].line}"
        hint = f"write the character itself, or its number, such as &#160;; {hint}"
    elif "XML_PARSE_HUGE" in message:
        reason = f"{name} has a text of more than {MOST_TEXT_BYTES} bytes in one element"
        return InputRefused(reason, param="source.path", hint=hint)
    return InputRefused(f"{name} is not well-formed XML: {message}", param="source.path", hint=hint)


def _ended(events: Any, record_path: tuple[str, ...]) -> Iterator[Any]:
    above: list[str] = []
    inside = 0  # depth of the current record, 0 outside
    for event, element in events:
        if event == "start":
            if not above:
                _no_definitions(element)
            above.append(etree.QName(element).localname)
            if len(above) > MOST_DEPTH:
                raise InputRefused(f"elements are nested deeper than {MOST_DEPTH}")
            if not inside and _fits(above, record_path):
                inside = len(above)
            continue
        if inside == len(above):
            inside = 0
            yield element
        above.pop()
        if not inside:
            # The empty element stays in the tree; this removes its preceding siblings.
            element.clear(keep_tail=False)
            while element.getprevious() is not None:
                del element.getparent()[0]


def _require_fields(path: Path, record_path: tuple[str, ...], shape: RecordMapping) -> None:
    """Refuse a field that none of the first elements has, because it is misspelled."""
    absent = dict.fromkeys(shape.names)
    known: dict[str, None] = {}
    count = 0
    # Faults of the file itself are reported when it is read, after the records before them.
    with suppress(InputRefused), closing(_elements(path, record_path)) as elements:
        for element in islice(elements, _PROBED_RECORDS if absent else 0):
            count += 1
            absent = {name: None for name in absent if _field(element, name) is None}
            known |= {f"@{etree.QName(name).localname}": None for name in element.attrib}
            known |= {etree.QName(child).localname: None for child in element}
    for name in absent if count else ():
        some = f"none of the first {count} elements" if count == _PROBED_RECORDS else "no element"
        raise InputRefused(
            f"{some} at {'/'.join(record_path)!r} has {name!r}",
            param="source",
            hint=suggestion(name, tuple(known)),
        )


def _no_definitions(root: Any) -> None:
    if root.getroottree().docinfo.doctype:
        raise InputRefused(
            "the file has a document type definition (DOCTYPE), which is refused",
            param="source.path",
            hint="remove it: its entities could refer to other files or grow without bound",
        )


def _path(source: Source) -> tuple[str, ...]:
    parts = tuple((source.record or "").strip("/").split("/"))
    if not all(parts):
        raise InputRefused(
            "no path to the record elements is given",
            param="source.record",
            hint="give their path from the root, such as catalog/item (--record)",
        )
    return parts


def _fits(above: list[str], record_path: tuple[str, ...]) -> bool:
    """Whether the open elements match `wanted`; a single name matches at any depth, `*` matches any name."""
    if len(record_path) == 1:
        return above[-1] == record_path[0]
    return len(above) == len(record_path) and all(
        want in ("*", name) for name, want in zip(above, record_path, strict=True)
    )


def _record(shape: RecordMapping, element: Any, where: str) -> Record | Rejected:
    missing = [name for name in shape.required if _field(element, name) is None]
    if missing:
        return Rejected(f"the element has no {missing[0]!r}", where)
    if shape.source.text is None and shape.source.template is None:
        keep: dict[str, JsonValue] = {n: _field(element, n) for n in shape.source.keep}
        name = None if shape.source.id is None else _field(element, shape.source.id)
        return document(_words(element), where, name, keep)
    return shape.record(lambda name: _field(element, name), where)


def _field(element: Any, path: str) -> str | None:
    """The text at a path below the element: `title`, `meta/author`, `@lang`, `meta/@id`; all of it if several match."""
    *steps, last = path.split("/")
    found = [element]
    for step in steps if last.startswith("@") else (*steps, last):
        found = [c for each in found for c in each if etree.QName(c).localname == step]
    if last.startswith("@"):
        values = (_attribute(each, last[1:]) for each in found)
        texts = [value for value in values if value is not None]
    else:
        texts = [_words(each) for each in found]
    return "\n".join(texts) if texts else None


def _attribute(element: Any, name: str) -> str | None:
    """The value of an attribute: the one without a namespace, else the first of that name."""
    plain: str | None = element.get(name)
    if plain is not None:
        return plain
    return next((v for key, v in element.items() if etree.QName(key).localname == name), None)


def _words(element: Any) -> str:
    """All text below an element; child elements with text begin a new line."""
    return "\n".join(part.strip() for part in element.itertext() if part.strip())
