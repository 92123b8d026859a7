"""The longest periodic suffix of a sequence.

Does: find that suffix and its period, in linear time. Does not: know tokens, texts or when a repetition is a fault
(`loop_detection`).
"""

from collections.abc import Hashable, Sequence
from typing import NamedTuple


class Repetition(NamedTuple):
    """The last `length` items repeat every `period` items."""

    length: int
    period: int

    @property
    def times(self) -> int:
        """The number of whole periods."""
        return self.length // self.period


def repetition(items: Sequence[Hashable], *, least: int, times: int) -> Repetition | None:
    """The longest suffix of `items` that contains its period at least `times` times and has at least `least` items.

    By the prefix function (Knuth, Morris, Pratt) of the reversed sequence: the shortest period of its first n items is
    n minus the length of the longest proper prefix of them that is their suffix as well.
    """
    back = items[::-1]
    border = [0] * len(back)
    found, matched = None, 0
    for at in range(1, len(back)):
        while matched and back[at] != back[matched]:
            matched = border[matched - 1]
        if back[at] == back[matched]:
            matched += 1
        border[at] = matched
        length = at + 1
        if length >= least and length >= times * (length - matched):
            found = Repetition(length, length - matched)
    return found
