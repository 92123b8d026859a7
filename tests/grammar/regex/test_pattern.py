"""Patterns: against Python's `re` where the dialects agree, and case by case where they do not."""

import re
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from intaglio.grammar.api import ConstraintTooLarge, InvalidConstraint, UnsupportedConstraint
from intaglio.grammar.automata import AutomatonLimits, complement
from intaglio.grammar.regex import search, whole


def found(pattern: str, text: str) -> bool:
    return search(pattern).judge(map(ord, text)) == 0


atoms = st.sampled_from(
    [
        "a",
        "b",
        "-",
        ".",
        "[ab]",
        "[^a]",
        r"\d",
        r"\w",
        r"\W",
        r"\s",
        "^",
        "$",
        r"\b",
        r"\B",
        "",
        r"\x61",
        "é",
        "[a-c1]",
    ]
)


def repeated(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    quantifier = st.sampled_from(["*", "+", "?", "{2}", "{1,3}", "{0,2}", "{2,}", "*?", "+?", "??"])
    return st.builds("(?:{}){}".format, inner, quantifier)


plain = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.builds("{}{}".format, inner, inner),
        st.builds("(?:{}|{})".format, inner, inner),
        repeated(inner),
        st.builds("({})".format, inner),
    ),
    max_leaves=6,
)
looking = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.builds("{}{}".format, inner, inner),
        st.builds("(?:{}|{})".format, inner, inner),
        repeated(inner),
        st.builds("(?={}){}".format, inner, inner),
        st.builds("(?!{}){}".format, inner, inner),
        st.builds("{}(?<=[ab1]){}".format, inner, inner),
        st.builds("{}(?<!^a){}".format, inner, inner),
    ),
    max_leaves=6,
)
texts = st.text(alphabet="abc1- \né_", max_size=7)


def same_as_re(pattern: str, text: str) -> None:
    # `$` of Python also stands before a last line feed, and its `\B` not in the empty text.
    theirs = pattern.replace("$", r"\Z").replace(r"\B", r"(?!\b)")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compiled = re.compile(theirs, re.ASCII)
    assert found(pattern, text) == (compiled.search(text) is not None)
    assert (whole(pattern).judge(map(ord, text)) == 0) == (compiled.fullmatch(text) is not None)


@settings(deadline=None, max_examples=150)
@given(plain, st.lists(texts, min_size=1, max_size=10))
def test_same_as_re(pattern: str, samples: list[str]) -> None:
    for text in samples:
        same_as_re(pattern, text)


@settings(deadline=None, max_examples=100)
@given(looking, st.lists(texts, min_size=1, max_size=10))
def test_lookaround_same_as_re(pattern: str, samples: list[str]) -> None:
    try:
        search(pattern)
    except UnsupportedConstraint:
        return  # a look-behind inside a look-around: said so, see below
    for text in samples:
        same_as_re(pattern, text)


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        (r"b", ["abc", "b"], ["ac", ""]),
        (r"^(?:(?=a))*b", ["b"], ["ab"]),
        (r"^(?:(?=a))+a", ["a"], ["ba"]),
        (r"^b", ["bc"], ["abc"]),
        (r"", ["", "x"], []),
        (r"^\S(|(.|\n)*\S)$", ["a b", "x"], [" a", "a "]),
        (r"^\cC$", ["\x03"], [r"\cC", "C"]),
        (r"^\d+$", ["09"], ["\u07c0", "\u0663"]),
        (r"^\w$", ["_", "a"], ["é", "-"]),
        (r"^\s$", ["\ufeff", "\u2029", "\u2003", "\v", "\xa0"], ["\u180e", "\x01", "\x85"]),
        (r"^\p{Letter}cole$", ["École", "école", "Ecole"], ["1cole"]),
        (r"^\p{digit}+$", ["42", "\u09ea\u09e8"], ["-%#"]),
        (r"^\P{L}$", ["1"], ["a"]),
        (r"^\p{gc=Lu}\p{Lowercase}\p{ASCII}$", ["Aß1"], ["aß1"]),
        (r"^🐲*$", ["", "🐲🐲"], ["🐉"]),
        (r"^\uD83D\uDC32$", ["🐲"], ["🐉"]),
        (r"^\u{1F432}[\u{1F400}-\u{1F4FF}]$", ["🐲🐉"], ["🐲"]),
        (r"^[\w-\.]+$", ["a-b.c"], ["a+b"]),
        (r"^[^\W\d]$", ["_", "x"], ["1", "-"]),
        (r"^[]$", [], ["", "a"]),
        (r"^[^]$", ["\n", "é"], ["", "ab"]),
        (r"^[^\uD800-\uDFFF]$", ["é", "🐲"], ["", "ab"]),
        (r"^([\uD800-\uDBFF][\uDC00-\uDFFF]|a)$", ["a"], ["", "🐲"]),
        (r"^.$", ["é", "🐲"], ["\n", "\r", "\u2028"]),
        (r"a{,3}", ["a{,3}"], ["aaa"]),
        ("^a{" + "0" * 99 + "2,}$", ["aa", "aaa"], ["a"]),
        (r"^(?<year>\d{4})-(?<month>\d\d)$", ["2024-02"], ["24-02"]),
        (r"^(?=.*\d)(?=.*[a-z]).{4,8}$", ["abc1", "1aaaaaaa"], ["abcd", "1234", "ab1"]),
        (r"^(?!.*(?:admin|root))\w+$", ["user"], ["xrooty", "admin"]),
        (r"^((?!ab).)*$", ["ba", "aab"[:2]], ["cabc"]),
        (r"^(?!$).*$", ["x"], [""]),
        (r"(?<=\$)\d+", ["$5"], ["5"]),
        (r"(?<!-)\b5", ["5", " 5"], ["-5", "15"]),
    ],
)
def test_dialect(pattern: str, yes: list[str], no: list[str]) -> None:
    assert [t for t in yes if not found(pattern, t)] == []
    assert [t for t in no if found(pattern, t)] == []


