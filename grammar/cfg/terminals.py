"""Strings, character ranges and regular expressions in Lark's syntax.

Does: turn `"text"i`, `"a".."z"`, `/pattern/is` into trees; case folding. Does not: know rules (`lark`).

Patterns are read as ECMA-262 with the u flag, as everywhere in this package, except for `.`, which matches anything but
a line feed, and `(?P<name>...)`. They are matched against the terminal alone.
"""

from bisect import bisect_right
from collections.abc import Mapping
from functools import cache
from itertools import takewhile
from typing import Final

from ..automata import Dfa, difference, intersection, union_all
from ..contract.errors import InvalidConstraint, UnsupportedConstraint
from ..regex import charset as cs
from ..regex import regex_tree as rx
from ..regex.parse import parse
from ..regex.pattern import ANYTHING, compile_tree
from .grammar_tree import Text
from .scan import Token, escapes, invalid, unsupported

MOST_NODES: Final = 1 << 14
DIALECT: Final = "Lark"  # its name in errors
_ESCAPES: Final = escapes(DIALECT, "\"'\\/", "ntrfv")
_LAST_CASED: Final = 0x1E943  # no later letter has another case


def literal(token: Token) -> Text:
    """A string; with the suffix `i`, in either case."""
    text, folded = (token.text[:-1], True) if token.text.endswith("i") else (token.text, False)
    chars, at = [], 1
    while at < len(text) - 1:
        point, at = _ESCAPES.read(text, at, token.at)
        charset = ((point, point),)
        chars.append(rx.Chars(_folded(charset) if folded else charset))
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
        node = parse(_translated(source, everything="s" in flags))
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
    return Text(_in_either_case(node) if "i" in flags else node)


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


def _translated(source: str, *, everything: bool) -> str:
    """The pattern with its dots and named groups in ECMA-262 syntax."""
    pieces, at, inside = [], 0, False
    while at < len(source):
        size = 2 if source[at] == "\\" else 1
        piece = source[at : at + size]
        if inside:
            inside = piece != "]"
        elif piece == "[":
            inside = True
        elif piece == ".":
            piece = "[^]" if everything else r"[^\n]"
        elif source.startswith("(?P<", at):
            size, piece = 4, "(?<"
        pieces.append(piece)
        at += size
    return "".join(pieces)


def _in_either_case(node: rx.Node) -> rx.Node:
    match node:
        case rx.Chars(charset):
            return rx.Chars(_folded(charset))
        case rx.Concat(parts):
            return rx.Concat(tuple(map(_in_either_case, parts)))
        case rx.Alternation(parts):
            return rx.Alternation(tuple(map(_in_either_case, parts)))
        case rx.Repetition(part, low, high):
            return rx.Repetition(_in_either_case(part), low, high)
        case rx.Look(part, behind, negative, offset):
            return rx.Look(_in_either_case(part), behind, negative, offset)
        case _:
            return node


def _folded(charset: cs.Charset) -> cs.Charset:
    """The set with the other case of each letter added."""
    lows = [low for low, _ in charset]
    added = []
    for point, others in _other_cases().items():
        place = bisect_right(lows, point) - 1
        if place >= 0 and point <= charset[place][1]:
            added += [(other, other) for other in others]
    return cs.of([*charset, *added])


@cache
def _other_cases() -> Mapping[int, tuple[int, ...]]:
    """For each letter, the single letters that differ from it in case only."""
    found: dict[int, set[int]] = {}
    for point in range(_LAST_CASED + 1):
        letter = chr(point)
        for other in (letter.lower(), letter.upper()):
            if len(other) == 1 and other != letter:
                found.setdefault(point, set()).add(ord(other))
                found.setdefault(ord(other), set()).add(point)
    return {point: tuple(sorted(others)) for point, others in found.items()}
