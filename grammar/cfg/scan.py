"""Tokens, groups, escapes and errors with offsets: the lexical part that both grammar parsers share.

Does: cut a source into tokens by a table of patterns, step through them, decode escapes. Does not: know a dialect's
syntax.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, NoReturn

from ..contract.errors import ConstraintTooLarge, InvalidConstraint, Refusal, UnsupportedConstraint
from .grammar_tree import Part

MOST_RULES: Final = 4096
DEEPEST: Final = 100
MOST_REPEATS: Final = 1 << 16
QUANTIFIERS: Final[Mapping[str, tuple[int, int | None]]] = {
    "*": (0, None),
    "+": (1, None),
    "?": (0, 1),
}

_SIMPLE: Final = {"n": 10, "t": 9, "r": 13, "a": 7, "b": 8, "f": 12, "v": 11, "0": 0, "e": 27}
_HEX: Final = {"x": (1, 2), "u": (4, 4), "U": (8, 8)}


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the source. `kind` is the name of its pattern; the last token has kind `end`."""

    kind: str
    text: str
    at: int


class TokenStream:
    """The tokens of a source, read up to `here`, inside `depth` groups. `dialect`: its name, for errors."""

    def __init__(self, source: str, pattern: re.Pattern[str], dialect: str) -> None:
        """Cut `source` by a pattern of named groups.

        Tokens of the group `skip` are dropped; of consecutive tokens of the group `line` only the first is kept.

        Raises:
            InvalidConstraint: a character that begins no token.
        """
        self.dialect = dialect
        self.depth = 0
        self._tokens = _tokens(source, pattern, dialect)
        self._at = 0

    @property
    def here(self) -> Token:
        """The next token."""
        return self._tokens[self._at]

    @property
    def ahead(self) -> Token:
        """The token after the next one."""
        return self._tokens[min(self._at + 1, len(self._tokens) - 1)]

    def take(self) -> Token:
        """Return the next token and step past it, but never past the end."""
        token = self.here
        self._at = min(self._at + 1, len(self._tokens) - 1)
        return token

    def skip(self, text: str) -> bool:
        """Step past the next token if it is `text`; returns whether it was."""
        found = self.here.text == text
        if found:
            self.take()
        return found

    def expect(self, text: str) -> None:
        """Step past the token `text`.

        Raises:
            InvalidConstraint: the next token is another one.
        """
        if not self.skip(text):
            invalid(self.dialect, f"expected {text!r}", self.here.at)

    def group(self, opening: Token, closing: str, inner: Callable[[], Part]) -> Part:
        """The content of a group that has been opened.

        Raises:
            InvalidConstraint: the group is not closed.
            ConstraintTooLarge: it is nested too deep.
        """
        self.depth += 1
        if self.depth > DEEPEST:
            raise ConstraintTooLarge(f"groups are nested deeper than {DEEPEST}")
        part = inner()
        if not self.skip(closing):
            invalid(self.dialect, f"a {opening.text!r} without its {closing!r}", opening.at)
        self.depth -= 1
        return part


def _tokens(source: str, pattern: re.Pattern[str], dialect: str) -> list[Token]:
    found: list[Token] = []
    at = 0
    while at < len(source):
        match = pattern.match(source, at)
        if match is None or match.end() == at:
            invalid(dialect, f"{source[at]!r} begins no token", at)
        kind = match.lastgroup or "skip"
        again = kind == "line" and bool(found) and found[-1].kind == kind
        if kind != "skip" and not again:
            found.append(Token(kind, match.group(), at))
        at = match.end()
    return [*found, Token("end", "", at)]


def invalid(dialect: str, reason: str, at: int) -> NoReturn:
    """Refuse a source that is not a grammar."""
    refusal = Refusal(
        f"char {at}", dialect, reason, f"write the grammar in the syntax of {dialect}"
    )
    raise InvalidConstraint(f"not a grammar: {reason} at char {at}", (refusal,))


def unsupported(keyword: str, reason: str, hint: str, at: int) -> NoReturn:
    """Refuse a construct that cannot be enforced."""
    refusal = Refusal(f"char {at}", keyword, reason, hint)
    raise UnsupportedConstraint(f"{keyword} at char {at}: {reason}; {hint}", (refusal,))


def counted(low: str, high: str | None, dialect: str, at: int) -> tuple[int, int]:
    """The bounds of a repeat.

    Raises:
        ConstraintTooLarge: a bound is too large.
        InvalidConstraint: the bounds are in the wrong order.
    """
    bounds = [
        int(text) if len(text) < 8 else 10**8 for text in (low, low if high is None else high)
    ]
    if max(bounds) > MOST_REPEATS:
        raise ConstraintTooLarge(f"a repeat of more than {MOST_REPEATS} times at char {at}")
    if bounds[0] > bounds[1]:
        invalid(dialect, "a repeat whose bounds are in the wrong order", at)
    return bounds[0], bounds[1]


@dataclass(frozen=True, slots=True)
class Escapes:
    """Decodes backslash escapes. `plain`: characters that stand for themselves after a backslash."""

    dialect: str
    plain: str
    named: Mapping[str, int]

    def read(self, text: str, at: int, offset: int) -> tuple[int, int]:
        """(code point, index after it) of the character or escape at `text[at]`.

        `offset` + `at` is its place in the source, for errors.

        Raises:
            InvalidConstraint: no such escape.
        """
        if text[at] != "\\":
            return ord(text[at]), at + 1
        c = text[at + 1 : at + 2]
        if c in self.named:
            return self.named[c], at + 2
        if c in _HEX:
            least, most = _HEX[c]
            end = at + 2
            while end < len(text) and end < at + 2 + most and text[end] in "0123456789abcdefABCDEF":
                end += 1
            point = int(text[at + 2 : end], 16) if end - at - 2 >= least else -1
            if 0 <= point < 0xD800 or 0xE000 <= point <= 0x10FFFF:
                return point, end
        elif c and c in self.plain:
            return ord(c), at + 2
        invalid(self.dialect, f"the escape '\\{c}' stands for no character", offset + at)


def escapes(dialect: str, plain: str, names: str) -> Escapes:
    """The escapes of a dialect; `names` are the letters of its control characters."""
    return Escapes(dialect, plain, {name: _SIMPLE[name] for name in names})
