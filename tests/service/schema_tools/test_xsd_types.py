"""Simple types of XML Schema: each accepts the values of its type, and refuses others."""

from typing import Any

import pytest
from intaglio.service.extraction.validate import faults
from intaglio.service.schema_tools.source_text import SourceError
from intaglio.service.schema_tools.xsd import from_xsd


def of_type(base: str, facets: str = "", further: str = "") -> dict[str, Any]:
    head = '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:t="urn:t" targetNamespace="urn:t">'
    derived = f'<xs:simpleType name="T"><xs:restriction base="{base}">\n{facets}</xs:restriction></xs:simpleType>'
    return from_xsd(f'{head}<xs:element name="a" type="t:T"/>{derived}{further}</xs:schema>')


def facet(name: str, *values: str) -> str:
    return "".join(f'<xs:{name} value="{value}"/>' for value in values)


TEXTS = (
    '<xs:simpleType name="E"><xs:restriction base="xs:string">{}</xs:restriction></xs:simpleType>'
)


@pytest.mark.parametrize(
    ("base", "facets", "values", "others"),
    [
        ("xs:int", "", [2**31 - 1, -(2**31)], [2**31]),
        ("xs:long", "", [2**63 - 1], [2**63]),
        ("xs:unsignedLong", "", [2**64 - 1], [-1, 2**64]),
        ("xs:negativeInteger", "", [-1], [0]),
        ("xs:dateTime", "", ["2024-01-01T10:00:00", "2024-01-01T10:00:00.5+02:00"], ["2024-01-01"]),
        ("xs:time", "", ["10:00:00", "10:00:00Z"], ["10"]),
        ("xs:duration", "", ["P1Y2M3DT4H5M6.7S", "-P1D", "PT1.5S"], ["P", "P1DT", "1D"]),
        ("xs:gYear", "", ["2024", "-0044", "12024", "2024Z"], ["24", "02024"]),
        ("xs:gYearMonth", "", ["2024-12"], ["2024-13"]),
        ("xs:gMonthDay", "", ["--12-31"], ["12-31"]),
        ("xs:hexBinary", "", ["", "0aF1"], ["0", "0g"]),
        ("xs:language", "", ["en", "de-CH"], ["", "german language"]),
        ("xs:string", facet("pattern", "a+", "b"), ["aa", "b"], ["ab", "c"]),
        ("xs:string", facet("pattern", "$[0-9]^"), ["$1^"], ["1"]),
        ("xs:string", facet("pattern", r"\w+\-\i\c*"), ["é-_a1"], ["a-1", "!-a"]),
        ("xs:decimal", facet("fractionDigits", "2"), [1.25, 3], [1.255]),
        ("xs:decimal", facet("totalDigits", "4") + facet("fractionDigits", "2"), [12.34, 1234, -123.4], [123.45]),
        ("xs:decimal", facet("totalDigits", "3"), [999, -0.5], [1000]),
        ("xs:integer", facet("totalDigits", "3"), [999, -999], [1000]),
        ("xs:int", facet("enumeration", "1", "2"), [1, 2], [3, "1"]),
        ("t:E", facet("enumeration", "x"), ["x"], ["y"]),
        ("t:P", facet("pattern", "..?"), ["a", "aa"], ["aaa", "b"]),
    ],
)  # fmt: skip
def test_a_type_accepts_its_values(
    base: str, facets: str, values: list[Any], others: list[Any]
) -> None:
    bases = TEXTS.format(facet("enumeration", "x", "y"))
    bases += TEXTS.format(facet("pattern", "a+")).replace('"E"', '"P"')
    schema = of_type(base, facets, bases)
    assert [value for value in values if next(faults(value, schema), None) is not None] == []
    assert [value for value in others if next(faults(value, schema), None) is None] == []


@pytest.mark.parametrize(
    ("base", "facets", "message"),
    [
        (
            "xs:date",
            facet("minInclusive", "2000-01-01"),
            "minInclusive of a text is not translated",
        ),
        ("xs:double", facet("minInclusive", "INF"), "'INF' is no number"),
        ("xs:string", facet("maxLength", "x"), "maxLength: 'x' is no number"),
        ("xs:string", facet("maxLength", "-1"), "maxLength: '-1' is no count"),
        ("xs:int", facet("enumeration", "x"), "enumeration: 'x' is no number"),
        ("xs:int", facet("pattern", "[0-9]"), "the pattern of a number"),
        ("xs:base64Binary", facet("length", "3"), "the length of bytes"),
        ("xs:string", facet("pattern", "[a-z-[aeiou]]"), "a subtraction of classes"),
        ("xs:string", facet("pattern", r"\p{IsGreek}"), "a block of Unicode"),
        ("xs:string", facet("assertion", ""), "assertion is not translated"),
    ],
)
def test_a_facet_that_cannot_be_stated_is_refused_by_line(
    base: str, facets: str, message: str
) -> None:
    with pytest.raises(SourceError, match=f"line 2: .*{message}"):
        of_type(base, facets)


def test_a_type_that_is_based_on_itself_is_refused() -> None:
    with pytest.raises(SourceError, match="line 1: a simple type is based on itself"):
        of_type("t:T")
