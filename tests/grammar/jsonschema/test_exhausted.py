"""Arrays whose items must differ, once the values that may still come are used up."""

import json
from typing import Any

import pytest
from intaglio.grammar.api import (
    Compiler,
    Constraint,
    KeyOrder,
    Kind,
    Violation,
    Whitespace,
    empty_rows,
)
from intaglio.grammar.contract.vocabulary import Vocabulary

BYTES = Vocabulary((*(bytes([byte]) for byte in range(256)), None), (256,), 257)

NULLS = {"type": "array", "uniqueItems": True, "items": {"type": "null"}}
AB_OR_INTEGER = {"anyOf": [{"type": "integer"}, {"type": "string", "pattern": "^(a|b)$"}]}
EMPTY = {"oneOf": [{"type": "string", "maxLength": 0}, AB_OR_INTEGER]}
AB_AND_CONSTANT = {
    "anyOf": [{"type": "integer"}, {"enum": ["ab"]}, {"type": "string", "pattern": "^(a|b)$"}]
}
ONES = {"type": "array", "items": {"type": "number", "minimum": 1, "maximum": 1}, "maxItems": 1}
ZEROS = {"type": "array", "items": {"type": "number", "minimum": 0, "maximum": 0}, "maxItems": 1}
PAIRS = {"type": "array", "uniqueItems": True, "items": AB_OR_INTEGER, "minItems": 1, "maxItems": 2}
IMPOSSIBLE: dict[str, dict[str, Any]] = {
    "a required name that is not allowed": {"required": ["b"], "propertyNames": {"pattern": "^a"}},
    "a required member without values": {"required": ["b"], "properties": {"b": False}},
    "too many required members": {"required": ["a", "b"], "maxProperties": 1},
}
USED: dict[str, tuple[dict[str, Any], bytes, bytes]] = {
    "another rule read it": ({"prefixItems": [{"enum": [True, 1]}]}, b"[true,", b"t"),
    "before contains was met": ({"contains": {"type": "array"}}, b"[true,[],", b"t"),
    "all arrays": ({"items": NULLS}, b"[[],[null]", b","),
    "the only object": ({"items": {"const": {"a": 1}}}, b'[{"a":1}', b","),
    "several numbers": (
        {"items": {"type": "integer", "minimum": 0, "maximum": 1000}}, b"[100,1000,10", b"0",
    ),
    "alternatives with numbers": (
        {"items": {"anyOf": [{"type": "null"}, {"enum": ["a", 1.5]}]}}, b'[null,1.5,"a"', b",",
    ),
    "strings of a pattern": ({"items": AB_OR_INTEGER}, b'["a","b",', b'"'),
    "the escape of a used string": ({"items": AB_OR_INTEGER}, b'["a","\\u006', b"1"),
    "the beginning of escapes of used strings": (
        {"items": {"anyOf": [{"type": "integer"}, {"type": "string", "pattern": "^(a|b|é)$"}]}},
        b'["a","b","\\u00', b"6",
    ),
    "any escape, where each spells a used string": ({"items": EMPTY}, b'["a","b","', b"\\"),
    "any escape, where only a constant is left": ({"items": AB_AND_CONSTANT}, b'["a","b","', b"\\"),
    "an escape of what a constant goes on from": ({"items": AB_AND_CONSTANT}, b'["a","\\u006', b"1"),
    "a used string that had an escape, beside a longer constant": (
        {"items": {"anyOf": [{"type": "integer"}, {"enum": ["abx"]}, {"type": "string", "pattern": "^(ab|ac)$"}]}},
        b'["ab","\\u0061', b"b",
    ),
    "the escape of a used string in an object": (
        {"items": {"anyOf": [{"type": "integer"}, {
            "properties": {"k": AB_AND_CONSTANT}, "required": ["k"], "additionalProperties": False, "type": "object",
        }]}},
        b'[{"k":"a"},{"k":"\\u006', b"1",
    ),
    "one half of a pair of surrogates": (
        {"items": {"anyOf": [{"type": "integer"}, {"enum": ["ab"]}, {"pattern": "^(😀|c)$", "type": "string"}]}},
        '["😀","'.encode() + rb"\u", b"d",
    ),
    "zeros of a used number within an item": ({"items": {"anyOf": [ONES, {"type": "string"}]}}, b"[[1],[", b"1"),
    "minus zero within an item": ({"items": {"anyOf": [ZEROS, {"type": "string"}]}}, b"[[0],[", b"-"),
    "a new item of an inner array that makes the outer one repeat an item": (
        {"items": PAIRS}, b'[["a","b"],["a",', b'"',
    ),
    **{
        f"arrays of unique items as {name}": (
            {"items": {keyword: [
                {"type": "array", "uniqueItems": True, "items": {"type": "boolean"}, "minItems": 1},
                {"type": "array", "uniqueItems": True, "items": items, "maxItems": 2},
            ]}},
            b"[[true,false", b",",
        )
        for name, keyword, items in (
            ("alternatives with the same items", "anyOf", {"type": "boolean"}),
            ("alternatives with other items", "anyOf", {"enum": [1, 2]}),
            ("alternatives that exclude each other", "oneOf", {"enum": [True, 2]}),
        )
    },
    "exactly one of numbers": (
        {"items": {"oneOf": [{"enum": [1, 2]}, {"enum": [2, 2.5]}]}}, b"[1,2.5", b",",
    ),
    **{
        f"null or an object with {name}": (
            {"items": {"anyOf": [{"type": "null"}, {"type": "object"} | members]}}, b"[null", b",",
        )
        for name, members in IMPOSSIBLE.items()
    },
}  # fmt: skip


