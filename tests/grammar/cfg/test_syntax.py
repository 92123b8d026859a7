"""The syntax of the two dialects: accepted sources, and refusals with their places."""

import pytest
from intaglio.grammar.api import (
    Constraint,
    ConstraintTooLarge,
    GrammarError,
    InvalidConstraint,
    Kind,
    Unsatisfiable,
    UnsupportedConstraint,
    screen,
)

from tests.support.texts import Fate, fate


def language(kind: Kind, source: str, *texts: str) -> set[str]:
    """Those of the texts that are in the language."""
    screened = screen(Constraint(kind, source))
    return {text for text in texts if fate(screened, text) is Fate.WHOLE}


@pytest.mark.parametrize(
    ("source", "accepts", "rejects"),
    [
        ('root ::= "a" "b"', ["ab"], ["a", "ba"]),
        ('root::="a"|"b" # c\n|"c"', ["a", "b", "c"], ["", "d"]),
        ('root ::= "a"\n  "b"\nx ::= "c"', ["ab"], ["a", "abc"]),
        ("root ::= [a-c]{2,3}", ["ab", "abc"], ["a", "abca"]),
        ("root ::= [a-c]{2,}", ["ab", "abcabc"], ["a"]),
        ("root ::= [a-c] {2}", ["ab"], ["a", "abc"]),
        ('root ::= "a"* ("b"+ | "c"?)', ["", "a", "aabb", "c"], ["bc", "cc"]),
        ('root ::= ("a"?)* "z"', ["z", "aaz"], ["a"]),
        ("root ::= [^a-y\\n]+", ["z", "é🙂"], ["a", "\n", ""]),
        ("root ::= [-a] [a-] [\\]x]", ["-a]", "a-x"], ["bax"]),
        (r'root ::= "\x41\u00e9\U0001F600\n\t\r\"\\"', ['Aé😀\n\t\r"\\'], ["A"]),
        ('root ::= . "b"', ["ab", "éb", "\nb"], ["b", "abb"]),
        ("root ::= | | |", [""], ["a"]),
        ('a-b.c_1 ::= "x"\nroot ::= a-b.c_1', ["x"], ["a"]),
        ('root ::= root "a" | "b"', ["b", "baa"], ["a", "ab"]),
        ('root ::= x "a" | "b"\nx ::= root "c" | "d"', ["b", "bca", "da", "dacaca"], ["a", "bc"]),
        ('root ::= e root "a" | "b"\ne ::= "" | "c"', ["b", "ba", "cba", "ccbaaa"], ["a", "cb"]),
        ('root ::= a\na ::= b | "x"\nb ::= a', ["x"], ["", "xx"]),
        ('root ::= "a" | b\nb ::= "x" b', ["a"], ["x"]),
        ('root ::= "x" root | "y" b\nb ::= "z" root | ""', ["y", "xxy", "yzxy"], ["x", "yz"]),
        ('root ::= a "-" a\na ::= "(" a ")" | "x"?', ["-", "(x)-(())", "x-"], ["(-)", "(x-x)"]),
    ],
)
def test_ebnf(source: str, accepts: list[str], rejects: list[str]) -> None:
    assert language(Kind.EBNF, source, *accepts, *rejects) == set(accepts)


@pytest.mark.parametrize(
    ("source", "accepts", "rejects"),
    [
        ('start: "a" "b"', ["ab"], ["a b", "a"]),
        ('start: "a" "b"\n%ignore " "', ["ab", " a  b "], ["a", "a\tb"]),
        ('start: A "b"\nA: "x" "y"\n%ignore " "', ["xyb", "xy b"], ["x yb"]),
        ('?start: x -> y\n  | "b"\n!x.2: "a"~2', ["aa", "b"], ["a"]),
        ('start: "a"\n  // c\n\n  # d\n  | ("b"\n // c\n\n "c")', ["a", "bc"], ["b"]),
        ('start: ["a"] ("b" | "c")+ "d"?', ["b", "abcd"], ["ad", ""]),
        ('start: "a"~1..3', ["a", "aaa"], ["", "aaaa"]),
        ('start: "é".."ü" "select"i', ["éSeLeCt", "üselect"], ["eselect"]),
        (r"start: /a.c/ /[^x].*/s", ["abcd\n\n", "aéc\n"], ["a\ncd", "abcx"]),
        (r"start: /ß[a-z]/i", ["ßA", "ßz"], ["SSa", "ß1"]),
        (r"start: /[^ab]+/i", ["cC"], ["a", "cB"]),
        (r"start: /(?i:a)(?s:.)/", ["A\n", "ab"], ["B\n"]),
        (r'start: /\/\*/ "\"\\\n"', ['/*"\\\n'], ["/*"]),
        (r"start: /(?P<x>a)(?:b|c)/", ["ab", "ac"], ["a"]),
        ("start: /(?!ab)[a-c]+/ | /[0-9]+(?<=5)/", ["aa", "c", "15"], ["ab", "abc", "51"]),
        ('start: l{"x"} | l{N}\nl{i}: i ("," i)*\nN: /[0-9]/', ["x,x", "1,2"], ["x,1"]),
        (
            "start: INT NAME\n%import common.INT\n%import common.CNAME -> NAME",
            ["12a_1"],
            ["a", "1"],
        ),
        (
            "start: ESCAPED_STRING\n%import common (ESCAPED_STRING, WS)",
            ['"a\\"b"'],
            ['"a"b"', '"a'],
        ),
        ("start: NUMBER\n%import common.NUMBER", ["1", "1.5e-3", ".5"], ["-1", "e5"]),
        (
            "start: C_COMMENT\n%import common.C_COMMENT",
            ["/* a * / */", "/***/"],
            ["/* */ */", "/*/"],
        ),
        ('start: "a" // comment\n# another\n\n', ["a"], ["b"]),
        ("start: /x*/ A\nA: /a*/", ["", "xa"], ["ax"]),
        ("start: pair+\npair: A B\nA: /a+/\nB: /[ab]/", ["aa", "ab", "aabab"], ["a", "b"]),
    ],
)
def test_lark(source: str, accepts: list[str], rejects: list[str]) -> None:
    assert language(Kind.LARK, source, *accepts, *rejects) == set(accepts)