@pytest.mark.parametrize(
    ("pattern", "where"),
    [
        ("(", 0), ("a)", 1), ("[a", 0), ("*a", 0), ("a**", 2), ("a{2}{3}", 4), (r"\Z", 0), (r"\a", 0), (r"x\u12", 1),
        (r"\u{110000}", 0), ("a{3,2}", 6), ("[z-a]", 4), ("(?i)a", 0), ("(?P<n>a)", 0), (r"\p", 0), ("a++", 2),
        ("(?<n>a)(?<n>b)", 7), ("{2}", 0), ("(?#x)", 0), ("\\", 0),
    ],
)  # fmt: skip
def test_what_is_not_a_pattern_is_refused_with_its_offset(pattern: str, where: int) -> None:
    with pytest.raises(InvalidConstraint) as caught:
        search(pattern)
    assert caught.value.refusals[0].where == f"char {where}"


@pytest.mark.parametrize(
    ("pattern", "where"),
    [
        (r"(a)\1", 3),
        (r"(?<n>a)\k<n>", 7),
        (r"\p{Script=Greek}", 0),
        (r"x(?<=a$)", 1),
        (r"(?=a(?<=b))", 0),
        (r"a\uD800", 1),
        (r"a|\u{DFFF}", 2),
        ("\ud800", 0),
        (r"\p{Cs}", 0),
    ],
)
def test_what_cannot_be_enforced_is_refused_with_its_offset(pattern: str, where: int) -> None:
    with pytest.raises(UnsupportedConstraint) as caught:
        search(pattern)
    assert caught.value.refusals[0].where == f"char {where}"
    assert caught.value.refusals[0].hint


def test_equal_languages_compile_to_equal_automata() -> None:
    assert search("^(ab|ac)$").fingerprint == search("^a[bc]$").fingerprint
    assert search("^a*?$").fingerprint == search("^(?:a|aa)*$").fingerprint
    assert (
        search("^(?!a$).*$").fingerprint
        == search("^(?:(?:[^a]|a.).*|)$".replace("[^a]", r"[^a\n\r\u2028\u2029]")).fingerprint
    )
    assert search("^[^]*$").fingerprint == complement(search(r"^[]$")).fingerprint


LEADING = (
    "(?!ab|c$)",
    "(?=a|b)(?!.*cc)",
    "(?=.{2,4}$)",
    "(?!)",
    "(?=)",
    "(?=^a)",
    "(?!a*$)(?!a*$)",
)


@pytest.mark.parametrize("looks", LEADING)
@pytest.mark.parametrize("rest", ["[a-c]+$", "a*(b|c)", ".", ""])
def test_look_aheads_at_the_start_are_those_of_any_place(looks: str, rest: str) -> None:
    """They are compiled in another way, unless others follow: the last one here is always true."""
    assert search(f"^{looks}{rest}").fingerprint == search(f"^{looks}{rest}(?!(?!))").fingerprint
    assert whole(f"{looks}{rest}").fingerprint == whole(f"{looks}{rest}(?!(?!))").fingerprint


def test_look_aheads_at_the_start_bound_what_follows() -> None:
    pattern = "^(?=.{3,9}$)(?:(a|b)*a(a|b){13}|c+)$"  # without the bound, 2^14 states
    assert [found(pattern, "c" * length) for length in (2, 3, 9, 10)] == [False, True, True, False]


def test_equal_parts_of_a_pattern_are_made_once() -> None:
    """Else each of these takes minutes."""
    assert found("(?=a)" * 9000, "ba")
    assert found("(?:(?=a)|(?=b)c)" * 4000, "ba")
    assert found("(?=" + r"(?=\b" * 60 + "a" + ")" * 61, "x a")
    assert found(r"^\p{Lowercase}" + r"\p{Lowercase}\P{Lu}" * 1000 + "$", "a" * 2001)
    assert found("^[" + r"\p{L}" * 12_000 + "]$", "a")


@pytest.mark.parametrize(
    "pattern",
    [
        "".join(f"(?={chr(0x4E00 + i)})" for i in range(9000)),
        "".join(f"(?=.{{{i}}}a)" for i in range(1000)),
        "".join(chr(0x4E00 + i) for i in range(20_000)),
        "(?:" + "|".join(f"[^{chr(0x4E00 + 2 * i)}]" for i in range(10_000)) + ")",
        r"(?<!x)(?:(?:ab).{4,8}){6}",
        "(?=.*a.{5}b)(?=.*c.{5}d)(?!.*e.{6}f).{1,400}",
        "a{" + "9" * 5000 + "}",
    ],
)
def test_the_work_on_one_pattern_is_bounded(pattern: str) -> None:
    with pytest.raises(ConstraintTooLarge):
        search(pattern, AutomatonLimits(states=1 << 14))


def test_limits() -> None:
    with pytest.raises(ConstraintTooLarge):
        search("^[ab]*a[ab]{30}$", AutomatonLimits(states=10_000))
    with pytest.raises(ConstraintTooLarge):
        search("(" * 60_000 + ")" * 60_000)
    with pytest.raises(ConstraintTooLarge):
        search("(((a{1,1000}){1,1000}){1,1000})")
    with pytest.raises(ConstraintTooLarge):
        search("(?:(?:" * 150 + "a" + "b)*c)*" * 150)
    assert search("^(?:a?){1500}$").judge(map(ord, "a" * 1500)) == 0
    assert search("^" + "|".join(f"w{i}" for i in range(5000)) + "$").judge(map(ord, "w4999")) == 0
