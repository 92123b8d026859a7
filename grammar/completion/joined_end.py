"""Reuses the end that was found some tokens ago after the output deviated from it.

Does: append the rest of that end at once, or after a few of its bytes. Does not: search (`search`), which is used where
no place to join was found.
"""

from typing import Final

import numpy as np

from ..base.parts import Parts
from ..machine.cursor import Cursor
from .replacement import Replacement
from .rule_graph import RuleGraph

_MOST_SKIPPED: Final = 64  # bytes of an end that the output may have replaced
_LEADS: Final = (b"", b"0", b'"')  # bytes that a begun number or string may need first
_PROBE: Final = 12  # bytes that are tried first
_MOST_ENDS_TRIED: Final = 8  # ends that are tried whole


def joined_end(cursor: Cursor, graph: RuleGraph, end: bytes) -> Parts[bytes | None]:
    """An end that joins `end` after a few bytes: the output deviated from `end`, and the rest of `end` still fits.

    Texts in it that were seen meanwhile are replaced.
    """
    found, tries = (yield from Replacement(cursor, graph).text(end)), 0
    memories = len(cursor.memories)
    # Where texts are compared, a longer probe may be refused although its texts can be replaced.
    size = 1 if memories > 1 else _PROBE
    for lead in _LEADS if found is None else ():
        for skipped in range(min(len(end), _MOST_SKIPPED)):
            probe = lead + end[skipped : skipped + size]
            yield
            legal = cursor.read(np.frombuffer(probe, np.uint8).copy())
            cursor.memories.cut(memories)
            if legal:
                tries += 1
                found = yield from Replacement(cursor, graph).text(lead + end[skipped:])
                if found is not None or tries == _MOST_ENDS_TRIED:
                    return found
    return found
