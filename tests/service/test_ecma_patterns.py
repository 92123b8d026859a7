"""In the final check patterns have the meaning of ECMA-262 and bounded run time."""

import time

import pytest
from intaglio.service.extraction.ecma_patterns import PatternTooCostly, PatternUnreadable, search

MATCHES: list[tuple[str, str]] = [
    (r"^\d+$", "019"),
    (r"^\w+$", "aZ_9"),
    (r"^\s+$", " \u00a0\ufeff\u2003"),
    (r"^[\s\d]+$", "1 2"),
    (r"^[^\W_]+$", "a1"),
    (r"^[\D]+$", "abc\u0661"),
    (r"^[\S]+$", "é"),
    (r"^.$", "\U0001f600"),
    (r"^[^]$", "\n"),
    (r"^\/$", "/"),
    (r"^\u0041\u{1F600}\uD83D\uDE00$", "A\U0001f600\U0001f600"),
    (r"^\cJ$", "\n"),
    (r"^\0$", "\0"),
    (r"^[\b]$", "\b"),
    (r"\bfoo\b", "a foo b"),
    (r"^(?<y>a)\k<y>$", "aa"),
    (r"^(a)\1$", "aa"),
    (r"^\p{Lu}\P{Lu}$", "Éé"),
    (r"^[a&&b]+$", "a&b"),
    (r"^[a-c--e]+$", "b-"),
    (r"^[[]$", "["),
    (r"^(?=a)(?!b)(?<=^)a{1,3}?$", "aa"),
    (r"a$", "b\na"),
    (r"^\x41$", "A"),
    (r"^[A-Z]{2}\-\.$", "AB-."),
]

MISSES: list[tuple[str, str]] = [
    (r"^\d+$", "\u0661"),
    (r"^\d+$", "1\n"),
    (r"^\w+$", "é"),
    (r"^.$", "\n"),
    (r"^.$", "\u2028"),
    (r"^\s$", "\u0085"),
    (r"^\s$", "\x1c"),
    (r"[]", "anything"),
    (r"^[\D]+$", "1"),
    (r"^[\S]+$", "\u00a0"),
    (r"^[\W]+$", "_"),
    (r"\bfoo\b", "éfoo1"),
    (r"^a$", "b\na"),
    (r"\Bfoo", "foo"),
]


@pytest.mark.parametrize(("pattern", "text"), MATCHES)
def test_it_matches(pattern: str, text: str) -> None:
    assert search(pattern, text)


@pytest.mark.parametrize(("pattern", "text"), MISSES)
def test_it_does_not_match(pattern: str, text: str) -> None:
    assert not search(pattern, text)


@pytest.mark.parametrize("pattern", ["(", "[", r"\Z", r"\A", r"\u{110000}", r"\uZZZZ", "a{2,1}"])
def test_what_is_no_pattern_is_told_apart(pattern: str) -> None:
    with pytest.raises(PatternUnreadable):
        search(pattern, "a")


def test_a_search_that_runs_away_is_stopped() -> None:
    began = time.monotonic()
    with pytest.raises(PatternTooCostly):
        search(r"^((a?){40}){40}(x+x+)+y$", "a" * 400 + "x" * 400)
    assert time.monotonic() - began < 30
