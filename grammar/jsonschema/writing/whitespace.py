"""White space as states of a rule.

Does: give the white space after punctuation and before the content of a line, in every form. Does not: place
punctuation (`rules`).
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Final

from ...machine.rule import Expansion, Goto
from ..read.writing_options import Options

_BLANKS: Final = b" \t\n\r"
_MOST_BLANKS: Final = 64  # in one place, where the form allows any white space


@dataclass(frozen=True, slots=True)
class Line:
    """A line break and `blanks` spaces, then the state `inner`."""

    blanks: int
    inner: Hashable


@dataclass(frozen=True, slots=True)
class Blank:
    """Exactly `count` spaces, then the state `inner`."""

    count: int
    inner: Hashable


@dataclass(frozen=True, slots=True)
class Gap:
    """At most `count` blanks of any kind, then the state `inner`."""

    count: int
    inner: Hashable


class Spacing:
    """White space around values at one nesting depth (`depth` counts in the pretty form only; elsewhere it is 0)."""

    def __init__(self, options: Options, depth: int) -> None:
        self._options = options
        self.lines = options.pretty
        self.outer = depth * options.indent  # spaces before a closing bracket
        self.inner = self.outer + options.indent  # spaces before members and items

    def anywhere(self, inner: Hashable, sure: bool = False) -> Goto:
        """Continue at `inner`, after optional white space in the lenient form; `sure`: see `Goto`."""
        if self._options.lenient:
            return Goto(Gap(_MOST_BLANKS, inner), sure=sure)
        return Goto(inner, soon=True, sure=sure)

    def after_comma(self, inner: Hashable) -> Goto:
        """Continue with the next member or item."""
        if self.lines:
            return Goto(Line(self.inner, inner))
        return self._fixed(len(self._options.comma) - 1, inner)

    def after_colon(self, inner: Hashable) -> Goto:
        """Continue with the value of a member."""
        return self._fixed(len(self._options.colon) - 1, inner, sure=True)

    def _fixed(self, blanks: int, inner: Hashable, sure: bool = False) -> Goto:
        return Goto(Blank(blanks, inner), sure=sure) if blanks else self.anywhere(inner, sure)

    @staticmethod
    def indented(blanks: int, inner: Hashable) -> Goto:
        """Continue after exactly `blanks` spaces."""
        return Goto(Blank(blanks, inner) if blanks else inner)

    def expand(self, key: Line | Blank | Gap, expand: Callable[[Hashable], Expansion]) -> Expansion:
        """The expansion of a white-space state; `expand` gives that of the other states of the rule."""
        if isinstance(key, Line):
            return Expansion(((b"\n", self.indented(key.blanks, key.inner)),))
        if isinstance(key, Blank):
            return Expansion(((b" ", self.indented(key.count - 1, key.inner)),))
        inner = expand(key.inner)
        if not key.count:
            return inner
        more = (_BLANKS, Goto(Gap(key.count - 1, key.inner), needless=True))
        return Expansion((*inner.arcs, more), inner.call, inner.outcome)
