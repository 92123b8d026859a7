"""Parser of ECMA-262 (2024) patterns as JSON Schema uses them, and of the syntax that Python and PCRE add to it.

Does: turn text into a tree. Invalid text raises `InvalidConstraint`; valid patterns that cannot be enforced
(back-references, lone surrogates, unknown properties) raise `UnsupportedConstraint`; both with the offset. It accepts
some syntax that `u` forbids and that engines without `u` all read alike: escaped punctuation, literal `{`, `}` and `]`
where they are not syntax, `-` next to a class escape. Does not: compile (`pattern`).

Schemas have the `u` flag and no other. Other patterns may use `(?i)`, `(?s)` and `(?u)` at the start, groups such as
`(?i:...)` and `(?-s:...)`, `(?P<name>...)`, comments `(?#...)`, and `\\A`, `\\Z`, `\\z` for the ends of the text.
"""

import re
from dataclasses import dataclass, field
from typing import Final

from ..contract.errors import ConstraintTooLarge
from . import charset as cs
from .charset import Charset
from .modifiers import ModifierHead, Modifiers, UnknownModifier, read_head
from .regex_tree import EMPTY, Alternation, Chars, Concat, Edge, Look, Node, Repetition
from .scanner import Scanner

MOST_CHARACTERS: Final = 1 << 16
DEEPEST: Final = 200
MOST_REPEATS: Final = 1 << 20

_COUNTS: Final = re.compile(r"\{([0-9]+)(,([0-9]*))?\}")
_TEXT_EDGES: Final = {"A": Edge.START, "Z": Edge.END, "z": Edge.END}
_OPENINGS: Final = (
    ("(?:", None),
    ("(?=", (False, False)),
    ("(?!", (False, True)),
    ("(?<=", (True, False)),
    ("(?<!", (True, True)),
)


@dataclass(slots=True)
class _Frame:
    """An unclosed group."""

    look: tuple[bool, bool] | None
    offset: int
    outer: Modifiers  # those that hold again after the group
    branches: list[Node] = field(default_factory=list)
    parts: list[Node] = field(default_factory=list)

    def close(self) -> Node:
        self.branches.append(_sequence(self.parts))
        node = self.branches[0] if len(self.branches) == 1 else Alternation(tuple(self.branches))
        return node if self.look is None else Look(node, *self.look, self.offset)


def _sequence(parts: list[Node]) -> Node:
    return parts[0] if len(parts) == 1 else Concat(tuple(parts))


def parse(source: str, modifiers: Modifiers | None = None) -> Node:
    """The tree of a pattern.

    Without `modifiers` it is pure ECMA-262. With them, which hold at its start, it may use the syntax that Python and
    PCRE add.

    Raises:
        InvalidConstraint: not a pattern.
        UnsupportedConstraint: a back-reference, a lone surrogate or an unknown property.
        ConstraintTooLarge: too long or nested too deep.
    """
    if len(source) > MOST_CHARACTERS:
        raise ConstraintTooLarge(f"a pattern may have {MOST_CHARACTERS} characters at most")
    return _Parser(source, modifiers).run()


