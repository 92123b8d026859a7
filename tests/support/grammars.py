"""Typical handwritten grammars, with accepted texts, refused texts, and mere beginnings."""

import random
from dataclasses import dataclass

from intaglio.grammar.api import Constraint, Kind


@dataclass(frozen=True)
class Sample:
    """One grammar. `native`: whether one byte of look-ahead decides everywhere."""

    constraint: Constraint
    accepts: tuple[str, ...]
    rejects: tuple[str, ...]
    incomplete: tuple[str, ...]
    native: bool = True


def _ebnf(source: str) -> Constraint:
    return Constraint(Kind.EBNF, source)


def _lark(source: str) -> Constraint:
    return Constraint(Kind.LARK, source)


JSON_EBNF = r"""
root   ::= object
value  ::= object | array | string | number | ("true" | "false" | "null") ws
object ::= "{" ws ( string ":" ws value ("," ws string ":" ws value)* )? "}" ws
array  ::= "[" ws ( value ("," ws value)* )? "]" ws
string ::= "\"" ( [^"\\\x7F\x00-\x1F] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F]{4}) )* "\"" ws
number ::= ("-"? ([0-9] | [1-9] [0-9]{0,15})) ("." [0-9]+)? ([eE] [-+]? [0-9]{1,3})? ws
ws     ::= | " " | "\n" [ \t]{0,20}
"""
ARITHMETIC_EBNF = r"""
root  ::= (expr "=" ws term "\n")+
expr  ::= term ([-+*/] ws term)*
term  ::= ident | num | "(" ws expr ")" ws
ident ::= [a-z] [a-z0-9_]* ws
num   ::= [0-9]+ ws
ws    ::= [ \t\n]*
"""
C_EBNF = r"""
root        ::= declaration*
declaration ::= type name "(" (type name ("," ws type name)*)? ")" ws "{" ws statement* "}" ws
type        ::= ("int" | "float" | "char") sp
statement   ::= type name "=" ws expression ";" ws
              | name "=" ws expression ";" ws
              | name "(" ws arguments? ")" ws ";" ws
              | "return" sp expression ";" ws
              | "while" ws "(" ws condition ")" ws "{" ws statement* "}" ws
              | "if" ws "(" ws condition ")" ws "{" ws statement* "}" ws ("else" ws "{" ws statement* "}" ws)?
condition   ::= expression ("<=" | "<" | "==" | "!=" | ">=" | ">") ws expression
expression  ::= term ([-+] ws term)*
term        ::= factor ([*/] ws factor)*
factor      ::= name | number | "-" factor | name "(" ws arguments? ")" ws | "(" ws expression ")" ws
arguments   ::= expression ("," ws expression)*
name        ::= [a-zA-Z_] [a-zA-Z_0-9]* ws
number      ::= [0-9]+ ws
sp          ::= [ \t\n]+
ws          ::= [ \t\n]*
"""
LIST_EBNF = 'root ::= item+\nitem ::= "- " [^\\r\\n\\x0b\\x0c\\x85\\u2028\\u2029]+ "\\n"'
CHESS_EBNF = r"""
root     ::= "1. " move " " move "\n" ([1-9] [0-9]? ". " move " " move "\n")+
move     ::= (pawn | nonpawn | castle) [+#]?
nonpawn  ::= [NBKQR] [a-h]? [1-8]? "x"? [a-h] [1-8]
pawn     ::= ([a-h] "x")? [a-h] [1-8] ("=" [NBKQR])?
castle   ::= "O-O" "-O"?
"""
PALINDROME_EBNF = 'root ::= [ab] | "a" root "a" | "b" root "b" | ""'
JSON_LARK = r"""
?start: value
?value: object | array | string | SIGNED_NUMBER -> number | "true" -> true | "false" -> false | "null" -> null
array: "[" [value ("," value)*] "]"
object: "{" [pair ("," pair)*] "}"
pair: string ":" value
string: ESCAPED_STRING
%import common.ESCAPED_STRING
%import common.SIGNED_NUMBER
%import common.WS
%ignore WS
"""
CALCULATOR_LARK = r"""
?start: sum | NAME "=" sum -> assign_var
?sum: product | sum "+" product -> add | sum "-" product -> sub
?product: atom | product "*" atom -> mul | product "/" atom -> div
?atom: NUMBER -> number | "-" atom -> neg | NAME -> var | "(" sum ")"
%import common.CNAME -> NAME
%import common.NUMBER
%import common.WS_INLINE
%ignore WS_INLINE
"""
LISP_LARK = r"""
start: form+
form: atom | "(" form* ")" | "'" form
atom: SYMBOL | INT | ESCAPED_STRING
SYMBOL: /[a-z+*\/<>=!?-][a-z0-9+*\/<>=!?-]*/
%import common (INT, ESCAPED_STRING, WS)
%ignore WS
%ignore /;[^\n]*\n/
"""
TURTLE_LARK = r"""
start: instruction+
instruction: MOVEMENT NUMBER            -> movement
           | "c" COLOR [COLOR]          -> change_color
           | "fill" code_block          -> fill
           | "repeat" NUMBER code_block -> repeat
code_block: "{" instruction+ "}"
MOVEMENT: "f" | "b" | "l" | "r"
COLOR: LETTER+
%import common.LETTER
%import common.INT -> NUMBER
%import common.WS
%ignore WS
"""
QUERY_LARK = r"""
start: "query"i NAME? selection
selection: "{" field+ "}"
field: [NAME ":"] NAME [arguments] [selection]
arguments: "(" _list{argument} ")"
argument: NAME ":" value
value: "$" NAME | INT | ESCAPED_STRING | "true" | "false" | "[" [_list{value}] "]"
_list{x}: x ("," x)*
NAME: /[_a-z][_0-9a-z]*/i
%import common (INT, ESCAPED_STRING, WS)
%ignore WS
"""
TAG_LARK = r"""
start: element
element: "<" NAME attribute* "/>" | "<" NAME attribute* ">" (element | TEXT)* "</" NAME ">"
attribute: NAME "=" ESCAPED_STRING
NAME: /[a-z]+/
TEXT: /[^<>&]+/
WS: / +/
%import common.ESCAPED_STRING
"""
MODERN_LARK = r"""
start: (setting NL)*
setting: key "=" value
key: /[a-z]+/ ("." /[a-z]+/)*
value: "[" [value ("," value)*] "]" | /"[^"\n]*"/ | /[0-9]{1,9}/ | "true" | "false"
NL: "\n"
%ignore " "
"""

