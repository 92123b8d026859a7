"""Split patterns of tokenizers, translated from Oniguruma's syntax to that of `re`.

Does: translate the constructs that published tokenizers use, and refuse all others. Does not: compare the two engines
on characters (`words`).
"""

import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import Final

_SPACE: Final = r"\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_PROPERTY: Final = re.compile(r"\\([pP])\{([A-Z][a-z]?)\}")
_SAFE_ESCAPES: Final = frozenset("rnt")
_GROUPS: Final = ("(?i:", "(?:", "(?!", "(?=")
_REPEAT: Final = re.compile(r"\{\d+(?:,\d*)?\}(?!\+)")


@dataclass(frozen=True, slots=True)
class Translation:
    """A compiled pattern, and the character classes in it: each for Oniguruma, and for `re`."""

    pattern: "re.Pattern[str]"
    classes: tuple[tuple[str, str], ...]


def translated(pattern: str) -> Translation:
    """The translation of a split pattern.

    Raises:
        ValueError: the pattern has a construct that is not known to mean the same in both syntaxes.
    """
    reader = _Reader(pattern)
    compiled = re.compile(reader.read())
    if compiled.groups or compiled.fullmatch(""):
        raise ValueError("the pattern has a capturing group or matches an empty text")
    return Translation(compiled, tuple(sorted(reader.classes.items())))


class _Reader:
    """One pass over a pattern. `classes` collects the classes that both engines must agree on."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0
        self.classes: dict[str, str] = {}

    def read(self) -> str:
        """The pattern for `re`."""
        found = []
        while self._at < len(self._pattern):
            found.append(self._part())
        return "".join(found)

    def _part(self) -> str:
        here = self._pattern[self._at]
        if here == "\\":
            members, negated = self._escape()
            return members if negated is None else f"[{'^' * negated}{members}]"
        if here == "[":
            return self._class()
        if here == "(":
            return self._taken(next((g for g in _GROUPS if self._starts(g)), None))
        if here == "{":
            match = _REPEAT.match(self._pattern, self._at)
            return self._taken(match and match.group())
        if here == "$":  # the end of any line
            self._at += 1
            return r"(?=\n|\Z)"
        return self._taken(None if here in "^.]" or not here.isascii() else here)

    def _class(self) -> str:
        """A bracketed class without nested classes and intersections."""
        self._at += 1
        found = "["
        if self._starts("^"):
            found += self._taken("^")
        while not self._starts("]"):
            if self._starts("[") or self._starts("&&") or self._at >= len(self._pattern):
                raise ValueError("a nested or an open class")
            if self._starts("\\"):
                members, negated = self._escape()
                if negated:
                    raise ValueError("a negated class in a class")
                found += members
            else:
                found += self._taken(self._pattern[self._at])
        return found + self._taken("]")

    def _escape(self) -> tuple[str, bool | None]:
        """An escape: the members of a class and whether it is negated, or a single character and None."""
        if match := _PROPERTY.match(self._pattern, self._at):
            self._at = match.end()
            kind, name = match.groups()
            members = _members(name)
            self.classes[f"\\p{{{name}}}"] = f"[{members}]"
            return members, kind == "P"
        letter = self._pattern[self._at + 1 : self._at + 2]
        self._at += 2
        if letter in ("s", "S"):
            self.classes["\\s"] = f"[{_SPACE}]"
            return _SPACE, letter == "S"
        if not letter or (letter.isalnum() and letter not in _SAFE_ESCAPES):
            raise ValueError(f"the escape \\{letter}")
        return "\\" + letter, None

    def _starts(self, text: str) -> bool:
        return self._pattern.startswith(text, self._at)

    def _taken(self, text: str | None) -> str:
        if text is None:
            raise ValueError(f"the construct at {self._at}: {self._pattern[self._at :][:8]!r}")
        self._at += len(text)
        return text


@cache
def _members(name: str) -> str:
    """The members of a general category, such as L or Lu, in the basic plane, as the inside of a class."""
    found: list[tuple[int, int]] = []
    end = -1
    for category, first, last in _runs():
        if not category.startswith(name):
            continue
        if found and first == end + 1:
            first = found.pop()[0]
        found.append((first, last))
        end = last
    return "".join(f"\\u{first:04x}-\\u{last:04x}" for first, last in found)


@cache
def _runs() -> tuple[tuple[str, int, int], ...]:
    """The characters of the basic plane in order, as runs of one general category: the category, first and last."""
    found, start = [], 0
    for category, run in groupby(map(unicodedata.category, map(chr, range(0x10000)))):
        end = start + sum(1 for _ in run)
        found.append((category, start, end - 1))
        start = end
    return tuple(found)
