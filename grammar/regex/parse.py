"""Patterns of ECMA-262 (2024), as JSON Schema uses them: read as with the `u` flag, without other flags.

Does: text to tree; what is not a pattern is `InvalidConstraint`, what is one but cannot be enforced (back-references,
halves of surrogate pairs, properties that are not known) `UnsupportedConstraint`, both with the offset. Beyond `u` it
takes what engines without `u` read the same way everywhere: escaped punctuation, `{`, `}` and `]` that are plainly not
syntax, `-` beside a class escape. Does not: compile (`pattern`).
"""

from dataclasses import dataclass, field
from typing import Final, NoReturn

from ..errors import ConstraintTooLarge, InvalidConstraint, Refusal, UnsupportedConstraint
from . import charset as cs
from .charset import Charset
from .tree import EMPTY, Chars, Edge, Either, Look, Node, Repeat, Sequence

MOST_CHARACTERS: Final = 1 << 16
DEEPEST: Final = 200
MOST_REPEATS: Final = 1 << 20

_CONTROLS: Final = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13}
_CLASSES: Final = {
    "d": cs.DIGIT, "D": cs.complement(cs.DIGIT), "w": cs.WORD, "W": cs.complement(cs.WORD),
    "s": cs.SPACE, "S": cs.complement(cs.SPACE),
}  # fmt: skip
_OPENINGS: Final = (
    ("(?:", None),
    ("(?=", (False, False)),
    ("(?!", (False, True)),
    ("(?<=", (True, False)),
    ("(?<!", (True, True)),
)


@dataclass(slots=True)
class _Frame:
    """A group that is still open."""

    look: tuple[bool, bool] | None
    offset: int
    branches: list[Node] = field(default_factory=list)
    parts: list[Node] = field(default_factory=list)

    def close(self) -> Node:
        self.branches.append(_sequence(self.parts))
        node = self.branches[0] if len(self.branches) == 1 else Either(tuple(self.branches))
        return node if self.look is None else Look(node, *self.look, self.offset)


def _sequence(parts: list[Node]) -> Node:
    return parts[0] if len(parts) == 1 else Sequence(tuple(parts))


def parse(source: str) -> Node:
    """The tree of a pattern.

    Raises:
        InvalidConstraint: not a pattern.
        UnsupportedConstraint: uses a back-reference, half of a surrogate pair or a property that is not known.
        ConstraintTooLarge: too long or nested too deep.
    """
    if len(source) > MOST_CHARACTERS:
        raise ConstraintTooLarge(f"a pattern may have {MOST_CHARACTERS} characters at most")
    return _Parser(source).run()