SAMPLES = {
    "json in EBNF": Sample(
        _ebnf(JSON_EBNF),
        ("{}", '{"a": [1, -2.5e3, "x\\n", {}], "b": null}', '{"":\n\t[]}'),
        ("[]", '{"a"}', "{'a': 1}", '{"a": 01}', '{"a": 1,}'),
        ("{", '{"a": [1', '{"a": "b\\'),
    ),
    "arithmetic in EBNF": Sample(
        _ebnf(ARITHMETIC_EBNF),
        ("1=1\n", "a + (b*3) = x\n", "1=1\n2=2\n"),
        ("1+=1\n", "(1=1\n", "A=1\n"),
        ("1=1", "", "(a"),
    ),
    "a small C in EBNF": Sample(
        _ebnf(C_EBNF),
        ("", "int f(int a, char b) { return a; }", "int f() { while (a<=1) { x = f(x, -2)*(3+y); } intx = 1; g(); }"),
        ("int f( { }", "int f() { return ; }", "intf() {}", "int f() { if (a) { } }"),
        ("int f() { x", "int f() {"),
    ),
    "a list in EBNF": Sample(
        _ebnf(LIST_EBNF), ("- a\n", "- é\n- b c\n"), ("a\n", "- \n", "- a\n\n"), ("- a", "- a\n- b")
    ),
    "chess in EBNF": Sample(
        _ebnf(CHESS_EBNF),
        ("1. e4 e5\n2. Nf3 Nc6\n", "1. exd5 O-O-O+\n12. Nbd2 a8=Q#\n"),
        ("1. e9 e5\n", "2. e4 e5\n"),
        ("1. e4 e5\n", "1. "),
    ),
    "palindromes in EBNF": Sample(
        _ebnf(PALINDROME_EBNF), ("", "a", "aba", "abba"), ("c", "abc"), ("ab", "abb"), native=False,
    ),
    "json in Lark": Sample(
        _lark(JSON_LARK),
        ("1", ' { "a" : [ 1 , -2.5e3 , "x" , { } ] , "b":null } ', "[[],[]]"),
        ("{'a': 1}", "[1,]", "tru e", "nul l"),
        ("", "[", '{"a"', '"\\'),
    ),
    "a calculator in Lark": Sample(
        _lark(CALCULATOR_LARK),
        ("1", "x = 1 + 2*(3 - -y)/4.5e1", "a", "(((1)))"),
        ("1+*", "x = = 1", "1 = x", "(1))"),
        ("1+", "x =", "(1"),
    ),
    "lisp in Lark": Sample(
        _lark(LISP_LARK),
        ("(+ 1 2)", "'(a b) ; two (\n (f \"x\" ())", "a"),
        (")", "(a))", "A"),
        ("(", "(a (b)", '"x'),
    ),
    "turtle in Lark": Sample(
        _lark(TURTLE_LARK),
        ("c red yellow fill { repeat 36 { f200 l170 } }", "f 1", "cred"),
        ("fill { }", "repeat { f1 }", "x 1"),
        ("f", "fill {", "c red fill {"),
    ),
    "a query language in Lark": Sample(
        _lark(QUERY_LARK),
        ('query Q { a: user(id: 4, tags: ["x", []]) { name } other }', "QUERY{a}"),
        ("query {}", "query { a( ) }", "query { a: }"),
        ("query Q", "query { a", "query { a(b: "),
    ),
    "tags in Lark": Sample(
        _lark(TAG_LARK),
        ("<a/>", "<a>text<b/>more</a>", '<ax="1">x</b>'),
        ("a", "<a>&</a>"),
        ("<a", "<a><b></a>", "<a>text"),
    ),
    "settings in Lark": Sample(
        _lark(MODERN_LARK),
        ("", 'a.b = [1, "x", [true]]\n', "x=1\ny = 2\n"),
        ("a\n", "a = [1 2]\n", "= 1\n"),
        ("a", "a = [1", "a=1"),
    ),
}  # fmt: skip

