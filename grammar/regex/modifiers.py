"""Modifiers of patterns, such as `(?i)`, and the groups that set them.

Does: read the head of a group that sets modifiers. Does not: apply them (`parse`, `scanner`).
"""

import re
from dataclasses import dataclass, replace
from typing import Final

from . import charset as cs
from .charset import Charset

_HEAD: Final = re.compile(r"\(\?([a-zA-Z]*)(?:-([a-zA-Z]+))?([:)])")
_IGNORED: Final = frozenset("u")  # patterns are Unicode in any case

REASONS: Final = {
    "m": "write (?:^|(?<=\\n)) for the start of a line and (?=\\n|$) for its end",
    "x": "leave out the white space and the comments",
    "a": "leave it out: \\d, \\w and \\s are ASCII",
    "L": "leave it out: patterns are read as Unicode",
}
"""What to write in place of a modifier that is not supported."""


@dataclass(frozen=True, slots=True)
class Modifiers:
    """`ignore_case`: letters stand for all their cases. `dot`: the characters that `.` stands for."""

    ignore_case: bool = False
    dot: Charset = cs.DOT


@dataclass(frozen=True, slots=True)
class ModifierHead:
    """The head of a group that sets modifiers: `modifiers` hold up to the end of the group, or, if `is_leading`, for
    the whole pattern. `end` is the offset after it."""

    modifiers: Modifiers
    is_leading: bool
    end: int


class UnknownModifier(ValueError):
    """A modifier that patterns do not have here; the arguments are its letter and what to write in its place."""


def read_head(source: str, at: int, current: Modifiers) -> ModifierHead | None:
    """The modifiers that the group at offset `at` of a pattern sets, or None if it sets none.

    Raises:
        UnknownModifier: one of them is not supported.
    """
    found = _HEAD.match(source, at)
    if found is None or not (found[1] or found[2]):
        return None
    on, off = found[1] or "", found[2] or ""
    for letter in on + off:
        if letter not in "is" and letter not in _IGNORED:
            raise UnknownModifier(letter, REASONS.get(letter, "leave it out: i, s and u are known"))
    modifiers = current
    if "i" in on + off:
        modifiers = replace(modifiers, ignore_case="i" not in off)
    if "s" in on + off:
        modifiers = replace(modifiers, dot=cs.DOT if "s" in off else cs.ANY)
    return ModifierHead(modifiers, found[3] == ")", found.end())
