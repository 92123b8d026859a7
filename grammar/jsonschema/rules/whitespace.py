"""White space as states of a rule.

Does: say what stands after punctuation and before a line's content, in every form. Does not: place punctuation
(`rules`).
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Final

from ...machine.rule import Expansion, Goto
from ..read.writing_options import Options

_BLANKS: Final = b" \t\n\r"
_MOST_BLANKS: Final = 64  # in one place, where any may stand


@dataclass(frozen=True, slots=True)
class Line:
    """A line end and so many blanks, then `inner`."""

    blanks: int
    inner: Hashable


@dataclass(frozen=True, slots=True)
class Blank:
    """`count` blanks exactly, then `inner`."""

    count: int
    inner: Hashable


@dataclass(frozen=True, slots=True)
class Gap:
    """At most `count` blanks of any kind, then `inner`."""

    count: int
    inner: Hashable


class Spacing:
    """White space around values that have so many containers around them (in the pretty form; in others 0)."""

    def __init__(self, options: Options, depth: int) -> None:
        self._options = options
        self.lines = options.pretty
        self.outer = depth * options.indent  # blanks before what closes a container
        self.inner = self.outer + options.indent  # blanks before its members and items

    def anywhere(self, inner: Hashable, sure: bool = False) -> Goto:
        """Go on after white space, where it may stand anywhere; `sure`: see `Goto`."""
        if self._options.lenient:
            return Goto(Gap(_MOST_BLANKS, inner), sure=sure)
        return Goto(inner, soon=True, sure=sure)

    def after_comma(self, inner: Hashable) -> Goto:
        """Go on with the next member or item."""
        if self.lines:
            return Goto(Line(self.inner, inner))
        return self._fixed(len(self._options.comma) - 1, inner)

    def after_colon(self, inner: Hashable) -> Goto:
        """Go on with a member's value."""
        return self._fixed(len(self._options.colon) - 1, inner, sure=True)

    def _fixed(self, blanks: int, inner: Hashable, sure: bool = False) -> Goto:
        return Goto(Blank(blanks, inner), sure=sure) if blanks else self.anywhere(inner, sure)

    @staticmethod
    def indented(blanks: int, inner: Hashable) -> Goto:
        """Go on after so many blanks."""
        return Goto(Blank(blanks, inner) if blanks else inner)

    def expand(self, key: Line | Blank | Gap, expand: Callable[[Hashable], Expansion]) -> Expansion:
        """What can come next; `expand` says it of the other states of the rule."""
        if isinstance(key, Line):
            return Expansion(((b"\n", self.indented(key.blanks, key.inner)),))
        if isinstance(key, Blank):
            return Expansion(((b" ", self.indented(key.count - 1, key.inner)),))
        inner = expand(key.inner)
        if not key.count:
            return inner
        more = (_BLANKS, Goto(Gap(key.count - 1, key.inner)))
        return Expansion((*inner.arcs, more), inner.call, inner.outcome)
