"""Patterns in the ECMA-262 flavour that JSON Schema uses, read into a tree.

Does: parse what a finite automaton can hold and refuse the rest by name and offset; resolve anchors. Code points are
the characters, as with the `u` flag; letters that escape nothing are errors rather than themselves. Does not: match.
"""

from dataclasses import dataclass
from typing import NoReturn

from ..errors import InvalidConstraint, Refusal, UnsupportedConstraint
from .chars import BREAK, DIGIT, EVERY, LAST, SPACE, WORD, Ranges, complement, intersection, union

_CONTROL = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13, "0": 0}
_MOST_REPEATS = 100_000
_DEEPEST = 100


@dataclass(frozen=True, slots=True)
class Chars:
    """One character out of `ranges`."""

    ranges: Ranges


@dataclass(frozen=True, slots=True)
class Anchor:
    """The start (`^`) or the end (`$`) of the text."""

    start: bool
    at: int


@dataclass(frozen=True, slots=True)
class Sequence:
    """One part after another; none is the empty text."""

    parts: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """Any of the alternatives."""

    parts: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """`body` at least `least` and at most `most` times (None: any number)."""

    body: "Node"
    least: int
    most: int | None


Node = Chars | Anchor | Sequence | Choice | Repeat
EMPTY = Sequence(())
ANY = Chars(EVERY)


def parse(pattern: str) -> Node:
    """The tree of a pattern.

    Raises:
        InvalidConstraint: it is not a pattern.
        UnsupportedConstraint: it uses what no finite automaton of bounded size can hold; `where` is the offset.
    """
    parser = _Parser(pattern)
    node = parser.choice(0)
    if parser.at < len(pattern):
        parser.fail("a parenthesis closes nothing")
    return node


def whole(node: Node, *, search: bool) -> Node:
    """The same language without anchors: what entire texts match. With `search`, anything may stand around a match.

    Raises:
        UnsupportedConstraint: an anchor stands where it is not at an edge of the pattern.
    """
    alternatives = []
    for part in _alternatives(node):
        starts, ends = part[:1], part[-1:]
        first = bool(starts) and isinstance(starts[0], Anchor) and starts[0].start
        last = bool(ends) and isinstance(ends[0], Anchor) and not ends[0].start
        while part and isinstance(part[0], Anchor) and part[0].start:
            part = part[1:]
        while part and isinstance(part[-1], Anchor) and not part[-1].start:
            part = part[:-1]
        _no_anchor(Sequence(tuple(part)))
        around = Repeat(ANY, 0, None)
        before = [around] if search and not first else []
        after = [around] if search and not last else []
        alternatives.append(Sequence((*before, *part, *after)))
    return alternatives[0] if len(alternatives) == 1 else Choice(tuple(alternatives))


def _alternatives(node: Node) -> list[list[Node]]:
    """The alternatives of a pattern as lists of parts; groups that are all of one, or its edge, are opened."""
    if isinstance(node, Choice):
        return [part for inner in node.parts for part in _alternatives(inner)]
    if not isinstance(node, Sequence):
        return [[node]]
    parts = list(node.parts)
    bare = [part for part in parts if not isinstance(part, Anchor)]
    if len(bare) == 1 and isinstance(bare[0], Choice | Sequence) and _has_anchor(bare[0]):
        at = parts.index(bare[0])
        inner = _alternatives(bare[0])
        return [[*parts[:at], *part, *parts[at + 1 :]] for part in inner]
    return [parts]


def _has_anchor(node: Node) -> bool:
    match node:
        case Anchor():
            return True
        case Sequence(parts) | Choice(parts):
            return any(_has_anchor(part) for part in parts)
        case Repeat(body):
            return _has_anchor(body)
        case Chars():
            return False


def _no_anchor(node: Node) -> None:
    match node:
        case Anchor(start, at):
            raise unsupported(
                at,
                "^" if start else "$",
                "an anchor inside a pattern is not supported",
                "put anchors at the edges of the pattern or of its alternatives",
            )
        case Sequence(parts) | Choice(parts):
            for part in parts:
                _no_anchor(part)
        case Repeat(body):
            _no_anchor(body)
        case Chars():
            pass


