"""EBNF in W3C's notation: the productions of XML names, numbers and comments, with exceptions."""

import pytest
from intaglio.grammar.api import Constraint, GrammarError, Kind, screen

from tests.support.texts import Fate, fate

XML = """
[1]  element  ::= EmptyElemTag | STag content ETag [ WFC: Element Type Match ]
[2]  STag ::= '<' Name (S Attribute)* S? '>'
[3]  ETag ::= '</' Name S? '>'   /* the names match in XML, which a grammar cannot say */
[4]  EmptyElemTag ::= "<" Name (S Attribute)* S? "/>"
[5]  Attribute ::= Name '=' ('"' [^<&"]* '"' | "'" [^<&']* "'")
[6]  content ::= CharData? ((element | Comment) CharData?)*
[7]  CharData ::= [^<&]* - ([^<&]* ']]>' [^<&]*)
[8]  Comment ::= '<!--' ((Char - '-') | ('-' (Char - '-')))* '-->'
[9]  Char ::= #x9 | #xA | #xD | [#x20-#xD7FF] | [#xE000-#xFFFD] | [#x10000-#x10FFFF]
[10] Name ::= NameStart (NameStart | [0-9.-])*
[10a] NameStart ::= [A-Z] | "_" | [a-z]
[11] S ::= (#x20 | #x9 | #xD | #xA)+
"""


def test_productions_of_xml() -> None:
    screened = screen(Constraint(Kind.EBNF, XML))
    for text in (
        "<a/>",
        "<a b='1' c=\"x>y\"></a >",
        "<a>t<b/>]]<!-- a-b --></a>",
        "<a>]]</a>",
        "<_a1.b-c/>",
        "<a><!----></a>",
    ):
        assert fate(screened, text) is Fate.WHOLE, text
    for text in (
        "<a>]]></a>",
        "<a><!-- -- --></a>",
        "<1/>",
        "<a b='<'/>",
        "<a>&</a>",
        "<a>",
        "<a></a>x",
    ):
        assert fate(screened, text) is not Fate.WHOLE, text


def test_the_notation_is_told_from_gbnf() -> None:
    gbnf = screen(Constraint(Kind.EBNF, 'root ::= "#" x # a comment: #x41\nx ::= [#x]'))
    assert fate(gbnf, "##") is fate(gbnf, "#x") is Fate.WHOLE
    assert fate(gbnf, "#A") is Fate.REFUSED
    w3c = screen(Constraint(Kind.EBNF, "start ::= #x41 | [#x61-#x63#x39]"))
    assert [fate(w3c, text) for text in ("A", "b", "9", "#")] == [Fate.WHOLE] * 3 + [Fate.REFUSED]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("[1] a ::= b", "the rule 'b' is not defined"),
        ("[1] a ::= 'x' [2] a ::= 'y'", "is defined twice"),
        ("[1] a ::= #xD800", "#xD800 is no character"),
        ("[1] a ::= [#x63-#x61]", "wrong order"),
        ("[1] a ::= ('x'", "a '(' without its ')'"),
        ("[1] a ::= 'x' a? - 'y' [2] b ::= a - 'x'", "an exception of a recursive rule"),
        ("/* */ 'a'", "expected the name of a rule"),
    ],
)
def test_mistakes_are_named_with_their_place(source: str, message: str) -> None:
    with pytest.raises(GrammarError) as caught:
        screen(Constraint(Kind.EBNF, source))
    assert message in str(caught.value)
    assert "char " in str(caught.value)
