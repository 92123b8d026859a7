"""Scalars cached for all schemas: by their constraints, within a bound."""

import pytest
from intaglio.grammar.contract.constraint import Whitespace
from intaglio.grammar.contract.work import Price, metered
from intaglio.grammar.jsonschema.read.writing_options import Options
from intaglio.grammar.jsonschema.rules.language import Language
from intaglio.grammar.jsonschema.scalars.scalar_leaves import ScalarLeaf
from intaglio.grammar.jsonschema.scalars.shared_keys import SharedCache


def scalars(schema: object, options: Options | None = None) -> ScalarLeaf:
    language = Language(schema, options)
    found = language.shared.scalars.of(language.formulas.root.formula, ())
    assert found is not None
    return found


def test_schemas_that_ask_the_same_share_a_leaf() -> None:
    one = scalars({"minLength": 2, "type": "string", "title": "x"})
    other = scalars({"allOf": [{"type": "string"}, {"minLength": 2}]})
    assert one.dfa is other.dfa


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"minimum": 1, "type": "integer"}, {"maximum": 1, "type": "integer"}),
        ({"const": 1}, {"const": True}),
        ({"enum": ["a", None]}, {"enum": ["a"]}),
        ({"type": "integer"}, {"type": "number"}),
        ({"anyOf": [{"const": "a"}, {"const": "b"}]}, {"const": "a"}),
    ],
)
def test_others_do_not(one: object, other: object) -> None:
    assert scalars(one).dfa.fingerprint != scalars(other).dfa.fingerprint


def test_how_numbers_are_written_is_part_of_what_is_asked() -> None:
    lenient = Options(Whitespace.LENIENT)
    plain, free = scalars({"const": 1}), scalars({"const": 1}, lenient)
    assert (plain.dfa.judge(b"1.0") >= 0, free.dfa.judge(b"1.0") >= 0) == (False, True)


def test_what_has_to_be_judged_belongs_to_its_schema() -> None:
    lenient = Options(Whitespace.LENIENT, any_text=True)
    one, other = (scalars({"type": "string", "format": "hostname"}, lenient) for _ in range(2))
    assert one.judge is not None
    assert one.judge is not other.judge


def test_the_least_recently_used_are_forgotten() -> None:
    known: SharedCache[str] = SharedCache(most_bytes=100_000)
    for number in range(20):
        known.put(number, str(number), 5_000, Price(number, 0, ()))
        assert known.get(0) == "0"
    assert known.get(1) is None
    assert known.get(19) == "19"
    known.put("large", "", 50_000, Price(20, 0, ()))
    assert known.get("large") is None


@pytest.mark.parametrize(
    ("schema", "values"),
    [
        ({"type": "string", "pattern": "^a{0,400}$", "maxLength": 2}, {"", "a", "aa"}),
        (
            {"type": "string", "pattern": "^(ab)*$", "minLength": 3, "maxLength": 7},
            {"abab", "ababab"},
        ),
        ({"type": "string", "pattern": "^(a|bcd)$", "maxLength": 2}, {"a"}),
        ({"type": "string", "pattern": "^aa", "maxLength": 1}, set()),
        ({"type": "string", "pattern": "^aa", "maxLength": 3}, None),
        ({"type": "string", "format": "email", "maxLength": 1024}, None),
    ],
)
def test_few_strings_are_listed_without_counting_characters(
    schema: object, values: set[str] | None
) -> None:
    language = Language({"properties": {"a": schema}})
    (sub,) = (f for f in language.formulas.reached if language.formulas.root.formula is not f)
    with metered(20_000):
        assert language.shared.finite.values(sub) == values
