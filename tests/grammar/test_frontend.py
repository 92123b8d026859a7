"""Accepted constraints are enforced in full; others are refused by place and keyword."""

import json
import lzma
import random
from functools import cache
from typing import Any

import jsonschema
import pytest
from intaglio.grammar.api import (
    Compiler,
    Constraint,
    ConstraintTooLarge,
    GrammarError,
    InvalidConstraint,
    Kind,
    Matcher,
    Unsatisfiable,
    UnsupportedConstraint,
    Violation,
    allowed_tokens,
    empty_rows,
    screen,
)

from tests.support.tokens import data, small


@cache
def compiler() -> Compiler:
    made = small()
    return Compiler(made.vocabulary(), made.canonical)


def schema(value: Any) -> Constraint:
    return Constraint(Kind.JSON_SCHEMA, json.dumps(value))


def takes(constraint: Constraint, *texts: str) -> list[bool]:
    grammar = compiler().compile(constraint)
    found = []
    for text in texts:
        matcher = grammar.matcher()
        try:
            for token in (*small().canonical(text.encode()), small().end_ids[0]):
                matcher.accept(token)
        except Violation:
            pass
        found.append(matcher.finished)
    return found


OBJ = {"type": "object"}
AB = {"a": {"type": "integer"}, "b": {"type": "integer"}}
# schema, instances; the judge is jsonschema. Keys stand in the order of the schema.
PROBES: list[tuple[Any, list[Any]]] = [
    (True, [1, None, "a", [1, {"b": []}], {"a": 1}]),
    ({"type": "integer", "minimum": -7, "exclusiveMaximum": 12}, list(range(-12, 15))),
    ({"type": "integer", "minimum": 98, "maximum": 2003}, [97, 98, 99, 100, 999, 2003, 2004]),
    ({"type": "number", "minimum": 0.25, "maximum": 1.5}, [0.2, 0.25, 0.3, 1, 1.5, 1.51, 2, -1]),
    ({"type": "number", "exclusiveMinimum": -0.5}, [-0.5, -0.49, -1, 0, 3.25, 10**20]),
    ({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}, [0, 1, 0.001, 0.999]),
    ({"type": "integer", "minimum": 2**63, "maximum": 2**64}, [2**63 - 1, 2**63, 2**64, 2**64 + 1]),
    ({"type": "integer", "multipleOf": 7}, [0, 7, 8, -14, 1400, 1401]),
    ({"type": "integer", "multipleOf": 15, "minimum": 40}, [30, 45, 50, 3000]),
    ({"type": "integer", "multipleOf": 3, "minimum": -4, "maximum": 9}, list(range(-7, 12))),
    (
        {"type": "string", "minLength": 2, "maxLength": 3},
        ["", "a", "ab", "é🙂", "abc", "abcd", '\n\t"'],
    ),
    ({"type": "string", "pattern": "^a.c$"}, ["abc", "a\nc", "ac", "xabc", 'a"c', "a\\c"]),
    ({"type": "string", "pattern": "b+", "maxLength": 4}, ["b", "abba", "aaa", "aabba", ""]),
    ({"type": "string", "pattern": "^x", "minLength": 2}, ["x", "xy", "yx"]),
    ({"allOf": [{"pattern": "^a"}, {"pattern": "z$"}], "type": "string"}, ["az", "a", "z", "abz"]),
    ({"type": "string", "pattern": "^(\\d{3}|[^\\W\\d]+)$"}, ["123", "ab_", "12", "a1"]),
    ({"type": "string", "pattern": "^foo|bar$"}, ["foo", "fooz", "xbar", "xfoo", "barx"]),
    (
        {"enum": ["a", 1, None, {"k": [1, 2]}], "type": ["string", "null"]},
        ["a", 1, None, {"k": [1, 2]}],
    ),
    ({"enum": ["ab", "abc", "b"], "maxLength": 2, "pattern": "^a"}, ["ab", "abc", "b"]),
    ({"enum": [1, 2, 3], "not": {"const": 2}}, [1, 2, 3]),
    ({"const": {"a": [1, {"b": None}]}}, [{"a": [1, {"b": None}]}, {"a": [1]}]),
    (
        {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}]},
        [[], [1], [1, "a"], ["a"], [1, "a", 2]],
    ),
    ({"type": "array", "prefixItems": [{"type": "integer"}], "items": False}, [[], [1], [1, 1]]),
    (
        {"type": "array", "items": {"type": "null"}, "minItems": 1, "maxItems": 2},
        [[], [None], [None] * 2, [None] * 3, [1]],
    ),
    ({"type": "array", "uniqueItems": True, "maxItems": 1}, [[], [1], [1, 1]]),
    (
        {**OBJ, "properties": AB},
        [{}, {"a": 1}, {"b": 1}, {"a": 1, "b": 2, "c": "x"}, {"ab": 1}, {"a": "x"}, {"b": "x"}],
    ),
    (
        {**OBJ, "properties": AB, "additionalProperties": {"type": "string"}},
        [{"a": 1, "z": "s"}, {"a": 1, "z": 1}, {"z": "s"}],
    ),
    (
        {**OBJ, "properties": AB, "required": ["b", "q"]},
        [{"b": 1, "q": 1}, {"b": 1}, {"a": 1, "b": 1, "q": []}],
    ),
    (
        {**OBJ, "patternProperties": {"^x": {"type": "integer"}}},
        [{"x": 1}, {"x": "s"}, {"y": "s"}, {"xx": 1, "y": None}],
    ),
    (
        {
            **OBJ,
            "properties": {"xa": {"minimum": 3}},
            "patternProperties": {"^x": {"type": "integer"}, "a$": {"maximum": 9}},
        },
        [
            {"xa": 5},
            {"xa": 2},
            {"xa": 10},
            {"xa": "s"},
            {"xb": 1},
            {"xba": 10},
            {"ba": 10},
            {"ba": "s"},
            {"q": "s"},
        ],
    ),
    (
        {**OBJ, "patternProperties": {"^x": {}}, "additionalProperties": False},
        [{"x1": 1}, {"y": 1}, {}],
    ),
    (
        {**OBJ, "propertyNames": {"pattern": "^[a-z]+$", "maxLength": 2}},
        [{"ab": 1}, {"abc": 1}, {"A": 1}],
    ),
    (
        {**OBJ, "propertyNames": {"enum": ["k", "l"]}, "properties": {"m": {}}},
        [{"k": 1}, {"m": 1}, {"k": 1, "l": 2}],
    ),
    (
        {**OBJ, "properties": AB, "additionalProperties": False, "minProperties": 1},
        [{}, {"a": 1}, {"b": 1}, {"a": 1, "b": 1}],
    ),
    (
        {
            **OBJ,
            "properties": {**AB, "c": {}},
            "additionalProperties": False,
            "minProperties": 2,
            "maxProperties": 2,
        },
        [
            {},
            {"a": 1},
            {"a": 1, "b": 1},
            {"a": 1, "c": 1},
            {"b": 1, "c": 1},
            {"a": 1, "b": 1, "c": 1},
        ],
    ),
    ({**OBJ, "maxProperties": 1}, [{}, {"a": 1}, {"a": 1, "b": 1}]),
    ({**OBJ, "properties": AB, "unevaluatedProperties": False}, [{"a": 1}, {"c": 1}]),
    (
        {
            "allOf": [{"properties": {"a": {"minimum": 2}}}, {"properties": AB, "required": ["a"]}],
            **OBJ,
        },
        [{"a": 1}, {"a": 2}, {"b": 1}],
    ),
    (
        {
            "allOf": [
                {"properties": AB, "additionalProperties": False},
                {"required": ["c"], "properties": {"c": {}}},
            ]
        },
        [{"c": 1}, {"a": 1}, 3, "s"],
    ),
    (
        {
            **OBJ,
            "properties": AB,
            "additionalProperties": False,
            "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
        },
        [{}, {"a": 1}, {"b": 1}],
    ),
    ({"oneOf": [{"type": "string"}, {"type": "integer"}]}, ["a", 1, None]),
    (
        {
            "oneOf": [
                {
                    **OBJ,
                    "properties": {"t": {"const": "x"}, "v": {"type": "integer"}},
                    "required": ["t"],
                },
                {**OBJ, "properties": {"t": {"const": "y"}}, "required": ["t", "w"]},
            ]
        },
        [{"t": "x", "v": 1}, {"t": "x", "v": "s"}, {"t": "y", "w": 1}, {"t": "y"}, {"t": "z"}],
    ),
    ({"oneOf": [{"enum": [1, 2]}, {"enum": [2, 3]}]}, [1, 2, 3]),
    (
        {
            "$ref": "#/$defs/n",
            "$defs": {
                "n": {
                    **OBJ,
                    "properties": {"n": {"$ref": "#/$defs/n"}},
                    "additionalProperties": False,
                }
            },
        },
        [{}, {"n": {}}, {"n": {"n": {}}}, {"n": 1}],
    ),
    (
        {"$defs": {"p": {"minimum": 3}}, "type": "integer", "$ref": "#/$defs/p", "maximum": 5},
        [2, 3, 5, 6, "a"],
    ),
    ({"$ref": "#/$defs/a~1b%25", "$defs": {"a/b%": {"type": "null"}}}, [None, 1]),
    ({"$ref": "#here", "$defs": {"x": {"$anchor": "here", "type": "null"}}}, [None, 1]),
    (
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "items": [{"type": "null"}],
            "additionalItems": False,
            "type": "array",
        },
        [[], [None], [1], [None, 1]],
    ),
    (
        {
            "$schema": "http://json-schema.org/draft-04/schema#",
            "type": "integer",
            "minimum": 3,
            "exclusiveMinimum": True,
        },
        [3, 4],
    ),
    (
        {"type": "string", "format": "date"},
        ["2024-02-29", "2023-02-29", "2024-04-31", "2024-12-31", "24-1-1"],
    ),
    ({"type": "string", "format": "ipv4"}, ["1.2.3.4", "256.1.1.1", "01.2.3.4", "1.2.3"]),
    ({"type": "string", "format": "uuid"}, ["2eb8aa08-aa98-11ea-b4aa-73b441d16380", "2eb8aa08"]),
    ({"type": "string", "format": "of-our-own"}, ["anything"]),
    ({"items": {"uniqueItems": True}}, [[[1, 2]], [[1, 1]], [[{}, {}]], 1]),
    ({"uniqueItems": True, "items": {"enum": ["a", "b"]}}, [["a", "b"], ["a", "a"], ["a"]]),
    ({"not": {"type": "null"}}, [None, 1, {}, "null"]),
    (
        {"if": {"properties": {"a": {"const": 1}}}, "then": {"required": ["b"]}},
        [{"a": 1}, {"a": 1, "b": 1}, {"a": 2}, 3],
    ),
    ({"contains": {"const": 1}, "maxContains": 2}, [[1], [2], [], [1, 1, 1], [2, 1, 1]]),
    ({**OBJ, "dependentRequired": {"a": ["b"]}, "properties": AB}, [{"a": 1}, {"a": 1, "b": 1}]),
    ({"dependentSchemas": {"a": {"maxProperties": 1}}}, [{"a": 1}, {"a": 1, "b": 1}, {"b": 1}]),
    ({"type": "number", "multipleOf": 0.25}, [0, 0.25, 0.3, -1.5, 7]),
    ({"oneOf": [{"minimum": 1}, {"maximum": 3}]}, [0, 1, 3, 4, "s"]),
    (
        {"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": False},
        [{"a": 1}, {"b": 1}, {}],
    ),
    ({"pattern": "a(?=b)"}, ["ab", "a", "xxab", "ba"]),
    ({"minProperties": 2}, [{"a": 1}, {"a": 1, "b": 1}, 1]),
]


