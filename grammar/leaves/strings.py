"""Languages of JSON strings: length limits and quoting.

Does: build length automata; encode automata over code points (from `regex`, `formats`, `automata.words`) as quoted
bytes. Does not: read schemas.
"""

from functools import cache
from typing import Final

import numpy as np

from ..automata import BYTES, CODE_POINTS, DEFAULT, Dfa, Spelling, canonical, encode, everything

_QUOTE: Final = ord('"')


def lengths(low: int, high: int | None) -> Dfa:
    """Texts of `low` to `high` code points (None: unbounded); outcome 0.

    Raises:
        ConstraintTooLarge: more states than an automaton may have.
    """
    last = low if high is None else high
    DEFAULT.check(last + 1)
    table = np.arange(1, last + 2, dtype=np.int32).reshape(-1, 1)
    table[last] = last if high is None else -1
    outcome = np.where(np.arange(last + 1) >= low, 0, -1)
    zero = np.zeros(1, np.int32)
    # A chain is already minimal.
    return canonical(CODE_POINTS, zero, zero, table, outcome, minimise=False)


def quoted(chars: Dfa, spelling: Spelling) -> Dfa:
    """JSON strings with their quotes, for values in `chars` (over code points); outcomes kept.

    Raises:
        ConstraintTooLarge: more states than an automaton may have.
    """
    inside = encode(chars, spelling)
    size, width = inside.states, inside.table.shape[1]
    # State 0 reads the opening quote, states 1 to `size` are the inside, then one final state for each outcome.
    table = np.full((1 + size + len(inside.outcomes), width + 1), -1, np.int32)
    table[1 : 1 + size, :width] = np.where(inside.table >= 0, inside.table + 1, -1)
    classes = inside.class_of.copy()
    if classes[_QUOTE] >= 0:  # inside, the quote ends an escape
        table[:, width] = table[:, classes[_QUOTE]]
    classes[_QUOTE] = width
    table[0, width] = 1
    ends = np.full(len(table), -1, np.int32)
    for end, outcome in enumerate(inside.outcomes, 1 + size):
        table[1 + np.flatnonzero(inside.outcome == outcome), width] = end
        ends[end] = outcome
    return canonical(BYTES, np.arange(BYTES, dtype=np.int32), classes, table, ends, minimise=False)


@cache
def any_string(spelling: Spelling) -> Dfa:
    """Any JSON string with its quotes; outcome 0."""
    return quoted(everything(CODE_POINTS), spelling)
