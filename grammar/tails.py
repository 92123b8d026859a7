"""Where a text may no longer be begun, because only one that was written before could end it.

Does: of a text that must not come again, find the shortest beginning after which all of it is forced, so that whoever
refuses the text refuses that beginning, and nobody is led into a dead end. Does not: look at several texts together:
where few are all there are, rules keep them in their states.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import numpy as np

from .tables import FINAL

if TYPE_CHECKING:  # cursors hold tails
    from .cursor import Cursor

Start = Callable[[int], "Cursor"]  # a fresh cursor in a state, from which its output begins

_NUMERIC: Final = b"0123456789.eE"


class Tails:
    """The answers for the texts of one output and its forks, each found once."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, bytes], bytes | None] = {}

    def beginning(self, entry: int, text: bytes, start: Start) -> bytes | None:
        """The shortest beginning of a text, read from state `entry` on, that nothing else completes.

        None: there is always another way, or the text is none of those that can be read there.
        """
        key = entry, text
        if key not in self._known:
            self._known[key] = _beginning(entry, text, start)
        return self._known[key]


def _beginning(entry: int, text: bytes, start: Start) -> bytes | None:
    high, cursor = len(text), start(entry)
    if not _read(cursor, text):
        return None
    if cursor.state != FINAL:
        # Only numbers end without a byte of their own: it may be that they can go on.
        if any(cursor.read(np.array([byte], np.uint8)) for byte in _NUMERIC):
            return None
    else:
        high -= 1
        if not _forced(start(entry), text, high):
            return None
    low = 1  # if the rest is forced from some place on, it is from every later one
    while low < high:
        middle = (low + high) // 2
        if _forced(start(entry), text, middle):
            high = middle
        else:
            low = middle + 1
    return text[:high]


def _read(cursor: "Cursor", text: bytes) -> bool:
    known = np.frombuffer(text, np.uint8).copy()
    if not cursor.read(known):
        return False
    cursor.commit(known, 1)
    return True


def _forced(cursor: "Cursor", text: bytes, size: int) -> bool:
    """Whether every byte after the first `size` ones is the only one that can come there."""
    if not _read(cursor, text[:size]):
        return False
    rest, _ = cursor.force(len(text) - size)
    return rest == text[size:]
