"""Longest suffix match: where the last tokens of a sequence occurred before, and what followed.

Does: find the longest suffix of one array in another, and the levels of a guess by it. Does not: keep arrays.

The earlier places are found by comparing arrays, one comparison for each token of the suffix. Each comparison leaves
fewer places, so the cost is that of the first: some microseconds for 2,000 tokens. No index is built.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

MOST_MATCHED: Final = 16
"""The longest suffix that is searched, in tokens; longer ones predict no better."""

LONGEST: Final = 8
"""Longer matches have the chances of this one."""

Tokens = npt.NDArray[np.int32]


def longest_match(known: Tokens, text: Tokens) -> tuple[npt.NDArray[np.intp], int]:
    """The places in `text`, ascending, where the longest suffix of `known` ends, and its length in tokens."""
    if not known.size:
        return np.zeros(0, np.intp), 0
    places = np.flatnonzero(text == known[-1])
    matched = int(places.size > 0)
    while 0 < matched < MOST_MATCHED and matched < known.size:
        longer = places[places >= matched]
        longer = longer[text[longer - matched] == known[known.size - 1 - matched]]
        if not longer.size:
            break
        places, matched = longer, matched + 1
    return places, matched


def levels(matched: int, count: int, *, unanimous: bool) -> tuple[int, ...]:
    """The levels of `count` tokens after a match of `matched` tokens, as `2 * (length - 1) + unanimous`.

    `unanimous`: all places of the match continue with the same token. After the first token of a guess, only
    places with that token are left.
    """
    return tuple(
        2 * (min(matched + at, LONGEST) - 1) + int(unanimous or at > 0) for at in range(count)
    )


def chances_by_level(divided: tuple[float, ...], unanimous: tuple[float, ...]) -> tuple[float, ...]:
    """The chances in the order of `levels`, from those by length."""
    return tuple(chance for pair in zip(divided, unanimous, strict=True) for chance in pair)