@pytest.mark.parametrize("name", USED)
def test_no_item_is_begun_that_only_used_ones_complete(name: str) -> None:
    keywords, begun, refused = USED[name]
    schema = json.dumps({"type": "array", "uniqueItems": True, **keywords})
    matcher = Compiler(BYTES, tuple).compile(Constraint(Kind.JSON_SCHEMA, schema)).matcher()
    row = empty_rows(1, BYTES.width)[0]
    for token in begun:
        matcher.accept(token)
    matcher.fill(row)
    assert not row[refused[0] // 32] >> (refused[0] % 32) & 1
    assert matcher.closing() is not None


IN_ANY_ORDER: dict[str, tuple[dict[str, Any], bytes, bytes]] = {
    "a string that only another order of a used object has": (
        {"a": {"type": "string"}, "b": {"const": 1}}, b'[{"b":1,"a":"x"},{"a":"x', b'"',
    ),
    "a number of a used object": (
        {"a": {"enum": [10, 11]}, "b": {"enum": [10, 11]}},
        b'[{"a":10,"b":10},{"b":11,"a":10},{"b":10,"a":1', b"0",
    ),
    "a name that leaves nothing new": (
        {"a": {"const": 1}, "b": {"enum": [1, 2]}}, b'[{"a":1,"b":1},{"b":2,"a":1},', b"{",
    ),
    "an object within an object": (
        {"o": {"type": "object", "properties": {"k": {"const": 1}, "m": {"enum": [1, 2]}}, "required": ["k", "m"],
               "additionalProperties": False}},
        b'[{"o":{"k":1,"m":1}},{"o":{"m":2,"k":1}},', b"{",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", IN_ANY_ORDER)
def test_no_object_is_begun_that_becomes_a_used_one_in_another_order(name: str) -> None:
    members, begun, refused = IN_ANY_ORDER[name]
    item = {"type": "object", "properties": members, "required": list(members)}
    items = {"anyOf": [{"type": "integer"}, {**item, "additionalProperties": False}]}
    schema = json.dumps({"type": "array", "uniqueItems": True, "items": items})
    asked = Constraint(Kind.JSON_SCHEMA, schema, Whitespace.COMPACT, key_order=KeyOrder.ANY)
    matcher = Compiler(BYTES, tuple).compile(asked).matcher()
    row = empty_rows(1, BYTES.width)[0]
    for token in begun:
        matcher.fill(row)
        assert row[token // 32] >> (token % 32) & 1
        matcher.accept(token)
        assert matcher.closing() is not None
    matcher.fill(row)
    assert not row[refused[0] // 32] >> (refused[0] % 32) & 1
    with pytest.raises(Violation):
        matcher.accept(refused[0])


def test_no_token_ends_the_last_item_but_one_and_begins_a_used_one() -> None:
    """A token of several bytes crosses the comma: what it ends counts for what it begins."""
    words = Vocabulary((*BYTES.tokens[:256], None, b'","'), (256,), 258)
    items = {"anyOf": [{"type": "null"}, {"enum": ["a", "b", 1.5]}]}
    schema = json.dumps({"type": "array", "uniqueItems": True, "items": items})
    compiled = Compiler(words, tuple).compile(
        Constraint(Kind.JSON_SCHEMA, schema, whitespace=Whitespace.COMPACT)
    )
    matcher = compiled.matcher()
    row = empty_rows(1, words.width)[0]
    for token in b'["b","a':
        matcher.accept(token)
    matcher.fill(row)
    assert not row[257 // 32] >> (257 % 32) & 1
    assert row[ord('"') // 32] >> (ord('"') % 32) & 1


CROSSING: dict[str, tuple[dict[str, Any], bytes, bytes, bool]] = {
    "strings that are used up": (
        {"anyOf": [{"type": "integer"}, {"enum": ["a", "b"]}]}, b'["b","a', b'","', False,
    ),
    "a string is left": (
        {"anyOf": [{"type": "integer"}, {"enum": ["a", "b", "c"]}]}, b'["b","a', b'","', True,
    ),
    "the only string, as the first item": (
        {"anyOf": [{"type": "integer"}, {"const": "a"}]}, b'["a', b'","', False,
    ),
    "the array begins with the token, too": (
        {"anyOf": [{"type": "integer"}, {"const": "a"}]}, b"", b'["a","', False,
    ),
    "true twice": ({"anyOf": [{"type": "string"}, {"const": True}]}, b"[tru", b"e,t", False),
    "a number of two digits": (
        {"anyOf": [{"type": "string"}, {"enum": [10, 11]}]}, b"[10,1", b"1,1", False,
    ),
    "a number of one digit is left": (
        {"anyOf": [{"type": "string"}, {"enum": [10, 11, 1]}]}, b"[10,1", b"1,1", True,
    ),
    "three items in one token": (
        {"anyOf": [{"type": "string"}, {"enum": [10, 11]}]}, b"[1", b"0,11,1", False,
    ),
    "an object": (
        {"anyOf": [{"type": "integer"}, {"enum": [{"a": 1}]}]}, b'[{"a":1', b"},{", False,
    ),
    "arrays of arrays": (
        {"anyOf": [{"type": "integer"}, {"enum": [[1]]}]}, b"[[1", b"],[", False,
    ),
    "a string among infinitely many": ({"type": "string"}, b'["b","a', b'","', True),
    "only one kind of string is used up": (
        {"type": "string", "pattern": "^(a|b+)$"}, b'["a', b'","a', False,
    ),
    "strings that escapes could spell once more": (
        {"anyOf": [{"type": "integer"}, {"type": "string", "pattern": "^(a|b)$"}]},
        b'["a","b', b'","', False,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CROSSING)
def test_a_token_that_begins_an_item_anew_counts_the_item_that_it_ends(name: str) -> None:
    items, begun, crossing, legal = CROSSING[name]
    words = Vocabulary((*BYTES.tokens[:256], None, crossing), (256,), 258)
    schema = json.dumps({"type": "array", "uniqueItems": True, "items": items})
    matcher = Compiler(words, tuple).compile(Constraint(Kind.JSON_SCHEMA, schema)).matcher()
    row = empty_rows(1, words.width)[0]
    for token in begun:
        matcher.fill(row)
        assert row[token // 32] >> (token % 32) & 1
        matcher.accept(token)
    matcher.fill(row)
    assert bool(row[257 // 32] >> (257 % 32) & 1) is legal
    if legal:
        matcher.accept(257)
        assert matcher.closing() is not None
    else:
        with pytest.raises(Violation):
            matcher.accept(257)


@pytest.mark.parametrize("begun", [b"[[false,true],[", b"[[true,false],["])
def test_no_array_is_begun_whose_items_cannot_differ_from_one_another_and_make_it_new(
    begun: bytes,
) -> None:
    """Two arrays of different booleans exist; the first byte of the second one's items decides."""
    inner = {"type": "array", "uniqueItems": True, "items": {"type": "boolean"}, "minItems": 2}
    schema = json.dumps({"type": "array", "uniqueItems": True, "items": inner})
    matcher = Compiler(BYTES, tuple).compile(Constraint(Kind.JSON_SCHEMA, schema)).matcher()
    row = empty_rows(1, BYTES.width)[0]
    for token in begun:
        matcher.accept(token)
    matcher.fill(row)
    legal = {byte for byte in b"tf" if row[byte // 32] >> (byte % 32) & 1}
    assert legal == set(b"tf") - {begun[2]}


@pytest.mark.parametrize("begun", [b'"plain text', b'"x\\\\y['])
def test_a_string_that_is_no_pattern_can_be_ended_from_anywhere(begun: bytes) -> None:
    source = Constraint(Kind.JSON_SCHEMA, '{"not": {"type": "string", "format": "regex"}}')
    matcher = Compiler(BYTES, tuple).compile(source).matcher()
    row = empty_rows(1, BYTES.width)[0]
    read = 0
    for token in begun:
        matcher.fill(row)
        if not row[token // 32] >> (token % 32) & 1:
            break
        matcher.accept(token)
        assert matcher.closing() is not None
        read += 1
    assert read > 1


@pytest.mark.parametrize("form", [Whitespace.COMPACT, Whitespace.SPACED, Whitespace.PRETTY])
def test_an_end_is_found_for_many_required_members_in_any_order(form: Whitespace) -> None:
    """The estimate of what is left has to hold in each form: else every order of the members is searched."""
    values = [{"type": "string"}, {"type": "array", "minItems": 2}, {"type": "object"}]
    members = {f"{at}" + "n" * (at % 5): values[at % 3] for at in range(24)}
    inner = {"type": "object", "properties": members, "required": list(members)}
    schema = json.dumps({"type": "object", "properties": {"a": inner}, "required": ["a"]})
    asked = Constraint(Kind.JSON_SCHEMA, schema, form, key_order=KeyOrder.ANY)
    closing = Compiler(BYTES, tuple).compile(asked).matcher().closing()
    assert closing is not None
    assert json.loads(bytes(token for token in closing if token < 256))["a"].keys() == set(members)