@pytest.mark.parametrize(("value", "instances"), PROBES, ids=lambda part: json.dumps(part)[:60])
def test_the_judge_agrees(value: Any, instances: list[Any]) -> None:
    kind = jsonschema.validators.validator_for(value, default=jsonschema.Draft202012Validator)
    judge = kind(value, format_checker=kind.FORMAT_CHECKER)
    texts = [json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in instances]
    found = dict(zip(texts, takes(schema(value), *texts), strict=True))
    assert found == {t: judge.is_valid(one) for t, one in zip(texts, instances, strict=True)}


@pytest.mark.parametrize(
    "text",
    [
        '"\\ud800"',
        '"\\udc00x"',
        '"\t"',
        '"\x13"',
        "1e999",
        "01",
        "-",
        "1.",
        '"\\x41"',
        "{}{}",
        " 1",
    ],
)
@pytest.mark.parametrize("value", [True, {"minLength": 1}, {"maxLength": 9}])
def test_what_is_not_json_is_never_taken(value: Any, text: str) -> None:
    assert takes(schema(value), text) == [False]


@pytest.mark.parametrize("value", [{}, {"minLength": 1}, {"maxLength": 9}, {"pattern": "^.*$"}])
def test_surrogates_and_broken_characters_are_never_taken(value: Any) -> None:
    grammar = compiler().compile(schema({"type": "string", **value}))
    single = {token: index for index, token in enumerate(compiler().vocabulary.tokens)}
    for raw in (b'"\xed\xa0\x80', b'"\xc0\x80', b'"\xf4\x90', b'"\xff', b'"a\x00'):
        matcher = grammar.matcher()
        taken = 0
        while taken < len(raw) and single[raw[taken : taken + 1]] in legal(matcher):
            matcher.accept(single[raw[taken : taken + 1]])
            taken += 1
        assert taken < len(raw)