E, L = Kind.EBNF, Kind.LARK


@pytest.mark.parametrize(
    ("kind", "source", "error", "where"),
    [
        (E, "", InvalidConstraint, "char 0"),
        (E, 'x ::= "a"', InvalidConstraint, "char 0"),
        (E, 'root ::= "a', InvalidConstraint, "char 9"),
        (E, "root ::= [b-a]", InvalidConstraint, "char 9"),
        (E, "root ::= x", InvalidConstraint, "char 9"),
        (E, 'root ::= "a"\nroot ::= "b"', InvalidConstraint, "char 13"),
        (E, 'root ::= ("a"', InvalidConstraint, "char 9"),
        (E, 'root ::= "a")', InvalidConstraint, "char 12"),
        (E, 'root ::= "a"{3,2}', InvalidConstraint, "char 12"),
        (E, r'root ::= "\ud800"', InvalidConstraint, "char 10"),
        (E, "root ::= Token(3)", UnsupportedConstraint, "char 9"),
        (E, 'root ::= "a" (= "b")', UnsupportedConstraint, "char 13"),
        (E, "root ::= root", Unsatisfiable, "root"),
        (E, "root ::= []", Unsatisfiable, "root"),
        (E, 'root ::= "a"{1000000}', ConstraintTooLarge, None),
        (E, "root ::= " + "(" * 200 + '"a"' + ")" * 200, ConstraintTooLarge, None),
        (L, 'x: "a"', InvalidConstraint, "char 0"),
        (L, "start: x", InvalidConstraint, "char 7"),
        (L, 'start: "a" %', InvalidConstraint, "char 11"),
        (L, 'start: "a"~3..2', InvalidConstraint, "char 10"),
        (L, "start: X\nX: start", InvalidConstraint, "char 0"),
        (L, 'start: X\nX: "a" X | "b"', InvalidConstraint, "char 0"),
        (L, 'start: /a/x "b"', UnsupportedConstraint, "char 7"),
        (L, r"start: /(a)\1/", UnsupportedConstraint, "char 7"),
        (L, r"start: /a\b/", UnsupportedConstraint, "char 7"),
        (L, "start: X\n%declare X", UnsupportedConstraint, "char 9"),
        (L, "start: X\n%import ..etc.X", UnsupportedConstraint, "char 9"),
        (L, "start: X\n%import common.X", UnsupportedConstraint, "char 24"),
        (L, 'start: "b" ("a" | "c"', InvalidConstraint, "char 11"),
        (L, 'start: ["a")', InvalidConstraint, "char 7"),
        (L, "start: X\n%import common.", InvalidConstraint, "char 24"),
        (L, 'start: "a"~', InvalidConstraint, "char 11"),
        (L, "start{", InvalidConstraint, "char 6"),
        (L, 'start: t{"a"}\nt{x, y}: x', InvalidConstraint, "char 7"),
        (L, 'start: t{"a"}\nt{x}: x t{t{x}}', ConstraintTooLarge, None),
        (L, "start: a\na: b\nb: a", Unsatisfiable, "start"),
    ],
)
def test_refusals_say_where(
    kind: Kind, source: str, error: type[GrammarError], where: str | None
) -> None:
    with pytest.raises(GrammarError) as caught:
        screen(Constraint(kind, source))
    assert type(caught.value) is error
    assert [refusal.where for refusal in caught.value.refusals] == [where] * (where is not None)
    assert all(refusal.hint for refusal in caught.value.refusals)
