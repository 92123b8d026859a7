"""Patterns and formats as questions about one string, answered in linear time by the automata the leaves use.

Does: run automata over text. Does not: fall back on a backtracking engine.
"""

from functools import cache

from .. import regex
from ..automata import Dfa


class Predicates:
    """See `evaluate.Strings`."""

    def matches(self, pattern: str, text: str) -> bool:
        """Whether the ECMA-262 `pattern` matches somewhere in `text`.

        Raises:
            InvalidConstraint, UnsupportedConstraint, ConstraintTooLarge: the pattern cannot be compiled.
        """
        return _judge(regex.search(pattern), text)

    def has_format(self, name: str, text: str) -> bool:
        """Whether `text` has the format."""
        return _judge(_format(name), text)


@cache
def _format(name: str) -> Dfa:
    from ..leaves import formats

    return formats.language(name)


def _judge(dfa: Dfa, text: str) -> bool:
    return dfa.judge(map(ord, text)) >= 0