def legal(matcher: Matcher) -> set[int]:
    width = compiler().vocabulary.width
    row = empty_rows(1, width)[0]
    matcher.fill(row)
    return set(allowed_tokens(row, width).tolist())


def test_an_additional_key_may_not_spell_a_named_one_by_escapes() -> None:
    found = takes(
        schema({"properties": {"a": {"type": "integer"}}}), '{"\\u0061":"s"}', '{"b":"s"}'
    )
    assert found == [False, True]


@pytest.mark.parametrize(
    ("value", "where", "keyword"),
    [
        ({"$ref": "http://example.org/x.json"}, "/$ref", "$ref"),
        ({"items": {"$ref": "file:///etc/passwd"}}, "/items/$ref", "$ref"),
        ({"anyOf": [{"$ref": "#"}]}, "", "$ref"),
        ({"pattern": "(a)\\1"}, "/pattern", "back-reference"),
        ({"patternProperties": {"(a)\\1": {}}}, "/patternProperties/(a)\\1", "back-reference"),
    ],
)
def test_what_is_not_enforced_is_refused_where_it_stands(
    value: Any, where: str, keyword: str
) -> None:
    with pytest.raises(UnsupportedConstraint) as caught:
        screen(schema(value))
    assert (where, keyword) in [(r.where, r.keyword) for r in caught.value.refusals]
    assert all(refusal.reason and refusal.hint for refusal in caught.value.refusals)