class _Parser:
    def __init__(self, source: str) -> None:
        self.source = source
        self.at = 0
        self.names: set[str] = set()

    def run(self) -> Node:
        frames = [_Frame(None, 0)]
        while self.at < len(self.source):
            c = self.source[self.at]
            if c == "(":
                if len(frames) > DEEPEST:
                    raise ConstraintTooLarge("groups are nested too deep in this pattern")
                frames.append(self._open())
            elif c == ")":
                if len(frames) == 1:
                    self._fail("a ')' without its '('")
                self.at += 1
                node = frames.pop().close()
                frames[-1].parts.append(node if isinstance(node, Look) else self._repeated(node))
            elif c == "|":
                self.at += 1
                frames[-1].branches.append(_sequence(frames[-1].parts))
                frames[-1].parts = []
            else:
                frames[-1].parts.append(self._term(c))
        if len(frames) > 1:
            self._fail("a '(' without its ')'", frames[-1].offset)
        return frames[0].close()

    def _open(self) -> _Frame:
        offset = self.at
        for opening, look in _OPENINGS:
            if self.source.startswith(opening, offset):
                self.at += len(opening)
                return _Frame(look, offset)
        if self.source.startswith("(?<", offset):
            end = self.source.find(">", offset)
            name = self.source[offset + 3 : end] if end >= 0 else ""
            if not name.isidentifier() and not name.replace("$", "_").isidentifier():
                self._fail("a group name that is not an identifier")
            if name in self.names:
                self._fail(f"the group name {name!r} twice")
            self.names.add(name)
            self.at = end + 1
            return _Frame(None, offset)
        if self.source.startswith("(?", offset):
            self._fail(
                "'(?' that opens no group of ECMA-262 (inline flags and comments are other dialects)"
            )
        self.at += 1
        return _Frame(None, offset)

    def _term(self, c: str) -> Node:
        if c in "^$":
            self.at += 1
            return Edge(c)
        if c in "*+?":
            self._fail(f"'{c}' with nothing to repeat")
        if c == "[":
            return self._repeated(Chars(self._class()))
        if c == ".":
            self.at += 1
            return self._repeated(Chars(cs.DOT))
        if c == "\\":
            if self.source[self.at + 1 : self.at + 2] in ("b", "B"):
                self.at += 2
                return Edge(self.source[self.at - 2 : self.at])
            offset, charset = self.at, self._escape(in_class=False)
            return self._repeated(self._character(charset, offset))
        if c == "{" and self._counts() is not None:
            self._fail("'{' with nothing to repeat")
        self.at += 1
        return self._repeated(self._character(((ord(c), ord(c)),), self.at - 1))

    def _character(self, charset: Charset, offset: int) -> Node:
        """One character; half of a surrogate pair is none, and no text that is written has it."""
        if charset and not cs.encodable(charset):
            hint = "write the whole character, or leave this out"
            self._refuse(offset, "half of a surrogate pair", hint)
        return Chars(charset)

    def _repeated(self, node: Node) -> Node:
        """The quantifier that follows, applied; in this dialect there is at most one."""
        c = self.source[self.at : self.at + 1]
        counts: tuple[int, int | None] | None
        if c and c in "*+?":
            counts = {"*": (0, None), "+": (1, None), "?": (0, 1)}[c]
            self.at += 1
        elif c == "{" and (found := self._counts()) is not None:
            low, high, self.at = found
            counts = low, high
            if high is not None and high < low:
                self._fail("a repeat whose bounds are in the wrong order")
            if max(low, high or 0) > MOST_REPEATS:
                raise ConstraintTooLarge(f"a repeat of more than {MOST_REPEATS} times in a pattern")
        else:
            return node
        if self.source[self.at : self.at + 1] == "?":
            self.at += 1
        if self.source[self.at : self.at + 1] in ("*", "+", "?") or self._counts() is not None:
            self._fail("a quantifier right after a quantifier")
        low, high = counts
        return EMPTY if high == 0 else node if counts == (1, 1) else Repeat(node, low, high)

    def _counts(self) -> tuple[int, int | None, int] | None:
        """`{n}`, `{n,}` or `{n,m}` here: (low, high, offset after it)."""
        if self.source[self.at : self.at + 1] != "{":
            return None
        end = self.source.find("}", self.at, self.at + 64)
        low, comma, high = self.source[self.at + 1 : max(end, 0)].partition(",")
        if end < 0 or not _digits(low) or (high and not _digits(high)):
            return None
        return int(low), (int(high) if high else None) if comma else int(low), end + 1

    def _class(self) -> Charset:
        opening = self.at
        self.at += 1
        negative = self.source[self.at : self.at + 1] == "^"
        self.at += negative
        ranges: list[tuple[int, int]] = []
        while True:
            if self.at >= len(self.source):
                self._fail("a '[' without its ']'", opening)
            if self.source[self.at] == "]":
                break
            low = self._member()
            after = self.source[self.at + 1 : self.at + 2]
            if self.source[self.at : self.at + 1] != "-" or after in ("]", ""):
                ranges.extend(low)
                continue
            self.at += 1
            high = self._member()
            if not (_single(low) and _single(high)):
                ranges.extend((*low, *high, (ord("-"), ord("-"))))
            elif high[0][0] < low[0][0]:
                self._fail("a range whose ends are in the wrong order")
            else:
                ranges.append((low[0][0], high[0][0]))
        self.at += 1
        charset = cs.of(ranges)
        return cs.complement(charset) if negative else charset

    def _member(self) -> Charset:
        c = self.source[self.at]
        if c == "\\":
            return self._escape(in_class=True)
        self.at += 1
        return ((ord(c), ord(c)),)

    def _escape(self, in_class: bool) -> Charset:
        offset = self.at
        c = self.source[offset + 1 : offset + 2]
        self.at += 2
        if c in _CLASSES:
            return _CLASSES[c]
        if c in ("p", "P"):
            return self._property(offset, negative=c == "P")
        if c and c in "123456789":
            self._refuse(offset, "back-reference", "spell out what the group may be")
        if c == "k":
            self._refuse(offset, "back-reference", "spell out what the group may be")
        point = self._code_point(offset, c, in_class)
        return ((point, point),)

    def _code_point(self, offset: int, c: str, in_class: bool) -> int:
        if c in _CONTROLS:
            return _CONTROLS[c]
        if c == "b" and in_class:
            return 8
        if c == "0" and not _digits(self.source[self.at : self.at + 1]):
            return 0
        if (
            c == "c"
            and (letter := self.source[self.at : self.at + 1]).isascii()
            and letter.isalpha()
        ):
            self.at += 1
            return ord(letter) & 31
        if c == "x":
            return self._hex(2, offset)
        if c == "u":
            return self._unicode(offset)
        if not c or c.isalnum():
            self._fail(f"an escape '\\{c}' that ECMA-262 does not have", offset)
        return ord(c)

    def _unicode(self, offset: int) -> int:
        if self.source.startswith("{", self.at):
            end = self.source.find("}", self.at)
            text = self.source[self.at + 1 : max(end, 0)]
            if not _hexadecimal(text) or int(text, 16) > 0x10FFFF:
                self._fail("an escape '\\u{' without a code point", offset)
            self.at = end + 1
            return int(text, 16)
        point = self._hex(4, offset)
        if 0xD800 <= point <= 0xDBFF and self.source.startswith("\\u", self.at):
            low = self.source[self.at + 2 : self.at + 6]
            if len(low) == 4 and _hexadecimal(low) and 0xDC00 <= int(low, 16) <= 0xDFFF:
                self.at += 6
                return 0x10000 + ((point - 0xD800) << 10) + int(low, 16) - 0xDC00
        return point

    def _hex(self, count: int, offset: int) -> int:
        text = self.source[self.at : self.at + count]
        if len(text) < count or not _hexadecimal(text):
            self._fail(f"an escape that lacks its {count} hexadecimal digits", offset)
        self.at += count
        return int(text, 16)

    def _property(self, offset: int, negative: bool) -> Charset:
        end = self.source.find("}", self.at)
        if not self.source.startswith("{", self.at) or end < 0:
            self._fail("'\\p' without '{name}'", offset)
        name = self.source[self.at + 1 : end]
        self.at = end + 1
        charset = cs.prop(name)
        if charset is None:
            self._refuse(
                offset,
                f"\\p{{{name}}}",
                "use general categories such as \\p{L}, or list the characters",
            )
        return cs.complement(charset) if negative else charset

    def _fail(self, what: str, offset: int | None = None) -> NoReturn:
        where = f"char {self.at if offset is None else offset}"
        refusal = Refusal(
            where, "pattern", what, "write the pattern as ECMA-262 with the u flag has it"
        )
        raise InvalidConstraint(f"not a pattern: {what} at {where}", (refusal,))

    def _refuse(self, offset: int, construct: str, hint: str) -> NoReturn:
        refusal = Refusal(f"char {offset}", construct, f"{construct} cannot be enforced", hint)
        raise UnsupportedConstraint(
            f"{construct} at char {offset} cannot be enforced; {hint}", (refusal,)
        )


def _single(charset: Charset) -> bool:
    return len(charset) == 1 and charset[0][0] == charset[0][1]


def _digits(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _hexadecimal(text: str) -> bool:
    return bool(text) and all(c in "0123456789abcdefABCDEF" for c in text)
