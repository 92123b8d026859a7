"""Verbatim strings: substrings of the document and nothing else, under any schema around them."""

import json
from typing import Any

import pytest
from intaglio.grammar.api import (
    Compiler,
    Constraint,
    HostOnly,
    InvalidConstraint,
    Kind,
    Unsatisfiable,
    UnsupportedConstraint,
    Verdict,
    explain,
    tables_of,
)
from intaglio.grammar.compiler.frontend import screen
from intaglio.grammar.intake.verdict import examine

from tests.conformance.verbatim import look
from tests.support.texts import Fate, fate
from tests.support.tokens import small

TEXT = 'Invoice INV-2041\nfrom Zoë\t Quick, "The Fox"\\Co.\r\nTotal: 12.50 EUR 🙂\ud800 end'
VERBATIM: dict[str, Any] = {"type": "string", "x-intaglio": {"verbatim": True}}


@pytest.fixture(scope="module")
def compiler() -> Compiler:
    return Compiler(small().vocabulary(), small().canonical)


def constraint(schema: Any, document: str | None = TEXT, **options: Any) -> Constraint:
    return Constraint(Kind.JSON_SCHEMA, json.dumps(schema), document=document, **options)


def written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def legal(schema: Any, *values: Any, document: str = TEXT) -> list[bool]:
    """For each value, whether it is a whole output."""
    screened = screen(constraint(schema, document))
    return [fate(screened, written(value)) is Fate.WHOLE for value in values]


def test_masks_equal_the_list_of_all_substrings(compiler: Compiler) -> None:
    found = look(compiler, 160, 1)
    assert not found.faults
    assert found.documents == 160
    assert found.masks > 1_500
    assert found.values > 350


@pytest.mark.parametrize(
    "value",
    [
        "Invoice",
        "INV-2041\nfrom Zoë",  # as it stands there
        "INV-2041 from Zoë Quick",  # with the white space folded
        '"The Fox"\\Co.',
        "🙂",
        "",
        TEXT.partition("\ud800")[0],
    ],
)
def test_what_stands_in_the_document_is_legal(value: str) -> None:
    assert legal(VERBATIM, value) == [True]


@pytest.mark.parametrize(
    "value",
    ["invoice", "INV 2041", "Zoe", "from Zoë\t  Quick", "\ud83d", "🙂 end", "Fox Co.", "EUR  🙂"],
)
def test_nothing_else_is_legal(value: str) -> None:
    screened = screen(constraint(VERBATIM))
    text = json.dumps(value) if "\ud83d" in value else written(value)
    assert fate(screened, text) is Fate.REFUSED


def test_a_character_has_one_spelling() -> None:
    screened = screen(constraint(VERBATIM))
    assert fate(screened, '"Zoë"') is Fate.WHOLE
    assert fate(screened, '"Zo\\u00eb"') is Fate.REFUSED
    assert fate(screened, '"\\nfrom"') is Fate.WHOLE
    assert fate(screened, '"\\u000afrom"') is Fate.REFUSED


def test_bounds_patterns_formats_and_null_are_kept() -> None:
    assert legal(VERBATIM | {"minLength": 2}, "IN", "I", "") == [True, False, False]
    assert legal(VERBATIM | {"maxLength": 3}, "INV", "INV-", "") == [True, False, True]
    number = VERBATIM | {"pattern": "^INV-[0-9]+$"}
    assert legal(number, "INV-2041", "INV-2", "INV-", "INV-20410") == [True, True, False, False]
    day = VERBATIM | {"format": "date"}
    assert legal(day, "2026-03-12", "2026-03-13", document="on 2026-03-12.") == [True, False]
    nullable = VERBATIM | {"type": ["string", "null"], "minLength": 3}
    assert legal(nullable, None, "Fox", "Dog", "Fo") == [True, True, False, False]
    some = VERBATIM | {"enum": ["EUR", "USD"]}
    assert legal(some, "EUR", "USD", "EU") == [True, False, False]


@pytest.mark.parametrize("only", [{"const": ""}, {"enum": [""]}, {"pattern": "^$"}])
def test_the_empty_string_alone_can_be_legal(only: Any) -> None:
    assert legal(VERBATIM | only, "", "I") == [True, False]
    assert legal(VERBATIM | only | {"type": ["string", "null"]}, "", "I") == [True, False]


def test_alternatives_of_objects_are_told_apart() -> None:
    one = {"properties": {"a": VERBATIM, "b": {"const": 1}}, "required": ["a", "b"]}
    two = {"properties": {"a": VERBATIM | {"maxLength": 3}, "b": {"const": 2}}, "required": ["a"]}
    schema = {"type": "object", "anyOf": [one, two], "additionalProperties": True}
    answers = [{"a": "Fox", "b": 2}, {"a": "The Fox", "b": 1}, {"a": "The Fox", "b": 2}]
    screened = screen(constraint(schema, extra_properties=True))
    fates = [fate(screened, written(answer)) is Fate.WHOLE for answer in answers]
    assert fates == [True, True, False]