def unsupported(at: int, construct: str, reason: str, hint: str) -> UnsupportedConstraint:
    """The error for a construct at an offset."""
    return UnsupportedConstraint(
        f"{construct} at char {at}: {reason}", (Refusal(f"char {at}", construct, reason, hint),)
    )


class _Parser:
    """Recursive descent over one pattern; `at` is the offset of the next character."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0

    def fail(self, reason: str) -> NoReturn:
        where = Refusal(f"char {self.at}", "pattern", reason, "correct the pattern")
        raise InvalidConstraint(f"not a pattern: {reason} (char {self.at})", (where,))

    def peek(self, text: str) -> bool:
        return self.pattern.startswith(text, self.at)

    def take(self, text: str) -> bool:
        if not self.peek(text):
            return False
        self.at += len(text)
        return True

    def next(self) -> str:
        if self.at >= len(self.pattern):
            self.fail("it ends too early")
        self.at += 1
        return self.pattern[self.at - 1]

    def choice(self, depth: int) -> Node:
        if depth > _DEEPEST:
            self.fail(f"groups are nested more than {_DEEPEST} deep")
        parts = [self.sequence(depth)]
        while self.take("|"):
            parts.append(self.sequence(depth))
        return parts[0] if len(parts) == 1 else Choice(tuple(parts))

    def sequence(self, depth: int) -> Node:
        parts: list[Node] = []
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
            parts.append(self.quantified(self.atom(depth)))
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def quantified(self, atom: Node) -> Node:
        bounds = self.bounds()
        if bounds is None:
            return atom
        least, most = bounds
        if isinstance(atom, Anchor):
            self.fail("an anchor cannot be repeated")
        if most is not None and most < least:
            self.fail("a repeat has its bounds the wrong way round")
        if max(least, most or 0) > _MOST_REPEATS:
            self.fail(f"a repeat goes over {_MOST_REPEATS}")
        self.take("?")  # lazy or not, the language is the same
        if self.at < len(self.pattern) and (
            self.pattern[self.at] in "*+?" or self.braces() is not None
        ):
            self.fail("a quantifier has nothing to repeat")
        return Repeat(atom, least, most)

    def bounds(self) -> tuple[int, int | None] | None:
        for sign, found in (("*", (0, None)), ("+", (1, None)), ("?", (0, 1))):
            if self.take(sign):
                return found
        braces = self.braces()
        if braces is None:
            return None
        least, most, self.at = braces
        return least, most

    def braces(self) -> tuple[int, int | None, int] | None:
        """The bounds of `{n}`, `{n,}` or `{n,m}` here and the offset after it; None where a brace is only itself."""
        stop = self.pattern.find("}", self.at)
        if not self.peek("{") or stop < 0 or stop - self.at > 20:
            return None
        low, comma, high = self.pattern[self.at + 1 : stop].partition(",")
        if not (low.isascii() and low.isdigit()) or (
            high and not (high.isascii() and high.isdigit())
        ):
            return None
        return int(low), (int(high) if high else None) if comma else int(low), stop + 1

    def atom(self, depth: int) -> Node:
        at = self.at
        char = self.next()
        match char:
            case "^" | "$":
                return Anchor(char == "^", at)
            case ".":
                return Chars(complement(BREAK))
            case "(":
                return self.group(depth, at)
            case "[":
                return Chars(self.set())
            case "\\":
                return Chars(self.escape(at, inside=False))
            case "*" | "+" | "?":
                self.at = at
                self.fail("a quantifier has nothing to repeat")
            case "{" if self.pattern[at:].find("}") > 0:
                self.at = at
                if self.braces() is not None:
                    self.fail("a quantifier has nothing to repeat")
                self.at = at + 1
        return Chars(self.single(ord(char)))

    def group(self, depth: int, at: int) -> Node:
        for mark in ("?=", "?!", "?<=", "?<!"):
            if self.peek(mark):
                name = "look-behind" if "<" in mark else "look-ahead"
                raise unsupported(
                    at, name, "looking around is not supported", "spell the allowed texts out"
                )
        if self.take("?<"):
            stop = self.pattern.find(">", self.at)
            if stop <= self.at:
                self.fail("a group's name does not end")
            self.at = stop + 1
        elif not self.take("?:") and self.peek("?"):
            raise unsupported(
                at, "(?", "inline flags are not part of ECMA-262", "spell the cases out"
            )
        node = self.choice(depth + 1)
        if not self.take(")"):
            self.fail("a group does not end")
        return node

    def set(self) -> Ranges:
        negated = self.take("^")
        parts: list[Ranges] = []
        while not self.take("]"):
            low = self.member()
            if self.peek("-") and not self.peek("-]"):
                self.at += 1
                high = self.member()
                if (
                    len(low) != 1
                    or low[0][0] != low[0][1]
                    or len(high) != 1
                    or high[0][0] != high[0][1]
                ):
                    self.fail("a range needs single characters")
                if high[0][0] < low[0][0]:
                    self.fail("a range has its ends the wrong way round")
                low = ((low[0][0], high[0][0]),)
            parts.append(low)
        found = union(*parts)
        return complement(found) if negated else intersection(found, EVERY)

    def member(self) -> Ranges:
        at = self.at
        char = self.next()
        return self.escape(at, inside=True) if char == "\\" else ((ord(char), ord(char)),)

    def single(self, code: int) -> Ranges:
        return intersection(((code, code),), EVERY)

    def escape(self, at: int, *, inside: bool) -> Ranges:
        char = self.next()
        classes = {"d": DIGIT, "w": WORD, "s": SPACE}
        if char.lower() in classes:
            found = classes[char.lower()]
            return complement(found) if char.isupper() else found
        if char == "b" and inside:
            return ((8, 8),)
        if char in "bB":
            raise unsupported(
                at, f"\\{char}", "word boundaries are not supported", "spell the edges out"
            )
        if char in "pP":
            raise unsupported(
                at, f"\\{char}", "Unicode properties are not supported", "list the ranges meant"
            )
        if char in "123456789k":
            raise unsupported(
                at, f"\\{char}", "back-references are not regular", "repeat the text meant"
            )
        code = self.code(char)
        return ((code, code),)

    def code(self, char: str) -> int:
        if char in _CONTROL:
            if char == "0" and self.pattern[self.at : self.at + 1].isdigit():
                self.fail("octal escapes are not part of ECMA-262")
            return _CONTROL[char]
        if char == "c":
            letter = self.next()
            if not (letter.isascii() and letter.isalpha()):
                self.fail("\\c needs a letter")
            return ord(letter) % 32
        if char == "x":
            return self.hexadecimal(2)
        if char == "u":
            return self.unicode()
        if char.isalnum():
            self.fail(f"\\{char} is not an escape")
        return ord(char)

    def unicode(self) -> int:
        if self.take("{"):
            stop = self.pattern.find("}", self.at)
            if not 0 < stop - self.at <= 6:
                self.fail("\\u{…} needs one to six hexadecimal digits")
            code = self.hexadecimal(stop - self.at)
            self.at += 1
        else:
            code = self.hexadecimal(4)
            if 0xD800 <= code < 0xDC00 and self.peek("\\u"):
                back = self.at
                self.at += 2
                low = 0 if self.peek("{") else self.hexadecimal(4)
                if 0xDC00 <= low < 0xE000:
                    return 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)
                self.at = back
        if code > LAST:
            self.fail("a code point is past U+10FFFF")
        return code

    def hexadecimal(self, count: int) -> int:
        digits = self.pattern[self.at : self.at + count]
        if len(digits) != count or any(digit not in "0123456789abcdefABCDEF" for digit in digits):
            self.fail(f"{count} hexadecimal digits are missing")
        self.at += count
        return int(digits, 16)
