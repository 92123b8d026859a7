"""Declarations of TypeScript as files of types have them: joins, records, enums, tuples, literals, modules."""

from typing import Any

import jsonschema
import pytest
from intaglio.service.schema_tools.source_text import SourceError
from intaglio.service.schema_tools.typescript import from_typescript


def judged(source: str, values: list[Any], others: list[Any]) -> None:
    """The schema allows some values of the type, and refuses others."""
    schema = from_typescript(source, "T")
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    assert [value for value in values if not validator.is_valid(value)] == []
    assert [value for value in others if validator.is_valid(value)] == []


@pytest.mark.parametrize(
    ("declared", "values", "others"),
    [
        ("string | null | undefined", ["a", None], [1]),
        ("{ a: 1 } & { b: 2 }", [{"a": 1, "b": 2}], [{}, {"a": 1}, 1]),
        ('{ k: "a" } & { k: string }', [{"k": "a"}], [{"k": "b"}]),
        ("({ a: 1 } & { b: 2 })[]", [[{"a": 1, "b": 2}]], [[1]]),
        ('Record<"x" | "y", number>', [{"x": 1, "y": 2}], [{"x": 1}, {"x": 1, "y": 2, "z": 3}]),
        ("Record<Key, 1>", [{"p": 1, "q": 1}], [{"p": 1}]),
        ("Record<string, 1> | null", [{"z": 1}, None], [{"z": 2}, 1]),
        ("[name: string, age?: number]", [["a"], ["a", 1]], [[], ["a", "b"], ["a", 1, 2]]),
        ("[string, number?, ...boolean[]]", [["a"], ["a", 1, True]], [["a", 1, 2]]),
        ("1e3 | 0x10 | 1_000_000 | -2.5", [1000, 16, 1000000, -2.5], [1, 0]),
        (r'"it\u0027s" | "a\nb" | "\\d"', ["it's", "a\nb", "\\d"], ["it\\u0027s"]),
        ("{ [k: string]: number; a: 1 }", [{"a": 1, "b": 2}], [{"b": 2}, {"a": 1, "b": ""}]),
        ('{ 200: string; "x-y"?: never }', [{"200": "a"}], [{}, {"200": "a", "x-y": 1}]),
    ],
)
@pytest.mark.parametrize(
    "place", ["type T = {};", "interface T {{ x: {} }}", "interface T {{ /** A note. */ x: {}; }}"]
)
def test_a_type_accepts_its_values_alone_and_as_a_property(
    place: str, declared: str, values: list[Any], others: list[Any]
) -> None:
    if "interface" in place:
        values, others = ([{"x": each} for each in listed] for listed in (values, others))
    judged(place.format(declared) + '\ntype Key = "p" | "q";', values, others)


def test_the_numbers_of_an_enum() -> None:
    found = from_typescript("enum A { X = 1 << 2, Y, Z = 0.5, W = 'w' }")
    assert found["enum"] == [4, 5, 0.5, "w"]
    with pytest.raises(SourceError, match="line 2: the value 'B' is not evaluated"):
        from_typescript("enum A {\n X = B }")


def test_modules_are_passed_over() -> None:
    source = """\ufeffimport type { B } from "./b";
import c from 'c'
import "d";
export * from "./e";
export { F } from "./f";
export interface A { a: 1 }
export type { A };
"""
    assert from_typescript(source)["properties"] == {"a": {"const": 1}}


def test_types_of_no_end_are_refused() -> None:
    with pytest.raises(SourceError, match="nested too deeply"):
        from_typescript("type A = " + "(" * 5000 + "1" + ")" * 5000)
    with pytest.raises(SourceError, match="line 2: a type is made of itself"):
        from_typescript("type A = B; type B = A;\ninterface C extends A { x: 1 }")
