"""Patterns and formats as questions about one string, answered in linear time by the automata the leaves use.

Does: run automata over text. Does not: fall back on a backtracking engine.
"""

from .. import regex
from ..leaves import formats


class Predicates:
    """See `evaluate.Strings`."""

    def matches(self, pattern: str, text: str) -> bool:
        """Whether the ECMA-262 `pattern` matches somewhere in `text`.

        Raises:
            InvalidConstraint, UnsupportedConstraint, ConstraintTooLarge: the pattern cannot be compiled.
        """
        return regex.search(pattern).judge(map(ord, text)) >= 0

    def has_format(self, name: str, text: str) -> bool:
        """Whether `text` has the format."""
        return formats.holds(name, text)
