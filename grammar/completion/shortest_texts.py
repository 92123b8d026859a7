"""Shortest texts of a leaf: one for each outcome, or many in the order of their length.

Does: search an automaton from a state. Does not: know where the caller goes after an outcome (`search`).
"""

from collections.abc import Iterator
from heapq import heappop, heappush, merge
from itertools import islice
from typing import Final

import numpy as np

from ..automata import Dfa
from ..base.array_types import Ints
from ..jit.kernel import kernel

_PREFERRED: Final = bytes([*range(0x61, 0x7B), *range(0x30, 0x3A), *range(0x41, 0x5B), 0x20])
_ORDER: Final = [
    _PREFERRED.index(byte) if byte in _PREFERRED else 256 + byte for byte in range(256)
]
_BY_PREFERENCE: Final = sorted(range(256), key=_ORDER.__getitem__, reverse=True)
_QUOTE: Final = ord('"')
# How a string, or else a number, may begin, byte by byte.
_BEGINNINGS: Final = (b'"', b"aA0", b"eE1"), (b"1", b"2", b".", b"5")
_FEW: Final = 16  # texts for each kind of first byte
_MANY: Final = 128  # characters of a string
_MOST_OF_CLASS: Final = 8  # bytes tried of one class
_LONGER: Final = 1.05  # ratio of the lengths of successive long texts
_LONGEST: Final = 1 << 16  # bytes


@kernel
def _tree(table: Ints, start: int, first: Ints) -> tuple[Ints, Ints, Ints, int]:
    """(states in the order of their distance from `start`, parents, classes read last, number of states).

    The first step takes only classes c with `first[c]` not 0. The start itself is not listed.
    """
    order = np.empty(len(table) + 1, np.int32)
    parent = np.full(len(table), -2, np.int32)
    read = np.full(len(table), -1, np.int32)
    size, at = 0, -1
    while at < size:
        s = start if at < 0 else order[at]
        at += 1
        for c in range(table.shape[1]):
            t = table[s, c]
            if t >= 0 and parent[t] == -2 and (at > 0 or first[c] != 0):
                parent[t] = -1 if at == 0 else s
                read[t] = c
                order[size] = t
                size += 1
    return order, parent, read, size


def texts_from(dfa: Dfa, state: int, taken: bytes) -> Iterator[tuple[int, bytes]]:
    """(outcome, a shortest non-empty text of it from `state` that begins with a byte of `taken`)."""
    class_of = dfa.class_of
    open_ = np.zeros(dfa.table.shape[1] + 1, np.int32)
    open_[class_of[np.frombuffer(taken, np.uint8)]] = 1
    order, parent, read, size = _tree(dfa.table, state, open_[:-1].copy())
    reached = order[:size]
    outcomes = dfa.outcome[reached]
    ending = np.flatnonzero(outcomes >= 0)
    _, places = np.unique(outcomes[ending], return_index=True)
    byte_of = _representatives(class_of, bytes(range(256)))
    first_of = _representatives(class_of, taken)
    for place in np.sort(ending[places]).tolist():
        at, text = int(reached[place]), bytearray()
        while at != -1:
            before = int(parent[at])
            text.append((first_of if before == -1 else byte_of)[int(read[at])])
            at = before
        yield int(outcomes[place]), bytes(text[::-1])


def usual_text(dfa: Dfa) -> tuple[int, bytes]:
    """(outcome, text) of a typical short text: it begins with a quote and letters, or with digits."""
    text, state = bytearray(), 0
    for wanted in _BEGINNINGS[int(dfa.step(0, _QUOTE) < 0)]:
        for byte in wanted:
            after = dfa.step(state, byte)
            if after >= 0:
                text.append(byte)
                state = after
                break
    byte_of = _representatives(dfa.class_of, bytes(range(256))) if dfa.distance[state] else {}
    outcome, rest = _nearest_end(dfa, state, byte_of)
    return outcome, bytes(text) + rest


def preferred_byte(taken: bytes) -> bytes:
    """One of these bytes: a letter, digit or space if there is one."""
    return min(taken, key=_ORDER.__getitem__).to_bytes()


def _representatives(class_of: Ints, among: bytes) -> dict[int, int]:
    """For each class, its preferred byte among these bytes."""
    if len(among) == len(_BY_PREFERENCE):
        return dict(zip(class_of[_BY_PREFERENCE].tolist(), _BY_PREFERENCE, strict=True))
    found: dict[int, int] = {}
    for byte in sorted(among, key=_ORDER.__getitem__, reverse=True):
        found[int(class_of[byte])] = byte
    return found


