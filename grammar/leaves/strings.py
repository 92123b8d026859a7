"""Languages of JSON strings and keys.

Does: lengths, quoting, keys that end in a colon. What a string says is an automaton over code points (`regex`,
`formats`, `automata.words`), combined there by `automata`; here it becomes bytes. Does not: read schemas.
"""

import numpy as np

from ..automata import BYTES, CODE_POINTS, DEFAULT, Dfa, Limits, Spelling, canonical, encode


def lengths(low: int, high: int | None, limits: Limits = DEFAULT) -> Dfa:
    """Texts of `low` to `high` code points (None: any number more); outcome 0.

    Raises:
        ConstraintTooLarge: a bound above `limits.states`.
    """
    last = low if high is None else high
    limits.check(last + 1)
    table = np.arange(1, last + 2, dtype=np.int32).reshape(-1, 1)
    table[last] = last if high is None else -1
    outcome = np.where(np.arange(last + 1) >= low, 0, -1)
    zero = np.zeros(1, np.int32)
    # A chain is minimal as it stands.
    return canonical(CODE_POINTS, zero, zero, table, outcome, minimise=False)


def quoted(
    chars: Dfa,
    spelling: Spelling = Spelling.JSON_CANONICAL,
    tail: bytes = b"",
    limits: Limits = DEFAULT,
) -> Dfa:
    """JSON strings whose value is in `chars`, outcomes kept, and `tail` (a key's colon) after the closing quote.

    Raises:
        ConstraintTooLarge: more states than `limits` allow.
    """
    inside = encode(chars, spelling, limits)
    closing = b'"' + tail
    size, width = inside.states, inside.table.shape[1]
    # State 0 opens the quotes, 1 to `size` are the inside, then come, for each outcome, the states of what closes.
    table = np.full(
        (1 + size + len(closing) * len(inside.outcomes), width + len(closing)), -1, np.int32
    )
    table[1 : 1 + size, :width] = np.where(inside.table >= 0, inside.table + 1, -1)
    classes = inside.class_of.copy()
    column = {byte: width + i for i, byte in enumerate(dict.fromkeys(closing))}
    for byte, own in column.items():
        if classes[byte] >= 0:
            table[:, own] = table[:, classes[byte]]
        classes[byte] = own
    table[0, column[0x22]] = 1
    ends = np.full(len(table), -1, np.int32)
    for i, outcome in enumerate(inside.outcomes):
        state = 1 + size + i * len(closing)
        table[1 + np.flatnonzero(inside.outcome == outcome), column[0x22]] = state
        for byte in tail:
            table[state, column[byte]] = state + 1
            state += 1
        ends[state] = outcome
    return canonical(BYTES, np.arange(BYTES, dtype=np.int32), classes, table, ends, minimise=False)
