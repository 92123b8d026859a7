"""The draft of a constrained answer: the answer cut out of a free text, in the form of the constraint."""

import pytest
from intaglio.grammar.api import Constraint, Kind, Whitespace
from intaglio.service.errors import InvalidBody
from intaglio.service.extraction.draft_text import draft_tokens, require_followed

from tests.support.reading_engine import assembly


def drafted(text: str, kind: Kind = Kind.JSON_SCHEMA, form: Whitespace = Whitespace.COMPACT) -> str:
    tokens = draft_tokens(text, Constraint(kind, "{}", form), lambda written: tuple(written))
    return bytes(tokens).decode()


@pytest.mark.parametrize(
    ("text", "draft"),
    [
        ('{"a": 1}', '{"a":1}'),
        ('Here it is:\n```json\n{\n  "a": [1, 2]\n}\n```\nAnything else?', '{"a":[1,2]}'),
        ('The answer is {"a": "x  {y} \\" z", "b": []} as you see.', '{"a":"x  {y} \\" z","b":[]}'),
        ('```\n{"a": "cut of', '{"a":"cut of'),
        ('{"a": "cut \\', '{"a":"cut \\'),
        ('"a  b"', '"a  b"'),
        (" 12 ", "12"),
        ("[1] and [2]", "[1]"),
        ("", ""),
        ('{"a": "\ud800"}', '{"a":""}'),
    ],
)
def test_json_is_cut_out_and_written_compactly(text: str, draft: str) -> None:
    assert drafted(text) == draft


def test_other_constraints_keep_the_text_and_spaced_json_its_blanks() -> None:
    assert drafted(" yes, sir\n", Kind.REGEX) == "yes, sir"
    assert drafted("```\na,b\n1,2\n```", Kind.REGEX) == "a,b\n1,2"
    spaced = drafted('{"a":1,"b":[1,2]}', form=Whitespace.SPACED)
    assert spaced == '{"a": 1, "b": [1, 2]}'


def test_an_engine_that_follows_no_drafts_is_told_with_the_remedy() -> None:
    info = assembly().info
    with pytest.raises(InvalidBody, match="follows no drafts") as refused:
        require_followed(info, "options.draft")
    assert refused.value.param == "options.draft"
    assert "drafts auto" in (refused.value.hint or "")