def next_bytes(dfa: Dfa, state: int) -> Iterator[bytes]:
    """Some bytes of each class that continues from a state; where a text may end, also all bytes that do not."""
    row = np.append(dfa.table[state], -1)
    among = _bytes_of_classes(dfa)
    yield from (bytes([byte]) for c in among if row[c] >= 0 for byte in among[c])
    if dfa.outcome[state] >= 0:
        yield from (bytes([byte]) for byte in np.flatnonzero(row[dfa.class_of] < 0).tolist())


def _bytes_of_classes(dfa: Dfa, most: int = _MOST_OF_CLASS) -> dict[int, list[int]]:
    """Up to `most` bytes of each class, letters and digits first."""
    among: dict[int, list[int]] = {}
    for byte in sorted(range(256), key=_ORDER.__getitem__):
        c = int(dfa.class_of[byte])
        if c >= 0 and len(among.setdefault(c, [])) < most:
            among[c].append(byte)
    return among


def judged_texts(dfa: Dfa, taken: bytes) -> Iterator[tuple[int, bytes]]:
    """(outcome, text) of short texts that a judge may tell apart, shortest first; the first byte is one of `taken`.

    A few texts of letters and digits, and all of one character in quotes: what lacks a format often does so for a sign.
    """
    firsts = [
        byte for byte in _representatives(dfa.class_of, taken).values() if dfa.step(0, byte) >= 0
    ]
    ways = [islice(in_order(dfa, bytes([first]), _FEW), _FEW) for first in firsts]
    if _QUOTE in firsts:
        ways.append(islice(in_order(dfa, bytes([_QUOTE]), _MANY, of_class=_MANY), _MANY))
    return merge(*ways, key=lambda found: len(found[1]))


def in_order(
    dfa: Dfa, text: bytes, most: int, longest: int = _LONGEST, of_class: int = _MOST_OF_CLASS
) -> Iterator[tuple[int, bytes]]:
    """(outcome, text) of texts that begin with `text`: up to `most` short ones, shortest first, then some long ones.

    `of_class`: how many bytes represent all bytes of a class. `longest`: approximate length of the longest text, in
    bytes.
    """
    state, among = 0, _bytes_of_classes(dfa, of_class)
    for byte in text:
        state = int(dfa.table[state, dfa.class_of[byte]])
    heap, begun = [(int(dfa.distance[state]), text, state)], state
    while heap and most > 0:
        _, text_so_far, state = heappop(heap)
        if dfa.outcome[state] >= 0 and text_so_far:
            most -= 1
            yield int(dfa.outcome[state]), text_so_far
        for c in np.flatnonzero(dfa.table[state] >= 0).tolist():
            target = int(dfa.table[state, c])
            far = len(text_so_far) + 1 + int(dfa.distance[target])
            for byte in among.get(c, ()):
                heappush(heap, (far, text_so_far + bytes([byte]), target))
    if heap:
        yield from _long(dfa, text, begun, longest)


def _long(dfa: Dfa, text: bytes, state: int, longest: int) -> Iterator[tuple[int, bytes]]:
    """(outcome, text) of texts of growing length: a path of states that can continue forever, then the nearest end."""
    endless = np.ones(dfa.states + 1, np.bool_)
    endless[-1], before = False, -1
    while before != (before := int(endless.sum())):
        endless[:-1] &= endless[dfa.table].any(axis=1)
    byte_of = {c: bytes_[0] for c, bytes_ in _bytes_of_classes(dfa).items()}
    text_so_far, next_length = bytearray(text), 1.0
    while endless[state] and len(text_so_far) < longest:
        if len(text_so_far) >= next_length:
            end = _nearest_end(dfa, state, byte_of)
            yield end[0], bytes(text_so_far) + end[1]
            next_length = len(text_so_far) * _LONGER + 1
        going = np.flatnonzero(endless[dfa.table[state]]).tolist()
        c = min(going, key=lambda c: _ORDER[byte_of[c]])
        text_so_far.append(byte_of[c])
        state = int(dfa.table[state, c])


def _nearest_end(dfa: Dfa, state: int, byte_of: dict[int, int]) -> tuple[int, bytes]:
    """(outcome, text) of a shortest text from a state."""
    text_so_far = bytearray()
    while dfa.distance[state] > 0:
        row = dfa.table[state]
        nearer = (row >= 0) & (dfa.distance[row] == dfa.distance[state] - 1)
        c = int(np.flatnonzero(nearer)[0])
        text_so_far.append(byte_of[c])
        state = int(row[c])
    return int(dfa.outcome[state]), bytes(text_so_far)
