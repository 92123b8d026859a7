"""Strings, character ranges and regular expressions in Lark's syntax.

Does: turn `"text"i`, `"a".."z"`, `/pattern/is` into trees. Does not: know rules (`lark`).

Patterns are read as ECMA-262 with the u flag and the additions of `regex/parse`, except for `.`, which matches anything
but a line feed. They are matched against the terminal alone.
"""

from itertools import takewhile
from typing import Final

from ..automata import Dfa, difference, intersection, union_all
from ..contract.errors import InvalidConstraint, UnsupportedConstraint
from ..regex import charset as cs
from ..regex import regex_tree as rx
from ..regex.letter_case import in_any_case
from ..regex.modifiers import Modifiers
from ..regex.parse import parse
from ..regex.pattern import ANYTHING, compile_tree
from .grammar_tree import Text
from .scan import Token, escapes, invalid, unsupported

MOST_NODES: Final = 1 << 14
DIALECT: Final = "Lark"  # its name in errors
_ESCAPES: Final = escapes(DIALECT, "\"'\\/", "ntrfv")
_NO_LINE_FEED: Final = cs.complement(((0x0A, 0x0A),))


def literal(token: Token) -> Text:
    """A string; with the suffix `i`, in either case."""
    text, folded = (token.text[:-1], True) if token.text.endswith("i") else (token.text, False)
    chars, at = [], 1
    while at < len(text) - 1:
        point, at = _ESCAPES.read(text, at, token.at)
        charset = ((point, point),)
        chars.append(rx.Chars(in_any_case(charset) if folded else charset))
    return Text(rx.Concat(tuple(chars)))


def span(first: Token, last: Token) -> Text:
    """A range of characters.

    Raises:
        InvalidConstraint: an end is not a single character, or the ends are in the wrong order.
    """
    ends = []
    for token in (first, last):
        point, at = _ESCAPES.read(token.text, 1, token.at) if len(token.text) > 2 else (0, 0)
        if at != len(token.text) - 1:
            invalid(DIALECT, "a range goes from one character to another", token.at)
        ends.append(point)
    if ends[0] > ends[1]:
        invalid(DIALECT, "a range whose ends are in the wrong order", first.at)
    return Text(rx.Chars(((ends[0], ends[1]),)))


def regexp(token: Token) -> Text:
    """A regular expression with its flags; the tree may contain look-around.

    Raises:
        InvalidConstraint, UnsupportedConstraint: it cannot be read or enforced.
    """
    source, _, flags = token.text[1:].rpartition("/")
    unknown = set(flags) - set("isu")
    if unknown:
        flag = min(unknown)
        unsupported(
            f"flag {flag}", "it is not known here", "leave it out: i, s and u are", token.at
        )
    try:
        node = parse(source, Modifiers("i" in flags, cs.ANY if "s" in flags else _NO_LINE_FEED))
    except UnsupportedConstraint as error:
        unsupported("regular expression", error.message, "see its own hint", token.at)
    except InvalidConstraint as error:
        invalid(DIALECT, error.message, token.at)
    for part in rx.walk(node, into_looks=False):
        if isinstance(part, rx.Edge):
            reason = "a terminal does not see the text around it"
            unsupported(
                part.value,
                reason,
                "leave it out, or put the following text into the rule",
                token.at,
            )
    return Text(node)


def has_look(node: rx.Node) -> bool:
    """Whether a pattern contains look-around."""
    return any(isinstance(part, rx.Look) for part in rx.walk(node))


def compiled(node: rx.Node) -> Dfa:
    """The texts of a pattern with look-around.

    Look-aheads at the start are set operations, which are much faster than `compile_tree` with look-around.
    """
    if isinstance(node, rx.Alternation):
        return union_all(
            [compiled(part) if has_look(part) else compile_tree(part) for part in node.parts]
        )
    parts = node.parts if isinstance(node, rx.Concat) else (node,)
    looks = list(takewhile(_ahead, parts))
    rest = rx.Concat(parts[len(looks) :])
    dfa = compile_tree(rest)
    for look in looks:
        assert isinstance(look, rx.Look)
        begun = compile_tree(rx.Concat((look.part, ANYTHING)))
        dfa = difference(dfa, begun) if look.negative else intersection(dfa, begun)
    return dfa


def _ahead(node: rx.Node) -> bool:
    return isinstance(node, rx.Look) and not node.behind
