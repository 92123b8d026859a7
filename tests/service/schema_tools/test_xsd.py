"""Elements of XML Schema: recursion, documentation, and the lines of what is refused."""

import json
from typing import Any

import pytest
from intaglio.grammar.api import Constraint, Kind, screen
from intaglio.service.schema_tools.source_text import SourceError
from intaglio.service.schema_tools.xsd import from_xsd

HEAD = '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:t="urn:t" targetNamespace="urn:t">'


def of(body: str, name: str | None = None) -> dict[str, Any]:
    return from_xsd(f"{HEAD}\n{body}\n</xs:schema>", name)


def content(members: str) -> str:
    opening = '<xs:element name="a"><xs:complexType><xs:sequence>'
    return f"{opening}\n{members}</xs:sequence></xs:complexType></xs:element>"


def test_an_element_within_itself_is_a_reference() -> None:
    schema = of(content('<xs:element ref="t:a" minOccurs="0" maxOccurs="unbounded"/>'), "a")
    assert schema["properties"]["a"]["items"] == {"$ref": "#/$defs/a"}
    assert schema["$defs"]["a"]["properties"]["a"]["items"] == {"$ref": "#/$defs/a"}
    assert screen(Constraint(Kind.XML, json.dumps(schema))).root is not None


def test_documentation_becomes_the_description() -> None:
    note = (
        "<xs:annotation><xs:documentation>\n  Its {}\n  name. </xs:documentation></xs:annotation>"
    )
    schema = of(
        content(f'<xs:element name="x" type="t:X">{note.format("own")}</xs:element>')
        + f'<xs:simpleType name="X">{note.format("short")}<xs:restriction base="xs:string"/></xs:simpleType>'
    )
    assert schema["properties"]["x"]["description"] == "Its own name."
    assert schema["$defs"]["X"]["description"] == "Its short name."


def test_a_type_may_have_the_name_of_a_built_in_one() -> None:
    own = '<xs:simpleType name="date"><xs:restriction base="xs:int"/></xs:simpleType>'
    schema = of(
        content('<xs:element name="x" type="xs:date"/><xs:element name="y" type="t:date"/>') + own
    )
    assert schema["properties"]["x"] == {"type": "string", "format": "date"}
    assert schema["$defs"]["date"]["type"] == "integer"


def test_fixed_values_and_elements_that_never_occur() -> None:
    schema = of(
        content(
            '<xs:element name="x" type="xs:int" fixed="3"/><xs:element name="y" minOccurs="0" maxOccurs="0"/>'
        )
    )
    assert schema["properties"]["x"]["const"] == 3
    assert list(schema["properties"]) == schema["required"] == ["x"]


@pytest.mark.parametrize(
    ("member", "message"),
    [
        ('<xs:element name="x" type="t:Other"/>', "the type 't:Other' is not known"),
        ('<xs:element name="x" minOccurs="few"/>', "'few' is no number of occurrences"),
        ('<xs:element ref="t:other"/>', "there is no element 'other'"),
        ("<xs:any/>", "any is not translated"),
        ('<xs:choice maxOccurs="2"/>', "a repeated choice"),
        ('<xs:choice>\n<xs:sequence/></xs:choice>', "sequence in a choice"),
        ('<xs:sequence minOccurs="0"/>', "that is optional or repeated"),
        ('<xs:element name="x"/><xs:element name="x"/>', "'x' stands twice"),
        ('<xs:element name="x"><xs:simpleType>\n<xs:list/></xs:simpleType></xs:element>', "list is not"),
        ('<xs:element name="x"><xs:complexType mixed="true"/></xs:element>', "mixed content"),
        ('<xs:element name="x"><xs:complexType><xs:attribute name="y"/></xs:complexType></xs:element>', "'y'"),
        ("<xs:sequence>", "not XML: mismatched tag"),
    ],
)  # fmt: skip
def test_what_is_refused_is_named_with_its_line(member: str, message: str) -> None:
    with pytest.raises(SourceError, match=message) as caught:
        of(content(member))
    assert str(caught.value).startswith(f"line {3 + member.count(chr(10))}:")
