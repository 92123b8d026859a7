"""Case-insensitive sets of characters.

Does: add to a set every character that differs from a member in case only, by Unicode's simple case folding. Does not:
fold one character to several (`ß` to `ss`).
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Final

from . import charset as cs
from .charset import Charset

_LAST_CASED: Final = 0x1E943  # no later letter has another case


@lru_cache(maxsize=256)
def in_any_case(charset: Charset) -> Charset:
    """The set with all cases of its letters."""
    lows = [low for low, _ in charset]
    added = []
    for point, others in _other_cases().items():
        place = bisect_right(lows, point) - 1
        if place >= 0 and point <= charset[place][1]:
            added += [(other, other) for other in others]
    return cs.of([*charset, *added])


@cache
def _other_cases() -> Mapping[int, tuple[int, ...]]:
    """For each letter, the letters that have the same simple case folding."""
    letters: dict[str, list[int]] = defaultdict(list)
    for point in range(_LAST_CASED + 1):
        letters[_simple_folding(chr(point))].append(point)
    return {
        point: tuple(other for other in alike if other != point)
        for alike in letters.values()
        if len(alike) > 1
        for point in alike
    }


def _simple_folding(letter: str) -> str:
    """The folding of statuses C and S in Unicode's CaseFolding.txt; Python has the full one, which may be longer."""
    return next((each for each in (letter.casefold(), letter.lower()) if len(each) == 1), letter)
