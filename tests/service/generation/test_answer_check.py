"""The independent check of finished answers."""

import json

import pytest
from intaglio.grammar.api import Constraint, Kind
from intaglio.service.errors import InvalidOutput
from intaglio.service.generation.answer_check import check_of

SCHEMA = {"type": "object", "properties": {"n": {"type": "number", "multipleOf": 0.1}}}


def test_a_valid_answer_passes_with_its_numbers_as_written() -> None:
    check = check_of(Constraint(Kind.JSON_SCHEMA, json.dumps(SCHEMA)), SCHEMA)
    assert check is not None
    check('{"n": 1.1}')


@pytest.mark.parametrize("text", ["", "{", '{"n": "1"}', '{"n": 0.15}', '{"n": 1.1} x', "[1]"])
def test_any_other_is_refused(text: str) -> None:
    check = check_of(Constraint(Kind.JSON_SCHEMA, json.dumps(SCHEMA)), SCHEMA)
    assert check is not None
    with pytest.raises(InvalidOutput):
        check(text)


def test_a_pattern_matches_the_whole_answer() -> None:
    check = check_of(Constraint(Kind.REGEX, "a|bc+"))
    assert check is not None
    check("a")
    check("bcc")
    for text in ("", "ab", "xa", "a\n", "bcca"):
        with pytest.raises(InvalidOutput):
            check(text)


def test_a_pattern_that_the_second_matcher_cannot_read_is_left_to_the_masks() -> None:
    check = check_of(Constraint(Kind.REGEX, "\\q"))
    assert check is not None
    check("a")


def test_a_grammar_has_no_second_parser() -> None:
    assert check_of(Constraint(Kind.EBNF, 'root ::= "a"')) is None
