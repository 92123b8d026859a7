"""Patterns with the syntax that Python and PCRE add to ECMA-262: against `re`, and case by case."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from intaglio.grammar.api import InvalidConstraint, UnsupportedConstraint
from intaglio.grammar.regex import search, whole_extended
from intaglio.service.extraction.ecma_patterns import matches_whole

CHARACTERS = "aAkK\u212asS\u017fßẞéÉ09_- \n"

pieces = st.sampled_from(
    ["a", "K", "s", "ß", "É", "[ak]", "[^aS]", "[0-9_]", "[A-S]", r"[^\]-]", r"\d", r"\D", r"\s", ".", "(?#a)"]
)  # fmt: skip
scoped = st.sampled_from(["(?i:k)", "(?i:[^é])", "(?s:.)", "(?-i:a|S)", "(?is:.s)", "(?P<n>A)"])
quantifiers = st.sampled_from(["", "*", "?", "{1,2}"])
heads = st.sampled_from(["", "(?i)", "(?s)", "(?is)", "(?u)"])
plain = st.lists(st.builds("(?:{}){}".format, pieces, quantifiers), min_size=1, max_size=4)
texts = st.lists(st.text(CHARACTERS, max_size=5), min_size=8, max_size=8)


def accepts(pattern: str, text: str) -> bool:
    return whole_extended(pattern).judge(map(ord, text)) == 0


@given(head=heads, parts=plain, group=scoped, texts=texts)
def test_modifiers_mean_what_they_mean_in_python(
    head: str, parts: list[str], group: str, texts: list[str]
) -> None:
    pattern = head + "".join(parts) + group
    expected = re.compile(pattern)
    found = [accepts(pattern, text) for text in texts]
    assert found == [expected.fullmatch(text) is not None for text in texts]


@given(head=heads, parts=plain, texts=texts)
def test_the_check_of_answers_agrees(head: str, parts: list[str], texts: list[str]) -> None:
    pattern = head + "".join(parts)
    found = [accepts(pattern, text) for text in texts]
    assert found == [matches_whole(pattern, text) for text in texts]


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("(?i)straße", ["STRAßE", "straẞe"], ["STRASSE"]),
        (r"(?i)\w\W", ["\u017f-", "K "], ["-s", "s\u017f"]),
        (r"(?i)[^\W_]", ["k", "\u212a"], ["_", "-"]),
        (r"\Aab\Z", ["ab"], ["ab\n"]),
        (r"(?i:a)b\z", ["Ab", "ab"], ["AB"]),
        ("(?i)a(?-i:b)c", ["AbC"], ["ABC"]),
        ("((?i:a)|b)c", ["Ac", "bc"], ["Bc", "AC"]),
        ("(?P<year>[0-9]{2})", ["24"], ["2"]),
        ("a(?#any number)b", ["ab"], ["a"]),
        (".", ["x"], ["\n", "\r", "\u2028"]),
        ("(?s).", ["\n", "\u2028"], [""]),
        ("(?s)(?-s:.)", ["x"], ["\n"]),
    ],
)
def test_syntax_of_other_dialects(pattern: str, yes: list[str], no: list[str]) -> None:
    assert [text for text in yes if not accepts(pattern, text)] == []
    assert [text for text in no if accepts(pattern, text)] == []


@pytest.mark.parametrize(
    ("pattern", "error", "where"),
    [
        ("(?m)a", UnsupportedConstraint, 0),
        ("a(?x:b)", UnsupportedConstraint, 1),
        ("a(?i)b", InvalidConstraint, 1),
        ("(?P<n>a)(?P=n)", UnsupportedConstraint, 8),
        ("(?>a)", InvalidConstraint, 0),
        ("a(?#b", InvalidConstraint, 1),
    ],
)
def test_what_is_left_out_is_refused_by_offset(
    pattern: str, error: type[Exception], where: int
) -> None:
    with pytest.raises(error) as caught:
        whole_extended(pattern)
    assert caught.value.refusals[0].where == f"char {where}"  # type: ignore[attr-defined]


@pytest.mark.parametrize("pattern", ["(?i)a", "(?i:a)", "(?P<n>a)", "(?#a)", r"\Aa"])
def test_schemas_have_none_of_it(pattern: str) -> None:
    with pytest.raises(InvalidConstraint):
        search(pattern)