class _Parser(Scanner):
    def __init__(self, source: str, modifiers: Modifiers | None) -> None:
        super().__init__(source, modifiers or Modifiers())
        self.is_pure = modifiers is None
        self.names: set[str] = set()

    def run(self) -> Node:
        frames = [_Frame(None, 0, self.modifiers)]
        if not self.is_pure and (head := self._head()) is not None and head.is_leading:
            self.modifiers, self.at = head.modifiers, head.end
        while self.at < len(self.source):
            c = self.source[self.at]
            if not self.is_pure and self.source.startswith("(?#", self.at):
                self._skip_comment()
            elif c == "(":
                if len(frames) > DEEPEST:
                    raise ConstraintTooLarge("groups are nested too deep in this pattern")
                frames.append(self._open())
            elif c == ")":
                if len(frames) == 1:
                    self.fail("a ')' without its '('")
                self.at += 1
                closed = frames.pop()
                self.modifiers = closed.outer
                node = closed.close()
                # A group around a look-around may be repeated, a look-around may not.
                looks = closed.look is not None
                frames[-1].parts.append(node if looks else self._repeated(node))
            elif c == "|":
                self.at += 1
                frames[-1].branches.append(_sequence(frames[-1].parts))
                frames[-1].parts = []
            else:
                frames[-1].parts.append(self._term(c))
        if len(frames) > 1:
            self.fail("a '(' without its ')'", frames[-1].offset)
        return frames[0].close()

    def _open(self) -> _Frame:
        offset = self.at
        for opening, look in _OPENINGS:
            if self.source.startswith(opening, offset):
                self.at += len(opening)
                return _Frame(look, offset, self.modifiers)
        opening = "(?<" if self.is_pure or not self.source.startswith("(?P", offset) else "(?P<"
        if self.source.startswith(opening, offset):
            end = self.source.find(">", offset)
            name = self.source[offset + len(opening) : end] if end >= 0 else ""
            if not name.isidentifier() and not name.replace("$", "_").isidentifier():
                self.fail("a group name that is not an identifier")
            if name in self.names:
                self.fail(f"the group name {name!r} twice")
            self.names.add(name)
            self.at = end + 1
            return _Frame(None, offset, self.modifiers)
        if self.source.startswith("(?", offset):
            return self._modified(offset)
        self.at += 1
        return _Frame(None, offset, self.modifiers)

    def _modified(self, offset: int) -> _Frame:
        """The group at the current offset, which sets modifiers."""
        if self.is_pure:
            self.fail(
                "'(?' that opens no group of ECMA-262 (inline flags and comments are other dialects)"
            )
        if self.source.startswith("(?P=", offset):
            self.refuse(offset, "back-reference", "spell out what the group may be")
        head = self._head()
        if head is None:
            self.fail("'(?' that opens no group")
        if head.is_leading:
            self.fail("modifiers for the whole pattern that are not at its start: write (?i:...)")
        frame = _Frame(None, offset, self.modifiers)
        self.modifiers, self.at = head.modifiers, head.end
        return frame

    def _head(self) -> ModifierHead | None:
        try:
            return read_head(self.source, self.at, self.modifiers)
        except UnknownModifier as unknown:
            letter, hint = unknown.args
            self.refuse(self.at, f"modifier {letter}", hint)

    def _skip_comment(self) -> None:
        end = self.source.find(")", self.at)
        if end < 0:
            self.fail("a comment without its ')'")
        self.at = end + 1

    def _term(self, c: str) -> Node:
        if c in "^$":
            self.at += 1
            return Edge(c)
        if c in "*+?":
            self.fail(f"'{c}' with nothing to repeat")
        if c == "[":
            return self._repeated(Chars(self._class()))
        if c == ".":
            self.at += 1
            return self._repeated(Chars(self.modifiers.dot))
        if c == "\\":
            if not self.is_pure and (
                edge := _TEXT_EDGES.get(self.source[self.at + 1 : self.at + 2])
            ):
                self.at += 2
                return edge
            if self.source[self.at + 1 : self.at + 2] in ("b", "B"):
                self.at += 2
                return Edge(self.source[self.at - 2 : self.at])
            offset, charset = self.at, self.escape(in_class=False)
            return self._repeated(self._character(charset, offset))
        if c == "{" and self._counts() is not None:
            self.fail("'{' with nothing to repeat")
        self.at += 1
        return self._repeated(self._character(((ord(c), ord(c)),), self.at - 1))

    def _character(self, charset: Charset, offset: int) -> Node:
        """One character; a lone surrogate is refused, since no encoded text contains it."""
        (low, high), *_ = cs.SURROGATES
        if charset and all(low <= a and b <= high for a, b in charset):
            hint = "write the whole character, or leave this out"
            self.refuse(offset, "half of a surrogate pair", hint)
        return Chars(self.cased(charset))

    def _repeated(self, node: Node) -> Node:
        """The node with the quantifier that follows, if any; this dialect allows at most one."""
        c = self.source[self.at : self.at + 1]
        counts: tuple[int, int | None] | None
        if c and c in "*+?":
            counts = {"*": (0, None), "+": (1, None), "?": (0, 1)}[c]
            self.at += 1
        elif c == "{" and (found := self._counts()) is not None:
            low, high, self.at = found
            counts = low, high
            if high is not None and high < low:
                self.fail("a repeat whose bounds are in the wrong order")
            if max(low, high or 0) > MOST_REPEATS:
                raise ConstraintTooLarge(f"a repeat of more than {MOST_REPEATS} times in a pattern")
        else:
            return node
        if self.source[self.at : self.at + 1] == "?":
            self.at += 1
        if self.source[self.at : self.at + 1] in ("*", "+", "?") or self._counts() is not None:
            self.fail("a quantifier right after a quantifier")
        low, high = counts
        return EMPTY if high == 0 else node if counts == (1, 1) else Repetition(node, low, high)

    def _counts(self) -> tuple[int, int | None, int] | None:
        """`{n}`, `{n,}` or `{n,m}` at the current offset: (low, high, offset after it)."""
        found = _COUNTS.match(self.source, self.at)
        if found is None:
            return None
        # Eight digits suffice to exceed the limit.
        low, high = (int((found[i] or "0").lstrip("0")[:8] or "0") for i in (1, 3))
        return low, high if found[3] else low if found[2] is None else None, found.end()

    def _class(self) -> Charset:
        opening = self.at
        self.at += 1
        negative = self.source[self.at : self.at + 1] == "^"
        self.at += negative
        pieces: set[Charset] = set()
        while True:
            if self.at >= len(self.source):
                self.fail("a '[' without its ']'", opening)
            if self.source[self.at] == "]":
                break
            low = self._member()
            after = self.source[self.at + 1 : self.at + 2]
            if self.source[self.at : self.at + 1] != "-" or after in ("]", ""):
                pieces.add(low)
                continue
            self.at += 1
            high = self._member()
            if not (_single(low) and _single(high)):
                pieces |= {low, high, ((ord("-"), ord("-")),)}
            elif high[0][0] < low[0][0]:
                self.fail("a range whose ends are in the wrong order")
            else:
                pieces.add(((low[0][0], high[0][0]),))
        self.at += 1
        charset = self.cased(cs.of(span for piece in pieces for span in piece))
        return cs.complement(charset) if negative else charset

    def _member(self) -> Charset:
        c = self.source[self.at]
        if c == "\\":
            return self.escape(in_class=True)
        self.at += 1
        return ((ord(c), ord(c)),)


def _single(charset: Charset) -> bool:
    return len(charset) == 1 and charset[0][0] == charset[0][1]
