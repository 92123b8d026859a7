"""Shortest texts of a leaf: one of each outcome, or all of one in the order of their length.

Does: search an automaton from a state. Does not: know what its caller does with an outcome (`ways`).
"""

from collections.abc import Iterator
from heapq import heappop, heappush
from typing import Final

import numpy as np

from ..automata import Dfa
from ..base.array_types import Ints
from ..jit.kernel import kernel

_LIKED: Final = bytes([*range(0x61, 0x7B), *range(0x30, 0x3A), *range(0x41, 0x5B), 0x20])
_ORDER: Final = [_LIKED.index(byte) if byte in _LIKED else 256 + byte for byte in range(256)]
_BY_TASTE: Final = sorted(range(256), key=_ORDER.__getitem__, reverse=True)
_QUOTE: Final = ord('"')
# What a string, or else a number, may begin with, byte by byte.
_BEGINNINGS: Final = (b'"', b"aA0", b"eE1"), (b"1", b"2", b".", b"5")
_MOST_LIKED: Final = 8  # bytes of one class that are tried
_LONGER: Final = 1.05  # how much longer each long text is than the one before
_LONGEST: Final = 1 << 16  # bytes


@kernel
def _tree(table: Ints, start: int, first: Ints) -> tuple[Ints, Ints, Ints, int]:
    """(states in the order of their distance from `start`, parent, class read last, how many).

    The first step is only taken by classes c with `first[c]` not 0. The start itself is not listed.
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
    """(outcome, a shortest text of it after `state`, not empty, that begins with a byte of `taken`)."""
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
    """(outcome, a text) that begins as most do, with a quote and letters or with digits, and then ends soon."""
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
    """One of these bytes: a letter, digit or blank if there is one."""
    return min(taken, key=_ORDER.__getitem__).to_bytes()


def _representatives(class_of: Ints, among: bytes) -> dict[int, int]:
    """Of each class that has any of these bytes one to take."""
    if len(among) == len(_BY_TASTE):
        return dict(zip(class_of[_BY_TASTE].tolist(), _BY_TASTE, strict=True))
    found: dict[int, int] = {}
    for byte in sorted(among, key=_ORDER.__getitem__, reverse=True):
        found[int(class_of[byte])] = byte
    return found


def next_bytes(dfa: Dfa, state: int) -> Iterator[bytes]:
    """Bytes that go on from a state, some for all alike; where a text may end, all others too."""
    row = np.append(dfa.table[state], -1)
    among = _among(dfa)
    yield from (bytes([byte]) for c in among if row[c] >= 0 for byte in among[c])
    if dfa.outcome[state] >= 0:
        yield from (bytes([byte]) for byte in np.flatnonzero(row[dfa.class_of] < 0).tolist())


def _among(dfa: Dfa) -> dict[int, list[int]]:
    """Of each class some bytes, letters and digits first."""
    among: dict[int, list[int]] = {}
    for byte in sorted(range(256), key=_ORDER.__getitem__):
        c = int(dfa.class_of[byte])
        if c >= 0 and len(among.setdefault(c, [])) < _MOST_LIKED:
            among[c].append(byte)
    return among


def in_order(
    dfa: Dfa, text: bytes, most: int, longest: int = _LONGEST
) -> Iterator[tuple[int, bytes]]:
    """(outcome, text) of texts that begin like `text`: the shortest, at most so many, then some long ones.

    Some bytes stand for all alike. `longest`: bytes of the long ones, about.
    """
    state, among = 0, _among(dfa)
    for byte in text:
        state = int(dfa.table[state, dfa.class_of[byte]])
    heap, begun = [(int(dfa.distance[state]), text, state)], state
    while heap and most > 0:
        _, said, state = heappop(heap)
        if dfa.outcome[state] >= 0 and said:
            most -= 1
            yield int(dfa.outcome[state]), said
        for c in np.flatnonzero(dfa.table[state] >= 0).tolist():
            target = int(dfa.table[state, c])
            far = len(said) + 1 + int(dfa.distance[target])
            for byte in among.get(c, ()):
                heappush(heap, (far, said + bytes([byte]), target))
    if heap:
        yield from _long(dfa, text, begun, longest)


def _long(dfa: Dfa, text: bytes, state: int, longest: int) -> Iterator[tuple[int, bytes]]:
    """(outcome, text) of texts of growing length: those that never have to end are gone along, then the nearest end."""
    endless = np.ones(dfa.states + 1, np.bool_)
    endless[-1], before = False, -1
    while before != (before := int(endless.sum())):
        endless[:-1] &= endless[dfa.table].any(axis=1)
    byte_of = {c: bytes_[0] for c, bytes_ in _among(dfa).items()}
    said, next_length = bytearray(text), 1.0
    while endless[state] and len(said) < longest:
        if len(said) >= next_length:
            end = _nearest_end(dfa, state, byte_of)
            yield end[0], bytes(said) + end[1]
            next_length = len(said) * _LONGER + 1
        going = np.flatnonzero(endless[dfa.table[state]]).tolist()
        c = min(going, key=lambda c: _ORDER[byte_of[c]])
        said.append(byte_of[c])
        state = int(dfa.table[state, c])


def _nearest_end(dfa: Dfa, state: int, byte_of: dict[int, int]) -> tuple[int, bytes]:
    """(outcome, a shortest text) from a state."""
    said = bytearray()
    while dfa.distance[state] > 0:
        row = dfa.table[state]
        nearer = (row >= 0) & (dfa.distance[row] == dfa.distance[state] - 1)
        c = int(np.flatnonzero(nearer)[0])
        said.append(byte_of[c])
        state = int(row[c])
    return int(dfa.outcome[state]), bytes(said)