def test_every_refusal_is_named_at_once() -> None:
    value = {"properties": {"a": {"pattern": "(a)\\1"}, "b": {"$ref": "http://x.test/"}}}
    with pytest.raises(UnsupportedConstraint, match="1 more") as caught:
        screen(schema(value))
    assert len(caught.value.refusals) == 2


@pytest.mark.parametrize(
    "value",
    [
        False,
        {"type": "integer", "minimum": 5, "maximum": 4},
        {"type": "string", "minLength": 3, "maxLength": 2},
        {"enum": ["a"], "type": "integer"},
        {"allOf": [{"const": 1}, {"const": 2}]},
        {"type": "object", "required": ["a"], "properties": {"a": False}},
        {"type": "object", "required": ["a"], "additionalProperties": False},
        {
            "$ref": "#/$defs/n",
            "$defs": {
                "n": {
                    "type": "object",
                    "required": ["n"],
                    "properties": {"n": {"$ref": "#/$defs/n"}},
                }
            },
        },
        {"type": "string", "allOf": [{"pattern": "^a$"}, {"pattern": "^b$"}]},
        {"type": "integer", "minimum": 1, "maximum": 4, "multipleOf": 5},
    ],
)
def test_what_nothing_meets_is_said_so(value: Any) -> None:
    with pytest.raises(Unsatisfiable):
        screen(schema(value))


@pytest.mark.parametrize(
    ("source", "match"),
    [
        ("{", "not JSON"),
        ('{"type":"string","type":"null"}', "twice"),
        ('{"const":NaN}', "not JSON"),
        ("3", "object or a Boolean"),
        ('{"type":"strin"}', "/type"),
        ('{"properties":{"a":{"minLength":-1}}}', "/properties/a/minLength"),
        ('{"$ref":"#/$defs/none"}', "points to nothing"),
        ('{"$schema":"http://example.org/own"}', "unknown draft"),
        ('{"pattern":"a("}', "/pattern"),
        ("[" * 100_000, "deep"),
    ],
)
def test_what_is_no_schema_is_said_so(source: str, match: str) -> None:
    with pytest.raises(InvalidConstraint, match=match):
        screen(Constraint(Kind.JSON_SCHEMA, source))


@pytest.mark.parametrize(
    ("pattern", "error", "where"),
    [
        (r"(a)\1", UnsupportedConstraint, "char 3"),
        ("(?x)a", UnsupportedConstraint, "char 0"),
        ("a(?i)b", InvalidConstraint, "char 1"),
        ("a(b", InvalidConstraint, "char 1"),
        ("a**", InvalidConstraint, "char 2"),
        ("[z-a]", InvalidConstraint, "char 4"),
        (r"\a", InvalidConstraint, "char 0"),
    ],
)
def test_patterns_are_refused_by_offset(
    pattern: str, error: type[GrammarError], where: str
) -> None:
    with pytest.raises(error) as caught:
        screen(Constraint(Kind.REGEX, pattern))
    assert caught.value.refusals[0].where == where