def test_a_schema_that_says_false_constrains_nothing() -> None:
    free = {"type": "string", "x-intaglio": {"verbatim": False}}
    assert legal(free, "anything") == [True]
    assert legal(free | {"x-intaglio": {}}, "anything") == [True]


@pytest.mark.parametrize(
    ("schema", "pointer"),
    [
        ({"x-intaglio": {"verbatm": True}}, "/x-intaglio/verbatm"),
        ({"x-intaglio": {"verbatim": "yes"}}, "/x-intaglio/verbatim"),
        ({"x-intaglio": True}, "/x-intaglio"),
        ({"items": {"x-intaglio": {"a/b": 1}}}, "/items/x-intaglio/a~1b"),
    ],
)
def test_a_malformed_keyword_is_refused_by_pointer(schema: Any, pointer: str) -> None:
    with pytest.raises(InvalidConstraint) as caught:
        screen(constraint(schema))
    assert [refusal.where for refusal in caught.value.refusals] == [pointer]


@pytest.mark.parametrize(
    "schema",
    [
        {"not": VERBATIM},
        {"anyOf": [VERBATIM, {"type": "string", "pattern": "^x"}]},
        {"type": "object", "propertyNames": VERBATIM, "minProperties": 1},
    ],
)
def test_what_cannot_be_enforced_is_refused(schema: Any) -> None:
    with pytest.raises(UnsupportedConstraint) as caught:
        screen(constraint(schema))
    assert caught.value.refusals[0].keyword == "x-intaglio"


def test_a_schema_without_a_document_is_refused_but_can_be_examined(compiler: Compiler) -> None:
    asked = constraint(VERBATIM | {"minLength": 1}, None)
    with pytest.raises(UnsupportedConstraint, match="document"):
        compiler.compile(asked)
    verdict: Verdict = examine(compiler, asked)
    assert verdict.error is None
    assert verdict.coverage is not None
    assert dict(verdict.coverage.enforced)["x-intaglio"] == 1
    odd = constraint(VERBATIM | {"pattern": "^[A-Z]{3}-\\d{9}$"}, None)
    assert examine(compiler, odd).error is None


def test_a_document_without_a_legal_string_is_unsatisfiable(compiler: Compiler) -> None:
    with pytest.raises(Unsatisfiable):
        compiler.compile(constraint(VERBATIM | {"minLength": 5}, "abc"))
    with pytest.raises(Unsatisfiable):
        compiler.compile(constraint(VERBATIM | {"pattern": "^x"}, "abc"))


def test_the_explanation_lists_the_keyword(compiler: Compiler) -> None:
    found = explain(compiler, constraint({"items": VERBATIM}, None))
    assert found.error is None
    assert ("/items/x-intaglio", "A") in [(each.where, each.tier) for each in found.findings]
    assert found.typical is not None


def test_a_grammar_with_a_document_stays_on_the_host() -> None:
    tables = tables_of(constraint(VERBATIM))
    assert isinstance(tables, HostOnly)
    assert "document" in tables.reason


def test_the_shortest_end_closes_a_string_anywhere(compiler: Compiler) -> None:
    schema = {"type": "array", "items": VERBATIM | {"minLength": 8}, "minItems": 2}
    matcher = compiler.compile(constraint(schema)).matcher()
    texts = compiler.vocabulary.tokens
    for byte in b'["Zo\xc3':
        matcher.accept(next(t for t, text in enumerate(texts) if text == bytes([byte])))
    end = b"".join(texts[t] or b"" for t in (matcher.closing() or ())[:-1])
    first, second = json.loads(b'["Zo\xc3' + end)
    assert first == "Zoë\t Qui" or first == "Zoë Quic"
    assert second in TEXT


def test_one_continuation_is_forced(compiler: Compiler) -> None:
    schema = VERBATIM | {"minLength": 40}
    text = "Only this sentence is long enough to be taken."
    matcher = compiler.compile(constraint(schema, text)).matcher()
    texts = compiler.vocabulary.tokens
    matcher.accept(next(t for t, each in enumerate(texts) if each == b'"'))
    matcher.accept(next(t for t, each in enumerate(texts) if each == b"O"))
    forced = b"".join(texts[token] or b"" for token in matcher.forced())
    assert text[1:30].encode().startswith(forced[:20])
    assert len(forced) > 30


def test_long_documents_with_repeats_are_followed(compiler: Compiler) -> None:
    text = "abc " * 5_000 + "the needle" + " abc" * 5_000
    grammar = compiler.compile(constraint(VERBATIM, text))
    assert grammar.least_tokens == 3
    matcher, texts = grammar.matcher(), compiler.vocabulary.tokens
    for byte in b'"abc the needle abc abc"':
        matcher.accept(next(t for t, each in enumerate(texts) if each == bytes([byte])))
    assert matcher.closing() is not None
