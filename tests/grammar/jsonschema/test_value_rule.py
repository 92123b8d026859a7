"""What schemas accept and reject, as text, followed by a plain interpreter of the rules."""

import json
import pickle

import pytest
from intaglio.grammar.contract.constraint import Whitespace
from intaglio.grammar.contract.errors import (
    GrammarError,
    InvalidConstraint,
    Unsatisfiable,
    UnsupportedConstraint,
)
from intaglio.grammar.jsonschema.objects.plain_members import BetweenPlainMembers
from intaglio.grammar.jsonschema.read.dialects import DRAFT4, DRAFT7
from intaglio.grammar.jsonschema.read.values import read
from intaglio.grammar.jsonschema.read.writing_options import Options
from intaglio.grammar.jsonschema.report.survey import Tier
from intaglio.grammar.jsonschema.rules.language import Language

from tests.support.walker import Walker, accepts

ANY = Options(any_order=True)


def language(schema: object, options: Options | None = None) -> Language:
    return Language(read(json.dumps(schema)), options)


CASES: dict[str, tuple[object, list[str], list[str]]] = {
    "declared order, then others": (
        {"properties": {"a": {"type": "string"}, "b": {"type": "boolean"}}, "required": ["b"]},
        ['{"b":true}', '{"a":"x","b":false,"c":null}', '{"b":true,"z":{"q":[]}}', "1", "[]"],
        ["{}", '{"a":1}', '{"b":true,"a":"x"}', '{"b":true,"b":true}', '{"c":1,"b":true}'],
    ),
    "a key twice": ({"type": "object"}, ['{"x":1,"y":1}'], ['{"x":1,"x":2}', '{"":1,"":1}']),
    "closed": (
        {"properties": {"a": {}}, "additionalProperties": False, "type": "object"},
        ["{}", '{"a":{}}'],
        ['{"b":1}', '{"a":1,"b":1}'],
    ),
    "whole numbers and constants are written in one way": (
        {
            "items": {"anyOf": [{"type": "string"}, {"const": 0}]},
            "prefixItems": [{"type": "integer"}],
        },
        ["[]", "[-7]", '[12,0,"0"]'],
        ["[1.0]", "[-0]", "[12,0.0]", "[12,-0]", "[12,1]"],
    ),
    "names that must not come": (
        {"properties": {"foo": False, "bar": {"not": {}}, "fog": {"type": "null"}}},
        ["{}", '{"fog":null,"fo":1}', '{"fooo":1,"ba":2}'],
        ['{"foo":1}', '{"bar":1}', '{"x":1,"foo":2}', '{"fog":1}', '{"fog":null,"bar":1}'],
    ),
    "patterns overlap names": (
        {
            "properties": {"xa": {"minimum": 3}},
            "patternProperties": {"^x": {"type": "integer"}, "2$": {"maximum": 5}},
            "additionalProperties": {"type": "string"},
        },
        ['{"xa":3,"x2":5}', '{"x1":9}', '{"q":"s"}', '{"a2":-1}'],
        ['{"xa":2}', '{"xa":3.5}', '{"x2":6}', '{"x1":"s"}', '{"q":1}', '{"a2":"s","b":1}'],
    ),
    "propertyNames": (
        {"propertyNames": {"maxLength": 2}, "properties": {"abc": {}, "a": {}}},
        ['{"a":1,"bb":2}', "{}"],
        ['{"abc":1}', '{"bbb":1}'],
    ),
    "member counts": (
        {"type": "object", "minProperties": 1, "maxProperties": 2},
        ['{"a":1}', '{"a":1,"b":2}'],
        ["{}", '{"a":1,"b":2,"c":3}'],
    ),
    "dependent": (
        {
            "dependentRequired": {"a": ["b"]},
            "dependentSchemas": {"c": {"properties": {"d": {"const": 1}}}},
        },
        ['{"a":1,"b":1}', '{"b":1}', '{"d":2}', '{"d":1,"c":0}'],
        ['{"a":1}', '{"c":0,"d":2}'],
    ),
    "dependent on what only objects have": (
        {
            "dependentSchemas": {"a": False, "b": {"type": "number"}},
            "unevaluatedItems": {"const": 1},
        },
        ["3", '"s"', "true", "[1]", '{"c":1}'],
        ['{"a":1}', '{"b":1}', "[2]"],
    ),
    "if": (
        {
            "type": "object",
            "properties": {"k": {"enum": ["x", "y"]}},
            "required": ["k", "v"],
            "if": {"properties": {"k": {"const": "x"}}},
            "then": {"properties": {"v": {"type": "integer"}}},
            "else": {"properties": {"v": {"type": "string"}}},
        },
        ['{"k":"x","v":1}', '{"k":"y","v":"s"}'],
        ['{"k":"x","v":"s"}', '{"k":"y","v":1}', '{"k":"z","v":1}'],
    ),
    "oneOf overlapping": (
        {"oneOf": [{"type": "integer"}, {"minimum": 5}]},
        ["1", "5.5", '"s"', "{}"],
        ["5", "6", "1.5"],
    ),
    "not": ({"not": {"required": ["a"]}}, ["{}", '{"b":1}'], ["1", '{"a":1}', '{"b":1,"a":1}']),
    "unevaluated members": (
        {
            "properties": {"a": True},
            "anyOf": [{"properties": {"b": True}, "required": ["b"]}, {"properties": {"c": True}}],
            "unevaluatedProperties": False,
        },
        ['{"a":1,"b":1,"c":1}', '{"c":1}', '{"b":1}'],
        ['{"d":1}', '{"a":1,"d":1}'],
    ),
    "unevaluated items": (
        {"prefixItems": [{"const": 1}], "contains": {"type": "string"}, "unevaluatedItems": False},
        ['[1,"a","b"]', '[1,"x"]'],
        ["[1]", '[1,"a",2]', '[2,"a"]'],
    ),
    "items": (
        {"prefixItems": [{"type": "string"}], "items": {"type": "null"}, "maxItems": 3},
        ["[]", '["a"]', '["a",null,null]'],
        ["[1]", '["a",1]', '["a",null,null,null]'],
    ),
    "contains": (
        {"contains": {"minimum": 5}, "minContains": 2, "maxContains": 2},
        ["[5,1,6]", "[5,5]"],
        ["[5]", "[5,6,7]", "[]"],
    ),
    "unique": (
        {"uniqueItems": True},
        ["[1,2]", "[1,true]", '[{"a":1,"b":2},{"a":1}]', '["a","A"]'],
        ["[1,1]", "[1,1.0]", '[{"a":1,"b":2},{"b":2,"a":1}]', "[[],[1],[]]"],
    ),
    "constants by value": (
        {"enum": [1, "a", [1, {"b": None}], {"x": 1, "y": [2.50]}]},
        ["1", '"a"', '[1,{"b":null}]', '{"x":1,"y":[2.5]}'],
        [
            "true",
            "2",
            "1.0",
            '{"x":1,"y":[2.50]}',
            '[1,{"b":1}]',
            '{"x":1}',
            '{"x":1,"y":[2.5],"z":0}',
        ],
    ),
    "recursion": (
        {"type": "object", "properties": {"n": {"$ref": "#"}}, "additionalProperties": False},
        ["{}", '{"n":{"n":{}}}'],
        ['{"n":1}', '{"n":{"m":1}}'],
    ),
    "strings": (
        {"type": "string", "pattern": "^a+$", "maxLength": 3, "not": {"const": "aa"}},
        ['"a"', '"aaa"'],
        ['"aa"', '"aaaa"', '""', "1"],
    ),
    "a long bound": (
        {"type": "string", "maxLength": 30_000, "pattern": "^[a-z]*$"},
        ['""', '"abc"'],
        ['"A"', '"' + "a" * 30_001 + '"'],
    ),
    "numbers": (
        {"type": "number", "multipleOf": 0.01, "minimum": -1, "exclusiveMaximum": 2},
        ["-1", "1.99", "0.01", "1.990"],
        ["2", "1.999", "-1.01", '"1"'],
    ),
    "leap seconds": (
        {"type": "string", "format": "date-time"},
        ['"2820-12-17T07:52:60-16:07"', '"2820-12-17T07:52:60.4-16:07"', '"2016-12-31T23:59:60Z"'],
        ['"2820-12-17T07:52:604-16:07"', '"2820-12-17T07:52:60-16:08"'],
    ),
    "judged at the end": (
        {"type": "string", "format": "regex", "maxLength": 5},
        ['"a+"', '"(a)"'],
        ['"(a"', '"a**"', "1"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_texts(name: str) -> None:
    schema, good, bad = CASES[name]
    root = language(schema).root
    assert [text for text in good if not accepts(root, text.encode())] == []
    assert [text for text in bad if accepts(root, text.encode())] == []


@pytest.mark.parametrize("name", CASES)
def test_any_order_takes_what_the_declared_order_takes(name: str) -> None:
    schema, good, _ = CASES[name]
    root = language(schema, ANY).root
    assert [text for text in good if not accepts(root, text.encode())] == []


def test_any_order() -> None:
    schema = {"properties": {"a": {"type": "integer"}, "b": {}}, "required": ["a", "c"]}
    root = language(schema, ANY).root
    assert accepts(root, b'{"c":1,"d":2,"a":3}')
    assert not accepts(root, b'{"c":1,"d":2}')
    assert not accepts(root, b'{"c":1,"a":3,"c":1}')


def test_pretty_is_exact() -> None:
    schema = {"properties": {"a": {}, "b": {"type": "array", "items": {"type": "integer"}}}}
    root = language(schema, Options(whitespace=Whitespace.PRETTY)).root
    value = {"a": {}, "b": [1, 2], "c": {"d": [[]]}}
    text = json.dumps(value, indent=2)
    assert accepts(root, text.encode())
    assert accepts(root, b"{}")
    for wrong in (
        json.dumps(value),
        text.replace(": ", ":"),
        text.replace("\n  ", "\n "),
        text + " ",
    ):
        assert not accepts(root, wrong.encode())


def test_lenient_is_bounded() -> None:
    root = language({"type": "object"}, Options(whitespace=Whitespace.LENIENT)).root
    assert accepts(root, b'{ "a" :\t[ 1 ,\n2 ] }')
    assert accepts(root, b"{" + b" " * 64 + b"}")
    assert not accepts(root, b"{" + b" " * 65 + b"}")
    assert not accepts(root, b'{"a" 1}')


@pytest.mark.parametrize(
    "schema",
    [
        False,
        {"enum": []},
        {"type": "string", "enum": [1]},
        {"allOf": [{"const": "a"}, {"const": "b"}]},
        {"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 2},
        {"type": "integer", "multipleOf": 7, "minimum": 1, "maximum": 6},
        {"type": "array", "minItems": 3, "maxItems": 2},
        {"type": "array", "items": False, "minItems": 1},
        {"type": "object", "properties": {"a": False}, "required": ["a"]},
        {
            "type": "object",
            "properties": {"a": {}},
            "additionalProperties": False,
            "minProperties": 2,
        },
        {"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]},
        {"type": "object", "propertyNames": {"maxLength": 1}, "required": ["ab"]},
        {"type": "array", "contains": {"type": "string"}, "items": {"type": "integer"}},
    ],
)
@pytest.mark.parametrize("options", [Options(), ANY])
def test_what_nothing_can_match_is_refused_as_such(schema: object, options: Options) -> None:
    with pytest.raises(Unsatisfiable):
        language(schema, options)


@pytest.mark.parametrize(
    "extra", [{"maxItems": 1}, {"maxItems": 2}, {"prefixItems": [True], "items": False}]
)
def test_arrays_that_need_equal_items_are_not_called_unsatisfiable(
    extra: dict[str, object],
) -> None:
    with pytest.raises(UnsupportedConstraint) as caught:
        language({"type": "array", "not": {"uniqueItems": True}, **extra})
    assert [refusal.keyword for refusal in caught.value.refusals] == ["uniqueItems"]


def test_what_leads_nowhere_is_never_begun() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {}, "b": False, "c": {"$ref": "#/$defs/loop"}},
        "additionalProperties": False,
        "$defs": {"loop": {"type": "array", "items": {"$ref": "#/$defs/loop"}, "minItems": 1}},
    }
    root = language(schema).root
    for text, legal in ((b'{"a', True), (b'{"b', False), (b'{"c', False), (b'{"a":1,', False)):
        assert Walker(root).feed(text) is legal


@pytest.mark.parametrize(
    ("schema", "where"),
    [
        ({"properties": {"a": {"pattern": "(a)\\1"}}}, "/properties/a/pattern"),
        ({"patternProperties": {"(a)\\1": {}}}, "/patternProperties/(a)\\1"),
        ({"items": {"$ref": "http://elsewhere.test/"}}, "/items/$ref"),
        ({"items": {"minItems": 10**6}}, "/items/minItems"),
        ({"properties": {"x": {"anyOf": [{"$ref": "#/properties/x"}, {}]}}}, "/properties/x"),
    ],
)
def test_refusals_name_the_place(schema: object, where: str) -> None:
    with pytest.raises(GrammarError) as caught:
        language(schema)
    assert [refusal.where for refusal in caught.value.refusals] == [where]


def test_all_malformed_keywords_are_told_at_once() -> None:
    schema = {
        "properties": {"a": {"type": "strin"}, "b": {"minLength": -1, "items": {"enum": 1}}},
        "required": "a",
        "$defs": {"c": {"maximum": "1"}},
    }
    with pytest.raises(InvalidConstraint) as caught:
        language(schema)
    assert [refusal.where for refusal in caught.value.refusals] == ["/required"]
    del schema["required"]
    with pytest.raises(InvalidConstraint) as caught:
        language(schema)
    wrong = ["/properties/a/type", "/properties/b/minLength", "/$defs/c/maximum"]
    assert [refusal.where for refusal in caught.value.refusals] == wrong


def test_all_refusals_are_told_at_once() -> None:
    schema = {"properties": {"a": {"pattern": "(a)\\1"}, "b": {"pattern": "(b)\\1"}}}
    with pytest.raises(UnsupportedConstraint) as caught:
        language(schema)
    assert len(caught.value.refusals) == 2


def test_a_dialect_that_came_from_another_process_means_the_same() -> None:
    for dialect, taken in ((DRAFT4, False), (DRAFT7, True)):
        copied = pickle.loads(pickle.dumps(dialect))
        lenient = Options(whitespace=Whitespace.LENIENT)
        rule = Language({"type": "integer"}, lenient, dialect=copied).root
        assert accepts(rule, b"1.0") is taken


def test_tiers_are_told() -> None:
    schema = {
        "title": "ignored",
        "type": "array",
        "uniqueItems": True,
        "items": {"format": "regex", "maxLength": 9, "contentEncoding": "base64"},
    }
    found = {entry.where: entry.tier for entry in language(schema).enforced}
    assert found == {
        "/type": Tier.AUTOMATON,
        "/uniqueItems": Tier.BOOKKEEPING,
        "/items": Tier.AUTOMATON,
        "/items/format": Tier.JUDGED,
        "/items/maxLength": Tier.AUTOMATON,
    }


@pytest.mark.parametrize("name", CASES)
def test_least_is_an_upper_bound_that_can_be_met(name: str) -> None:
    """Follow the cheapest way byte by byte: the bound never rises by more than was read."""
    schema, good, _ = CASES[name]
    root = language(schema).root
    least = root.least(root.start)
    assert least is not None
    assert least <= max(len(text) for text in good) + 64


@pytest.mark.parametrize("value", ['"', '{"a":"b\n\\"}' * 40, "plain"])
def test_long_strings_that_are_counted_hold_escapes(value: str) -> None:
    language = Language(read('{"type": "string", "maxLength": 32767}'), Options())
    assert accepts(language.root, json.dumps(value).encode())
    assert not accepts(language.root, json.dumps(value).encode() + b'"')


@pytest.mark.parametrize("options", [Options(), ANY])
def test_what_is_due_in_an_object_is_among_what_may_follow(options: Options) -> None:
    """Else each of thousands of required names lists all others."""
    names = [f"p{i}" for i in range(6)]
    schema = {"type": "object", "properties": {key: {} for key in names}, "required": names[1::2]}
    rule = language(schema, options).root
    members = rule.names_in(BetweenPlainMembers(0b11))
    assert members is not None
    call = members.call
    assert call.live is not None
    assert call.due <= set(call.live)
    assert call.due == ({3, 5} if options.any_order else {3})
    assert {2, 3} <= set(call.live)
    assert (4 in call.live) is options.any_order