@pytest.mark.parametrize(
    "pattern", ["(a|b)*a(a|b){20}", "((a{1,99}){1,99}){1,99}", "[^x]{99999}", "(" * 5000]
)
def test_patterns_that_explode_are_refused_in_time(pattern: str) -> None:
    with pytest.raises((ConstraintTooLarge, InvalidConstraint)):
        screen(Constraint(Kind.REGEX, pattern))


def test_token_level_constructs_are_not_for_callers() -> None:
    with pytest.raises(UnsupportedConstraint, match="Token"):
        screen(Constraint(Kind.EBNF, "root ::= Token(3)"))
    with pytest.raises(InvalidConstraint, match="not a grammar"):
        compiler().compile(Constraint(Kind.EBNF, "root = a"))


@pytest.mark.parametrize(
    ("open_schema", "kept", "left_out"),
    [
        ({"properties": {"a": {"type": "integer"}}, "type": "object"}, '{"a":1}', '{"a":1,"b":2}'),
        (
            {
                "type": "object",
                "allOf": [{"properties": {"a": {"const": 1}}}, {"properties": {"b": {"const": 2}}}],
            },
            '{"a":1,"b":2}',
            '{"a":1,"b":2,"c":3}',
        ),
    ],
)
def test_extra_properties_may_be_left_out(open_schema: Any, kept: str, left_out: str) -> None:
    source = json.dumps(open_schema)
    assert takes(Constraint(Kind.JSON_SCHEMA, source), kept, left_out) == [True, True]
    closed = Constraint(Kind.JSON_SCHEMA, source, extra_properties=False)
    assert takes(closed, kept, left_out) == [True, False]


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ({"type": "object"}, '{"any":1}'),
        ({"properties": {"a": True}, "additionalProperties": {"type": "integer"}}, '{"b":1}'),
        ({"properties": {"a": True}, "patternProperties": {"^x": {"const": 1}}}, '{"x":1}'),
    ],
)
def test_properties_a_schema_speaks_of_stay(said: Any, text: str) -> None:
    closed = Constraint(
        Kind.JSON_SCHEMA, json.dumps({"type": "object", **said}), extra_properties=False
    )
    assert takes(closed, text) == [True]


def test_names_that_surely_have_a_format_that_no_automaton_tells() -> None:
    schema = {"type": "object", "propertyNames": {"format": "regex"}}
    constraint = Constraint(Kind.JSON_SCHEMA, json.dumps(schema))
    assert takes(constraint, '{"^a(b|c)+$":1}', '{"a(":1}', '{"":1}') == [True, False, True]
    lacking = {"type": "object", "not": {"propertyNames": {"format": "regex"}}}
    constraint = Constraint(Kind.JSON_SCHEMA, json.dumps(lacking))
    assert takes(constraint, '{"(":1}', '{"a":1}', '{"a":1,"(":1}') == [True, False, True]
    # Whether the bounds of a range are in order is nothing that the automaton of the format decides.
    schema = {**lacking, "propertyNames": {"pattern": r"^\[[a-z]-[a-z]\]$"}}
    with pytest.raises(UnsupportedConstraint) as caught:
        screen(Constraint(Kind.JSON_SCHEMA, json.dumps(schema)))
    assert [refusal.keyword for refusal in caught.value.refusals] == ["propertyNames"]


@pytest.mark.shared
def test_no_instance_of_the_benchmark_is_wrongly_taken() -> None:
    path = data("jsonschemabench", "open.jsonl.xz")
    with lzma.open(path) as file:
        rows = [json.loads(line) for line in file]
    wrong = []
    done = 0
    for row in random.Random(5).sample(
        [r for r in rows if len(json.dumps(r["schema"])) < 1500], 60
    ):
        texts = [
            json.dumps(t["data"], ensure_ascii=False, separators=(",", ":")) for t in row["tests"]
        ]
        try:
            found = takes(schema(row["schema"]), *texts)
        except GrammarError:
            continue
        done += 1
        wrong += [
            t for taken, t in zip(found, row["tests"], strict=True) if taken and not t["valid"]
        ]
    assert done > 40
    assert not wrong
