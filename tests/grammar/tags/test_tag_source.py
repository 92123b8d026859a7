"""The notation of structural tags is read strictly, with the place of each error."""

import json
from typing import Any

import pytest
from intaglio.grammar.api import InvalidConstraint, Whitespace
from intaglio.grammar.tags.tag_source import parse
from intaglio.grammar.tags.tag_tree import contents

TAG = {"type": "tag", "begin": "<a>", "content": {"type": "any_text"}, "end": "</a>"}


def source(form: Any) -> str:
    return json.dumps({"type": "structural_tag", "format": form})


@pytest.mark.parametrize(
    ("form", "where"),
    [
        ({"type": "what"}, "/format/type"),
        ({}, "/format/type"),
        ([], "/format"),
        ({"type": "const_string"}, "/format/value"),
        ({"type": "const_string", "value": 1}, "/format/value"),
        ({"type": "any_text", "exclude": "a"}, "/format/exclude"),
        ({"type": "any_text", "excludes": [""]}, "/format/excludes"),
        ({"type": "sequence", "elements": []}, "/format/elements"),
        ({"type": "or", "elements": [TAG, {"type": "regex"}]}, "/format/elements/1/pattern"),
        ({"type": "repeat", "content": TAG, "min": 2, "max": 1}, "/format/max"),
        ({"type": "repeat", "content": TAG, "max": 1000}, "/format/max"),
        ({"type": "repeat", "content": TAG, "min": True}, "/format/min"),
        ({"type": "triggered_tags", "triggers": ["x"], "tags": [TAG]}, "/format/tags/0/begin"),
        ({"type": "triggered_tags", "triggers": [], "tags": [TAG]}, "/format/triggers"),
        (
            {"type": "tags_with_separator", "separator": ",", "tags": [{"type": "or"}]},
            "/format/tags/0/type",
        ),
        (
            {"type": "tags_with_separator", "separator": ",", "tags": [TAG], "at_least_one": 1},
            "/format/at_least_one",
        ),
    ],
)
def test_an_error_names_its_place(form: Any, where: str) -> None:
    with pytest.raises(InvalidConstraint) as caught:
        parse(source(form))
    assert caught.value.refusals[0].where == where


@pytest.mark.parametrize("text", ["", "1", "[]", '{"format": {}}', '{"type": "structural_tag"}'])
def test_other_sources_are_invalid(text: str) -> None:
    with pytest.raises(InvalidConstraint):
        parse(text)


def test_nesting_is_bounded() -> None:
    form: Any = {"type": "any_text"}
    for _ in range(40):
        form = {"type": "sequence", "elements": [form]}
    with pytest.raises(InvalidConstraint, match="nested"):
        parse(source(form))


def test_the_older_form_is_read() -> None:
    older = {
        "type": "structural_tag",
        "structures": [{"begin": "<f>", "schema": {"type": "integer"}, "end": "</f>"}],
        "triggers": ["<"],
    }
    (content,) = contents(parse(json.dumps(older)))
    assert content.where == "/structures/0/schema"
    with pytest.raises(InvalidConstraint) as caught:
        parse(json.dumps(older | {"triggers": ["["]}))
    assert caught.value.refusals[0].where == "/structures/0/begin"


def test_a_schema_has_the_white_space_of_its_own_or_that_of_the_constraint() -> None:
    schema = {"type": "json_schema", "json_schema": {"type": "object"}}
    (content,) = contents(parse(source({**schema, "whitespace": "spaced"})))
    assert (content.whitespace, content.where) == (Whitespace.SPACED, "/format/json_schema")
    (content,) = contents(parse(source(schema)))
    assert content.whitespace is None
    for wrong in ("wide", 1):
        with pytest.raises(InvalidConstraint) as caught:
            parse(source({**schema, "whitespace": wrong}))
        assert caught.value.refusals[0].where == "/format/whitespace"
