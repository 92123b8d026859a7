"""Kinds of bytes, as bits: those in the tokens below a trie node, and those on which a leaf state loops.

Does: number the kinds; find those below each node of a trie, and those that leave a leaf in its state. Does not: walk.

Bytes beyond ASCII are one kind, `WELL_FORMED`, where they are whole characters, of which the last may be incomplete.
"""

from typing import Final

import numpy as np

from ..base.array_types import Bytes, Ints, Longs
from ..jit.kernel import kernel

WELL_FORMED: Final = 1
_STRAY: Final = 0  # of control characters, and of bytes that belong to no character
_FIRST_SINGLE: Final = 5  # from here on, a kind is one byte
_BROKEN: Final = -1


def byte_kinds() -> Ints:
    """int32 [256]: the kind of each byte: letters, digits, and other bytes that texts have in common, by themselves."""
    found, own = np.zeros(256, np.int32), _FIRST_SINGLE
    for byte in range(256):
        if byte >= 0x80:
            found[byte] = WELL_FORMED
        elif chr(byte).isalpha():
            found[byte] = 2 + chr(byte).isupper()
        elif chr(byte).isdigit():
            found[byte] = 4
        elif byte > 0x1F or byte in b"\t\n\r":
            found[byte] = own
            own += 1
    return found


@kernel
def _phase_after(phase: int | np.int64, byte: int | np.int64) -> int:
    """Where a UTF-8 text is within a character: 0 between two, else 256 * least + greatest next byte, ...; `_BROKEN`.

    The bytes after the next one are counted in the bits above.
    """
    if phase == 0:
        if byte < 0x80:
            return 0
        if 0xC2 <= byte < 0xE0:
            return 0x80BF
        if byte < 0xC2 or byte > 0xF4:
            return _BROKEN
        if byte < 0xF0:
            least = 0xA0 if byte == 0xE0 else 0x80
            most = 0x9F if byte == 0xED else 0xBF
            return (1 << 16) | (least << 8) | most
        least = 0x90 if byte == 0xF0 else 0x80
        most = 0x8F if byte == 0xF4 else 0xBF
        return (2 << 16) | (least << 8) | most
    if phase < 0 or byte < ((phase >> 8) & 255) or byte > (phase & 255):
        return _BROKEN
    more = int(phase >> 16)
    return ((more - 1) << 16) | 0x80BF if more else 0


@kernel
def contents(byte: Bytes, depth: Ints, skip: Ints, kind_of: Ints) -> Longs:
    """int64 [nodes]: the kinds of the bytes below each node of a trie."""
    nodes = len(byte)
    path, phase = np.zeros(nodes + 1, np.int64), np.zeros(nodes, np.int64)
    for node in range(1, nodes):
        before = path[depth[node] - 1] if depth[node] > 1 else 0
        phase[node] = path[depth[node]] = _phase_after(before, byte[node])
    found = np.zeros(nodes, np.int64)
    for node in range(nodes - 1, -1, -1):
        child = node + 1
        while child < skip[node]:
            # Below a node within a character bytes belong to what is before it, so no state is known to read them.
            kind = _STRAY if phase[node] else kind_of[byte[child]]
            if phase[child] == _BROKEN:
                kind = _STRAY
            own = found[child]
            if phase[child] > 0 and phase[node] == 0:
                own = _without_stray(skip, phase, child, found)
            found[node] |= own | (np.int64(1) << kind)
            child = skip[child]
    return found


@kernel
def _without_stray(skip: Ints, phase: Longs, root: int | np.int64, found: Longs) -> int:
    """The kinds below a node within a character, as seen from a node before that character."""
    kinds = np.int64(1) << WELL_FORMED
    node, end = root + 1, skip[root]
    while node < end:
        if phase[node] == _BROKEN:
            return int(kinds | (np.int64(1) << _STRAY))
        if phase[node] == 0:
            kinds |= found[node]
            node = np.int64(skip[node])
        else:
            node += 1
    return int(kinds)


@kernel
def stable_kinds(following: Ints, class_of: Ints, kind_of: Ints, width: int) -> Longs:
    """int64 [leaf states]: the kinds of bytes of which any text leaves the leaf in the same state."""
    states = len(following) // width
    found = np.zeros(states, np.int64)
    known = np.int64(0)
    for byte in range(128):
        known |= np.int64(1) << kind_of[byte]
    for state in range(states):
        kinds = known & ~(np.int64(1) << _STRAY)
        for byte in range(128):
            if following[state * width + class_of[byte]] != state:
                kinds &= ~(np.int64(1) << kind_of[byte])
        if kinds and _reads_characters(following, class_of, width, state):
            kinds |= np.int64(1) << WELL_FORMED
        found[state] = kinds
    return found


@kernel
def _reads_characters(following: Ints, class_of: Ints, width: int, state: int | np.int64) -> bool:
    """Whether every character beyond ASCII leads from a state back to it."""
    for lead in range(0xC2, 0xF5):
        phase = _phase_after(0, lead)
        reached = following[state * width + class_of[lead]]
        if reached < 0 or not _returns(following, class_of, width, reached, phase, state):
            return False
    return True


@kernel
def _returns(
    following: Ints,
    class_of: Ints,
    width: int,
    state: int | np.int64,
    phase: int | np.int64,
    home: int | np.int64,
) -> bool:
    """Whether every end of a character, of which `phase` is left, leads from a state to `home`."""
    known = -1
    for first in range((phase >> 8) & 255, (phase & 255) + 1):
        one = following[state * width + class_of[first]]
        if one == known:
            continue
        known = one
        if one < 0:
            return False
        if not phase >> 16:
            if one != home:
                return False
            continue
        for second in range(0x80, 0xC0):
            two = following[one * width + class_of[second]]
            if two < 0:
                return False
            if phase >> 16 == 1:
                if two != home:
                    return False
                continue
            for third in range(0x80, 0xC0):
                if following[two * width + class_of[third]] != home:
                    return False
    return True
