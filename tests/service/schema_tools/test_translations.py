"""Schemas from other languages: the translation of each declaration, and the refused lines."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from intaglio.grammar.api import Constraint, Kind, screen
from intaglio.service.schema_tools.dtd import from_dtd
from intaglio.service.schema_tools.protobuf import from_protobuf
from intaglio.service.schema_tools.python_types import from_python
from intaglio.service.schema_tools.source_text import SourceError
from intaglio.service.schema_tools.sql_tables import from_sql
from intaglio.service.schema_tools.typescript import from_typescript
from intaglio.service.schema_tools.xsd import from_xsd

TYPESCRIPT = """
interface Line { sku: string; qty: number; tags?: string[] }
interface Priced extends Line { price: number }
/** An invoice. */
export interface Invoice {
  id: string; // its number
  readonly lines: Priced[];
  status: "open" | "paid";
  customer: { name: string; vat?: string | null };
  meta: Record<string, number>;
  pair: [string, number];
  kind: Kind;
  parent?: Invoice;
}
enum Kind { A = "a", B = "b" }
"""
PROTOBUF = """syntax = "proto3";
package shop.v1;
import "google/protobuf/timestamp.proto";
// An order.
message Order {
  enum State { UNKNOWN = 0; PAID = 1; }
  message Line { string sku = 1; uint32 item_count = 2; }
  int64 order_id = 1;  // its number
  repeated Line lines = 2 [deprecated = true];
  State state = 3;
  optional string note = 4;
  google.protobuf.Timestamp created_at = 5;
  map<string, double> weights = 6;
  oneof contact { string email = 7; string phone = 8; }
  reserved 9, 10 to 12;
}
service Shop { rpc Get(Order) returns (Order) { option x = 1; } }
"""
SQL = """
CREATE TYPE mood AS ENUM ('sad', 'ok');
-- Customers.
CREATE TABLE IF NOT EXISTS public.customer (
  id bigserial PRIMARY KEY,
  name varchar(5) NOT NULL, -- the whole name
  "E-Mail" text UNIQUE,
  m mood DEFAULT 'ok',
  state text NOT NULL CHECK (state IN ('new', 'old')),
  age int CHECK (age >= 0 AND age < 150),
  total numeric(6,2) NOT NULL DEFAULT 0,
  born date,
  tags text[],
  FOREIGN KEY (id) REFERENCES other (id),
  CHECK (total >= 0)
);
INSERT INTO customer VALUES (1);
"""
XSD = """<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
<xs:element name="order"><xs:complexType><xs:sequence>
 <xs:element name="id" type="xs:positiveInteger"/>
 <xs:element name="line" type="Line" maxOccurs="unbounded"/>
 <xs:element name="note" type="xs:string" minOccurs="0"/>
 <xs:element name="state" type="State"/>
</xs:sequence></xs:complexType></xs:element>
<xs:complexType name="Line"><xs:sequence>
 <xs:element name="sku"><xs:simpleType><xs:restriction base="xs:string">
  <xs:pattern value="[A-Z]{3}-\\d+"/></xs:restriction></xs:simpleType></xs:element>
 <xs:element name="part" type="Line" minOccurs="0"/>
</xs:sequence></xs:complexType>
<xs:simpleType name="State"><xs:restriction base="xs:string">
 <xs:enumeration value="open"/><xs:enumeration value="paid"/></xs:restriction></xs:simpleType>
</xs:schema>"""
XSD_OF_TWO = """<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
<xs:element name="b" type="xs:int"/>
<xs:element name="a"><xs:complexType><xs:sequence>
 <xs:element name="x" type="xs:int"/>{}
