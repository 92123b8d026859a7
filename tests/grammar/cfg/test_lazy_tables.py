"""Tables, documents and queries: other readers read the output of random walks back, and it fits the schema."""

import csv
import io
import json
import random
import sqlite3
from typing import Any
from xml.etree import ElementTree as ET

import jsonschema
import pytest
from intaglio.grammar.api import (
    Constraint,
    GrammarError,
    InvalidConstraint,
    Kind,
    Unsatisfiable,
    UnsupportedConstraint,
    any_json,
    csv_table,
    screen,
    sql_select,
    xml_document,
)

from tests.support.texts import Fate, fate, random_text

ROW: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"type": "integer", "minimum": 1, "maximum": 999},
        "name": {"type": "string", "maxLength": 4},
        "kind": {"enum": ["a,b", 'say "x"', "plain", 7]},
        "code": {"type": "string", "pattern": "^[A-Z\\n]{2}$"},
        "rate": {"anyOf": [{"$ref": "#/$defs/rate"}, {"type": "null"}]},
        "ok": {"type": ["boolean", "null"]},
    },
    "required": ["id", "name", "kind", "rate"],
}
RATE = {"type": "number", "multipleOf": 0.25, "exclusiveMinimum": 0, "maximum": 3}
TABLE: dict[str, Any] = {"type": "array", "items": ROW, "maxItems": 3, "$defs": {"rate": RATE}}
ORDER: dict[str, Any] = {
    "title": "order",
    "type": "object",
    "properties": {
        "id": {"type": "integer", "minimum": 0},
        "note": {"type": "string", "maxLength": 5},
        "state": {"enum": ["<new>", "a&b", True]},
        "lines": {"type": "array", "items": {"$ref": "#/$defs/line"}, "minItems": 1, "maxItems": 2},
        "parent": {"anyOf": [{"$ref": "#/$defs/line"}, {"type": "null"}]},
    },
    "required": ["id", "lines", "parent"],
    "$defs": {
        "line": {
            "type": "object",
            "properties": {
                "sku": {"type": "string", "pattern": "^[A-Z]\\d$"},
                "part": {"$ref": "#/$defs/line"},
            },
            "required": ["sku"],
        }
    },
}


def value_of(text: str, schema: dict[str, Any], *, missing: Any) -> Any:
    """A field as a value of the schema's type."""
    if not text and missing is not None:
        return missing
    for convert in (json.loads, str):
        try:
            value = convert(text)
        except ValueError:
            continue
        if jsonschema.Draft202012Validator({**schema, "$defs": {"rate": RATE}}).is_valid(value):
            return value
    return pytest.fail(f"{text!r} is not of {schema}")


def walks(constraint: Constraint, count: int, most: int) -> list[str]:
    """Random texts of a constraint."""
    screened, draw = screen(constraint), random.Random(constraint.source)
    found = [random_text(screened, draw, most) for _ in range(count)]
    texts = [text.decode() for text in found if text is not None]
    assert len(texts) >= count // 4
    return texts


def test_random_tables_are_read_back() -> None:
    absent = object()
    for text in walks(csv_table(TABLE), 24, 300):
        header, *rows = csv.reader(io.StringIO(text, newline=""), strict=True)
        assert header == list(ROW["properties"])
        table = []
        for row in rows:
            assert len(row) == len(header)
            record = {}
            for name, field in zip(header, row, strict=True):
                schema = ROW["properties"][name]
                null = None if name in ("rate", "ok") else absent
                missing = absent if name not in ROW["required"] else null
                empty = "" if name == "name" else missing
                value = value_of(field, schema, missing=empty) if field or name != "rate" else None
                if value is not absent:
                    record[name] = value
            table.append(record)
        jsonschema.validate(table, TABLE)


def test_tables_by_hand() -> None:
    screened = screen(csv_table(TABLE))
    head = "id,name,kind,code,rate,ok\n"
    for text in (
        head,
        head + '1,Ada,"a,b",AB,0.25,true\n',
        head + '999,"",7,,,\n7,"a""b","say ""x""","A\n",3,\n',
    ):
        assert fate(screened, text) is Fate.WHOLE, text
    for text in (
        "id",
        head + "1",
    ):
        assert fate(screened, text) is Fate.OPEN, text
    for text in (
        "1,",
        head + "1,Ada,a,",
        head + "0,",
        head + '1,"Ada",',
        head + "1,,",
        head + "1,a,7,,4",
        head + "1.0,",
        head + "1,a,7,,,,",
        head + "\r",
        head + "1,a,7,,,\n" * 4,
    ):
        assert fate(screened, text) is Fate.REFUSED, text


def test_a_table_of_one_column_has_no_empty_line() -> None:
    schema = {
        "type": "array",
        "items": {"type": "object", "properties": {"a": {"type": ["null", "string"]}}},
    }
    screened = screen(csv_table(schema, header=False))
    assert fate(screened, 'x\n""\n') is Fate.WHOLE
    assert fate(screened, "x\n\n") is Fate.REFUSED


def element(node: ET.Element, schema: dict[str, Any]) -> Any:
    """An element as a value of a schema."""
    schema = ORDER["$defs"]["line"] if "$ref" in schema else schema
    if "anyOf" in schema:
        whole = len(node) > 0
        return element(node, schema["anyOf"][0]) if whole else None
    if schema.get("type") != "object":
        assert not len(node)
        return value_of(node.text or "", schema, missing=None)
    record: dict[str, Any] = {}
    for child in node:
        member = schema["properties"][child.tag]
        if member.get("type") == "array":
            record.setdefault(child.tag, []).append(element(child, member["items"]))
        else:
            assert child.tag not in record
            record[child.tag] = element(child, member)
    assert list(record) == [name for name in schema["properties"] if name in record]
    return record