_ATOMS = ('"a"', '"b"', '"ab"', "A", "B", "/b+a/", '"c"i')
_TERMINALS = 'A: /a+/\nB: "b" | "ba"\nX: /x/\n'


def _part(draw: random.Random, rules: list[str], depth: int) -> str:
    if depth == 0 or draw.random() < 0.4:
        return draw.choice(_ATOMS) if draw.random() < 0.6 else draw.choice(rules)
    inner = [_part(draw, rules, depth - 1) for _ in range(draw.randint(1, 3))]
    if draw.random() < 0.4:
        return "(" + " | ".join(inner) + ")" + draw.choice(("", "?", "*", "+", "~1..2"))
    return "(" + " ".join(inner) + ")" + draw.choice(("", "?", "*"))


def random_lark(draw: random.Random) -> str:
    """A small grammar in Lark syntax whose rules and terminals overlap in many ways; its start rule has a text."""
    rules = ["start", "p", "q"][: draw.randint(1, 3)]
    lines = []
    for rule in rules:
        branches = [_part(draw, rules, 2) for _ in range(draw.randint(1, 3))]
        lines.append(f"{rule}: {' | '.join([*branches, draw.choice(_ATOMS)])}")
    ignored = "%ignore X\n" if draw.random() < 0.4 else ""
    return "\n".join(lines) + "\n" + _TERMINALS + ignored