</xs:sequence></xs:complexType></xs:element></xs:schema>"""
DTD = """<?xml version="1.0"?>
<!-- an order -->
<!ELEMENT order (id, line+, (paid | open), note*)>
<!ELEMENT line (sku, line*)> <!-- one article -->
<!ELEMENT id (#PCDATA)>
<!ELEMENT sku (#PCDATA)>
<!ELEMENT note (#PCDATA)>
<!ELEMENT paid EMPTY>
<!ELEMENT open EMPTY>
<!ATTLIST order currency CDATA "EUR">
"""


def judged(schema: dict[str, Any], valid: dict[str, Any], **changes: Any) -> None:
    """The schema can be enforced, allows a document, and forbids it with each of the changes."""
    jsonschema.Draft202012Validator.check_schema(schema)
    screened = screen(Constraint(Kind.JSON_SCHEMA, json.dumps(schema)))
    assert screened.root is not None
    validator = jsonschema.Draft202012Validator(
        schema, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER
    )
    validator.validate(valid)
    for name, value in changes.items():
        assert not validator.is_valid({**valid, name.strip("_"): value}), name


def test_typescript() -> None:
    schema = from_typescript(TYPESCRIPT)
    line = {"sku": "a", "qty": 1, "price": 2.5}
    document = {
        "id": "1", "lines": [line], "status": "open", "customer": {"name": "n", "vat": None}, "meta": {"a": 1},
        "pair": ["a", 1], "kind": "b",
    }  # fmt: skip
    judged(
        schema,
        document,
        status="other",
        lines=[{"sku": "a", "qty": 1}],
        pair=["a"],
        kind="c",
        extra=1,
        meta={"a": "b"},
    )
    assert schema["$defs"]["Invoice"]["description"] == "An invoice."
    assert schema["$defs"]["Invoice"]["properties"]["id"]["description"] == "its number"
    assert from_typescript("type A = { x: 1 | 2 } & { y?: boolean }") == {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A",
        "type": "object",
        "properties": {"x": {"enum": [1, 2]}, "y": {"type": "boolean"}},
        "required": ["x"],
        "additionalProperties": False,
    }


def test_protobuf() -> None:
    schema = from_protobuf(PROTOBUF)
    document = {
        "orderId": "12", "state": "PAID", "createdAt": "2024-01-01T00:00:00Z", "lines": [{"sku": "a", "itemCount": 1}],
        "email": "a",
    }  # fmt: skip
    judged(
        schema,
        document,
        orderId=12,
        state="X",
        createdAt="now",
        phone="b",
        lines=[{"sku": "a"}],
        note=None,
    )
    assert schema["$defs"]["Order"]["description"] == "An order."


def test_checks_that_no_keyword_states_are_named() -> None:
    schema = from_sql("CREATE TABLE a (b integer CHECK (b > 0 AND b % 2 = 0), CHECK (b <> c))")
    assert schema["properties"]["b"]["exclusiveMinimum"] == 0
    assert schema["$comment"] == "not translated: CHECK b % 2 = 0; b <> c"
    assert "$comment" not in from_sql("CREATE TABLE a (b text CHECK (b IN ('x', 'y')))")


def test_sql() -> None:
    schema = from_sql(SQL)
    document = {
        "id": 1, "name": "Ada", "E-Mail": None, "m": "ok", "state": "new", "age": None, "total": 12.5, "born": None,
        "tags": ["a"],
    }  # fmt: skip
    judged(
        schema,
        document,
        id=None,
        name="longer",
        m="x",
        state="other",
        age=150,
        total=-1,
        born="soon",
        tags=[1],
        x=1,
    )
    assert schema["description"] == "Customers."
    assert schema["properties"]["name"]["description"] == "the whole name"
    assert "description" not in schema["properties"]["E-Mail"]


def test_xml_schema() -> None:
    schema = from_xsd(XSD)
    document = {"id": 1, "line": [{"sku": "ABC-1", "part": {"sku": "ABC-2"}}], "state": "paid"}
    judged(schema, document, id=0, line=[], state="x", note=1)


def test_document_type() -> None:
    schema = from_dtd(DTD)
    assert schema["properties"]["id"] == {"type": "string"}
    assert schema["properties"]["line"]["minItems"] == 1
    assert schema["$defs"]["line"]["description"] == "one article"
    document = {
        "id": "A",
        "line": [{"sku": "1", "line": [{"sku": "2", "line": []}]}],
        "paid": None,
        "note": ["x"],
    }
    judged(schema, document, id=1, line=[], paid="x", other=1)
    assert from_dtd(DTD, "line")["title"] == "line"


def test_a_document_type_makes_xml() -> None:
    plain = from_dtd(DTD.replace("(paid | open)", "paid"))
    assert screen(Constraint(Kind.XML, json.dumps(plain))).root is not None


@pytest.mark.parametrize(
    ("read", "source"),
    [
        (from_typescript, "interface A { b: B; a?: A } interface B { x: number }"),
        (from_typescript, "interface A extends B { y: number } interface B { x: number }"),
        (from_typescript, "export interface A { x: C } interface B { x: C } interface C { x: 1 }"),
        (from_typescript, "export interface A { b: B } interface B { x: 1 } type C = A"),
        (from_protobuf, "message A { B b = 1; A a = 2; } message B { enum C { X = 0; } C c = 1; } enum D { Y = 0; }"),
        (from_dtd, "<!ELEMENT b EMPTY><!ELEMENT a (b, a?)><!ELEMENT c EMPTY>"),
        (from_dtd, "<!DOCTYPE a [<!ELEMENT a (c)><!ELEMENT b (c)><!ELEMENT c EMPTY>]>"),
        (from_xsd, XSD_OF_TWO.format('<xs:element ref="b"/>')),
    ],
)  # fmt: skip
def test_the_declaration_that_no_other_uses_is_translated(read: Any, source: str) -> None:
    assert read(source) == read(source, "A" if "A" in source else "a")


@pytest.mark.parametrize(
    ("read", "source", "names"),
    [
        (from_typescript, "interface A { x: 1 } interface B { x: 2 }", "A, B"),
        (from_typescript, "interface A { b?: B } interface B { a?: A }", "A, B"),
        (from_protobuf, "message A { int32 x = 1; } message B { int32 x = 1; }", "A, B"),
        (from_sql, "CREATE TABLE a (x INT); CREATE TABLE b (x INT)", "a, b"),
        (from_dtd, "<!ELEMENT a (c)><!ELEMENT b (c)><!ELEMENT c EMPTY>", "a, b"),
        (from_xsd, XSD_OF_TWO.format(""), "b, a"),
    ],
)
def test_one_of_several_declarations_must_be_named(read: Any, source: str, names: str) -> None:
    with pytest.raises(SourceError, match=f"to choose from: {names}$") as caught:
        read(source)
    assert "--name" in caught.value.hint
    assert read(source, names[0]) != read(source, names[-1])


def test_python() -> None:
    schema = from_python("intaglio.schemas.problem:Detail")
    assert {"pointer", "reason"} <= set(schema["properties"])


def test_a_field_of_protobuf_may_name_itself_in_json() -> None:
    line = 'message A { string sku_id = 1 [deprecated = true, json_name = "SKU"]; int32 n_a = 2; }'
    (message,) = from_protobuf(line)["$defs"].values()
    assert list(message["properties"]) == message["required"] == ["SKU", "nA"]


def test_a_python_type_has_the_schema_that_the_sdk_sends(tmp_path: Path) -> None:
    """Pydantic's own would ask for an offset in every time, and allow any string as a decimal."""
    path = tmp_path / "models.py"
    lines = (
        "from datetime import datetime",
        "from decimal import Decimal",
        "from pydantic import UUID4, BaseModel",
        "class Payment(BaseModel):",
        "    at: datetime",
        "    paid: Decimal",
        "    id: UUID4",
    )
    path.write_text("\n".join(lines))
    schema = from_python(f"{path}:Payment")
    assert schema["additionalProperties"] is False
    assert schema["properties"]["at"]["format"] == "iso-date-time"
    assert schema["properties"]["paid"]["type"] == "number"
    assert schema["properties"]["id"]["format"] == "uuid"


def test_a_file_named_like_a_module_of_python_is_read(tmp_path: Path) -> None:
    path = tmp_path / "json.py"
    path.write_text("import dataclasses\n@dataclasses.dataclass\nclass Order:\n    n: 'int'\n")
    assert from_python(f"{path}:Order")["properties"] == {"n": {"title": "N", "type": "integer"}}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("\nraise RuntimeError('no settings')", "line 2: .*RuntimeError: no settings"),
        ("A = 1\n\nA.b", "line 3: .*AttributeError"),
        ("A = 1\nclass A(:", "line 2: .* is not Python"),
    ],
)
def test_a_file_of_types_that_cannot_be_run_is_refused_by_line(
    tmp_path: Path, content: str, message: str
) -> None:
    path = tmp_path / "models.py"
    path.write_text(content)
    with pytest.raises(SourceError, match=message):
        from_python(f"{path}:A")


def test_what_a_module_prints_is_no_part_of_the_schema(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "models.py"
    path.write_text(
        "import dataclasses\nprint('ready')\nclass A:\n    @dataclasses.dataclass\n    class B:\n        n: int\n"
    )
    assert list(from_python(f"{path}:A.B")["properties"]) == ["n"]
    assert capsys.readouterr() == ("", "ready\n")


@pytest.mark.parametrize("status", ["", "0", "7"])
def test_a_module_that_ends_the_program_is_an_error_of_its_file(
    tmp_path: Path, status: str
) -> None:
    path = tmp_path / "script.py"
    path.write_text(f"import sys\nsys.exit({status})\n")
    with pytest.raises(SourceError, match="ends the program when it is imported"):
        from_python(f"{path}:A")


@pytest.mark.parametrize(
    ("read", "source", "message"),
    [
        (from_typescript, "\nclass X {}", "line 2: 'class' declares no data"),
        (from_typescript, "interface A {\n f(x: number): void }", "line 2: 'f' is a function"),
        (from_typescript, "type A = B", "line 1: 'B' is not declared"),
        (from_typescript, "interface A { a: 5 % 3 }", "is not understood"),
        (from_typescript, "type A = string & { x: 1 }", "cannot be extended or joined"),
        (from_typescript, "type A = { x: 1", "expected a name"),
        (from_protobuf, 'syntax = "proto2";', "line 1: proto2 is not read"),
        (from_protobuf, "message A {\n Foo x = 1; }", "line 2: the type 'Foo' is not declared"),
        (from_protobuf, "message A { string a = 1;", "has no end"),
        (from_sql, "CREATE TABLE a (\n b geometry)", "line 2: the type 'geometry' is not known"),
        (from_sql, "SELECT 1", "the source has no table to translate"),
        (from_xsd, "<a/>", "not an XML Schema"),
        (from_xsd, "<!DOCTYPE a><a/>", "a document type is not read"),
        (from_xsd, XSD.replace('type="Line"', 'type="Other"'), "the type 'Other' is not known"),
        (from_dtd, "<!ELEMENT a (b)>", "line 1: the element 'b' is not declared"),
        (from_dtd, "<!ELEMENT a (#PCDATA | b)*>", "mixed content is not translated"),
        (from_dtd, "<!ELEMENT a (b, (c, d)*)>", "an optional or repeated group"),
        (from_dtd, "<!ELEMENT a ((b, c) | d)>", "a group in a choice"),
        (from_dtd, "<!ELEMENT a (b | c?)>", "an optional element in a choice"),
        (from_dtd, "<!ELEMENT a (b, c | d)>", "expected ',', '|' or ')', not '|'"),
        (from_dtd, "<!ELEMENT a (b, b)>", "'b' stands twice"),
        (from_dtd, "<!ELEMENT a EMPTY>\n<!ATTLIST a id ID #REQUIRED>", "line 2: a required attribute"),
        (from_dtd, '<!ENTITY a "b">', "entities are not read"),
        (from_dtd, "<!ELEMENT a ANY>", "ANY is not translated"),
        (from_dtd, "", "the source has no element to translate"),
        (from_typescript, "", "the source has no declaration to translate"),
        (from_typescript, " \n// nothing\n", "the source has no declaration to translate"),
        (from_protobuf, "", "the source has no message to translate"),
        (from_python, "json", "is not MODULE:TYPE"),
        (from_python, "no_such_module_here:A", "cannot be imported"),
    ],
)  # fmt: skip
def test_what_cannot_be_translated_is_refused_by_line(read: Any, source: str, message: str) -> None:
    with pytest.raises(SourceError) as caught:
        read(source)
    assert message in str(caught.value)