def test_random_documents_are_read_back() -> None:
    for text in walks(xml_document(ORDER), 12, 500):
        root = ET.fromstring(text)
        assert root.tag == "order"
        jsonschema.validate(element(root, ORDER), ORDER)


def test_documents_by_hand() -> None:
    screened = screen(xml_document(ORDER))
    lines = "<lines><sku>A1</sku></lines>"
    parent = "<parent><sku>B2</sku><part><sku>C3</sku></part></parent>"
    for text in (
        f"<order><id>1</id>{lines}<parent></parent></order>",
        f"<order><id>0</id><note>a&amp;\n</note><state>&lt;new&gt;</state>{lines * 2}{parent}</order>",
    ):
        assert fate(screened, text) is Fate.WHOLE, text
    for text in (
        "<root>",
        "<order><id>1</id><lines></lines>",
        f"<order><id>1</id>{lines * 3}",
        "<order> ",
        "<order><id>1</id><note><n",
        "<order><id>1</id><note>&x",
        "<order><id>1</id><note>\x00",
        "<order><id>1</id><parent>",
    ):
        assert fate(screened, text) is Fate.REFUSED, text


@pytest.mark.parametrize(
    ("kind", "schema", "error", "where"),
    [
        (Kind.CSV, {"type": "object", "properties": {"a": {"type": "null"}}}, UnsupportedConstraint, ""),
        (Kind.CSV, {"type": "array", "items": {"type": "string"}}, UnsupportedConstraint, "/items"),
        (Kind.CSV, {"items": {"properties": {"a": {"type": "array", "items": {}}}}}, UnsupportedConstraint,
         "/items/properties/a"),
        (Kind.CSV, {"items": {"properties": {"a": {}}}}, UnsupportedConstraint, "/items/properties/a"),
        (Kind.CSV, {"items": {"properties": {"a": {"type": "string"}}}, "uniqueItems": True}, UnsupportedConstraint,
         "/uniqueItems"),
        (Kind.XML, {"properties": {"a b": {"type": "string"}}}, UnsupportedConstraint, "/properties/a b"),
        (Kind.XML, {"properties": {"a": {"items": {"items": {"type": "string"}}}}}, UnsupportedConstraint,
         "/properties/a/items"),
        (Kind.XML, {"properties": {"a": {"type": "string"}}, "minProperties": 1}, UnsupportedConstraint,
         "/minProperties"),
        (Kind.XML, {"properties": {"a": {"$ref": "#/properties/a"}}}, UnsupportedConstraint, "/properties/a"),
        (Kind.XML, {"properties": {"a": {"$ref": "#/$defs/none"}}}, InvalidConstraint, None),
        (Kind.XML, {"properties": {"a": {"$ref": "#"}}, "required": ["a"]}, Unsatisfiable, "document"),
        (Kind.CSV, [], InvalidConstraint, None),
    ],
)  # fmt: skip
def test_what_has_no_table_or_document_is_refused_by_place(
    kind: Kind, schema: Any, error: type[GrammarError], where: str | None
) -> None:
    with pytest.raises(GrammarError) as caught:
        screen(Constraint(kind, json.dumps(schema)))
    assert type(caught.value) is error
    assert [refusal.where for refusal in caught.value.refusals] == [where] * (where is not None)


def test_a_database_reads_random_queries() -> None:
    screened = screen(sql_select())
    assert screened.root is not None
    base = sqlite3.connect(":memory:")
    for text in walks(sql_select(), 12, 250):
        problem = ""
        try:
            base.execute(f"EXPLAIN {text}")
        except sqlite3.Error as error:  # there are no such tables
            problem = str(error)
        assert "syntax" not in problem, text
        assert "unrecognized" not in problem, text


def test_queries_by_hand() -> None:
    screened = screen(sql_select())
    for text in (
        "SELECT *\nFROM t",
        "SELECT DISTINCT a.b AS c, COUNT(*), x.*\nFROM s.t AS x\nLEFT JOIN u ON x.id = u.id AND NOT (n IS NULL)",
        "SELECT a\nFROM t\nWHERE a IN (SELECT b\nFROM v) OR \"A b\" LIKE '%it''s%'",
        "SELECT c\nFROM t\nGROUP BY c, d\nHAVING SUM(x.y) > -3.5\nORDER BY c DESC, d\nLIMIT 10 OFFSET 5",
        "SELECT a\nFROM t\nUNION ALL\nSELECT CAST(b AS TEXT)\nFROM (SELECT *\nFROM u) AS v\nLIMIT 1",
    ):
        assert fate(screened, text) is Fate.WHOLE, text
    for text in (
        "select",
        "SELECT *;",
        "SELECT FROM",
        "SELECT *\nFROM select\n",
        "SELECT a b",
        "SELECT *\nFROM t;",
    ):
        assert fate(screened, text) is Fate.REFUSED, text
    assert fate(screened, "SELECT a\nFROM t\nWHERE (a = 1") is Fate.OPEN


def test_any_json() -> None:
    for text in walks(any_json(), 24, 200):
        json.loads(text)
