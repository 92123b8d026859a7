"""Writer of XML: `<rows>` with a `<row>` for each row; source columns are `<key name="…">`, result values are elements.

Values of source columns are written like those of the result.

A property is an element of its name, or `<field name="…">` if the name is not valid in XML. Items of a list are
`<item>`. A null is an element with `null="true"`, an element without text is an empty string. Lists, numbers, Booleans
and empty objects are marked with `type`. A text that XML cannot represent is written as a JSON string and marked with
`encoding="json"`.
"""

import json
import re
from typing import Any, BinaryIO, Final

from intaglio.schemas.jobs import Output
from lxml import etree
from pydantic import JsonValue

from ..records.result_columns import Layout, Rows

_NAME: Final = re.compile(r"(?!(?i:xml))[A-Za-z_][A-Za-z0-9_.-]*")
_UNHOLDABLE: Final = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write(file: BinaryIO, rows: Rows, layout: Layout, output: Output) -> None:  # noqa: ARG001 - the signature of all writers
    """Write every row."""
    with etree.xmlfile(file, encoding="utf-8") as document:
        document.write_declaration()
        with document.element("rows"):
            for row in rows():
                document.write("\n")
                element = etree.Element("row")
                for name, value in layout.keys(row):
                    key = etree.SubElement(element, "key")
                    _name(key, name)
                    _fill(key, value)
                _fill(etree.SubElement(element, "data"), row.data)
                document.write(element)
            document.write("\n")


def _fill(element: Any, value: JsonValue) -> None:
    match value:
        case dict() | list() if not value:
            element.set("type", "object" if isinstance(value, dict) else "array")
        case dict():
            for name, part in value.items():
                plain = _NAME.fullmatch(name) is not None and name != "field"
                inner = etree.SubElement(element, name if plain else "field")
                if not plain:
                    _name(inner, name)
                _fill(inner, part)
        case list():
            element.set("type", "array")
            for part in value:
                _fill(etree.SubElement(element, "item"), part)
        case bool():
            element.set("type", "boolean")
            element.text = "true" if value else "false"
        case int() | float():
            element.set("type", "number")
            element.text = json.dumps(value)
        case _:
            _text(element, value)


def _name(element: Any, name: str) -> None:
    if _UNHOLDABLE.search(name):
        element.set("name-encoding", "json")
        name = json.dumps(name)
    element.set("name", name)


def _text(element: Any, value: str | None) -> None:
    if value is None:
        element.set("null", "true")
    elif _UNHOLDABLE.search(value) or "\r" in value:
        element.set("encoding", "json")
        element.text = json.dumps(value)
    else:
        element.text = value
