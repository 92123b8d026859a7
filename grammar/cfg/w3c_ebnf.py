"""Parser of EBNF in the notation of W3C's recommendations: `[1] document ::= prolog element Misc*`.

Does: turn text into a tree, with exceptions (`A - B`) as automata; the first rule is the start. Does not: read GBNF
(`ebnf`), or check the constraints that recommendations state in words (`[ WFC: ... ]`, which are skipped).
"""

import re
from typing import Final

from ..automata import difference
from ..contract.errors import ConstraintTooLarge
from ..regex import charset as cs
from ..regex import regex_tree as rx
from . import grammar_tree as tree
from .bnf_parser import BnfParser
from .grammar_tree import Either, Fixed, Grammar, Part, Ref, Repeat, Sequence, Text
from .scan import QUANTIFIERS, Token, invalid, unsupported
from .terminals import MOST_NODES, compiled

_DIALECT: Final = "W3C EBNF"
_TOKEN: Final = re.compile(
    r"""(?P<skip>[ \t\r\n]+|/\*(?:[^*]|\*(?!/))*\*/|\[\s*(?:[A-Za-z]+\s*:[^\]]*|[0-9]+[a-z]?\s*)\])
    |(?P<name>[A-Za-z_][A-Za-z0-9_.\-]*)
    |(?P<string>"[^"\r\n]*"|'[^'\r\n]*')
    |(?P<code>\#x[0-9A-Fa-f]{1,6})
    |(?P<set>\[(?:[^\]\r\n]|\](?=-|\#))*\])
    |(?P<is>::=)
    |(?P<mark>[|()*+?-])""",
    re.VERBOSE,
)
_NUMBERED: Final = re.compile(r"^\s*\[[0-9]+[a-z]?\]\s*[\w.\-]+\s*::=", re.MULTILINE)
_CODE: Final = re.compile(r"(?:^|[\s(|\[-])#x[0-9A-Fa-f]")
_ROOT: Final = re.compile(r"^\s*root\s*::=", re.MULTILINE)
_DEEPEST: Final = 200


def is_w3c(source: str) -> bool:
    """Whether a source is in this notation and not in GBNF: no rule `root`, but numbers of rules, codes or comments."""
    return not _ROOT.search(source) and bool(
        _NUMBERED.search(source) or _CODE.search(source) or "/*" in source
    )


def parse(source: str) -> Grammar:
    """The grammar of a source; its start rule is the first.

    Raises:
        InvalidConstraint: not a grammar, with the offset.
        UnsupportedConstraint: an exception of a recursive rule.
        ConstraintTooLarge: too many rules, nested too deep, or an exception that is too large.
    """
    return _Parser(source).run()


class _Parser(BnfParser):
    def __init__(self, source: str) -> None:
        super().__init__(source, _TOKEN, _DIALECT)
        self.exceptions: dict[str, tuple[Part, Part, int]] = {}  # by the name of a rule of its own

    def run(self) -> Grammar:
        rules = self.rules()
        patterns = _Patterns(rules, self.exceptions)
        made = {name: patterns.exception(name) for name in self.exceptions}
        return Grammar({**rules, **made}, next(iter(rules)))

    def term(self) -> Part:
        part = self._repeated(self._atom())
        if self.scan.here.text != "-":
            return part
        at = self.scan.take().at
        name = f"exception {len(self.exceptions)}"
        self.exceptions[name] = part, self._repeated(self._atom()), at
        return Ref(name)

    def _atom(self) -> Part:
        token = self.scan.take()
        match token.kind:
            case "name":
                self.named.append(token)
                return Ref(token.text)
            case "string":
                return tree.literal(token.text[1:-1])
            case "code":
                point = _point(token.text, token.at)
                return Text(rx.Chars(((point, point),)))
            case "set":
                return Text(rx.Chars(_set(token)))
        if token.text != "(":
            invalid(_DIALECT, f"{token.text!r} has no place here", token.at)
        return self.scan.group(token, ")", self.alternatives)

    def _repeated(self, part: Part) -> Part:
        while self.scan.here.kind == "mark" and self.scan.here.text in QUANTIFIERS:
            part = Repeat(part, *QUANTIFIERS[self.scan.take().text])
        return part


class _Patterns:
    """Turns parts without recursion into patterns, for exceptions."""

    def __init__(
        self, rules: dict[str, Part], exceptions: dict[str, tuple[Part, Part, int]]
    ) -> None:
        self._rules = rules
        self._exceptions = exceptions
        self._left = MOST_NODES

    def exception(self, name: str, depth: int = 0) -> Text | Fixed:
        """The texts of one part that are not texts of another."""
        part, other, at = self._exceptions[name]
        sides = self._pattern(part, at, depth + 1), self._pattern(other, at, depth + 1)
        if isinstance(sides[0], rx.Chars) and isinstance(sides[1], rx.Chars):
            return Text(_without(sides[0], sides[1]))
        return Fixed(difference(compiled(sides[0]), compiled(sides[1])))

    def _pattern(self, part: Part, at: int, depth: int) -> rx.Node:
        self._left -= 1
        if self._left < 0:
            raise ConstraintTooLarge("an exception of this grammar is too large")
        if depth > _DEEPEST:
            hint = "exclude from a rule that does not refer to itself"
            unsupported("-", "an exception of a recursive rule", hint, at)
        match part:
            case Text(pattern):
                return pattern
            case Ref(name) if name in self._exceptions:
                made = self.exception(name, depth)
                if not isinstance(made, Text):
                    hint = "write the difference as a set of characters"
                    unsupported("-", "an exception within an exception", hint, at)
                return made.tree
            case Ref(name):
                return self._pattern(self._rules[name], at, depth + 1)
            case Sequence(parts):
                return rx.Concat(tuple(self._pattern(p, at, depth + 1) for p in parts))
            case Either(parts):
                return rx.Alternation(tuple(self._pattern(p, at, depth + 1) for p in parts))
            case Repeat(inner, low, high):
                return rx.Repetition(self._pattern(inner, at, depth + 1), low, high)
            case _:
                raise TypeError("automata have no pattern")


def _without(left: rx.Chars, right: rx.Chars) -> rx.Chars:
    return rx.Chars(cs.complement(cs.of([*cs.complement(left.charset), *right.charset])))


def _point(text: str, at: int) -> int:
    point = int(text[2:], 16)
    if point > 0x10FFFF or 0xD800 <= point < 0xE000:
        invalid(_DIALECT, f"{text} is no character", at)
    return point


def _set(token: Token) -> cs.Charset:
    text, at = token.text[:-1], 1
    negative = text[1:2] == "^"
    at += negative
    ranges = []
    while at < len(text):
        low, at = _member(text, at, token.at)
        high = low
        if text[at : at + 1] == "-" and at + 1 < len(text):
            high, at = _member(text, at + 1, token.at)
            if high < low:
                invalid(_DIALECT, "a range whose ends are in the wrong order", token.at)
        ranges.append((low, high))
    charset = cs.of(ranges)
    return cs.complement(charset) if negative else charset


def _member(text: str, at: int, offset: int) -> tuple[int, int]:
    """(the code point of a character or code, the index after it)."""
    found = re.compile(r"#x[0-9A-Fa-f]{1,6}").match(text, at)
    if found is None:
        return ord(text[at]), at + 1
    return _point(found[0], offset), found.end()
