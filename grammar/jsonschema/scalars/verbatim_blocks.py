"""Blocks of states of verbatim strings: their beginnings, and runs of characters without an alternative.

Does: find, in a few array operations, the states that a mask surely needs next. Does not: follow single characters
(`verbatim_strings`), which is right everywhere but takes long for thousands of states.
"""

from collections.abc import Iterable
from typing import Final

import numpy as np

from ...base.array_types import Ints, Longs
from ...machine.rule import Block
from .suffix_ranges import InDocument, SuffixRange, spelled

_LEVELS: Final = 2  # characters of the beginnings made together
_MOST: Final = 12_000  # beginnings made together
_MANY: Final = 64  # suffixes from which on a string has beginnings worth a block
_FEW: Final = 32  # suffixes up to which a run without an alternative is searched
_RUN: Final = 24  # characters of such a run
_QUOTE: Final = ord('"')
_RAW: Final = 0x80

_NO_ARC: Final[Longs] = np.zeros(0, np.int64)
_PLAIN: Final = np.array([c >= ord(" ") and chr(c) not in '"\\' for c in range(_RAW)] + [False])
"""bool: whether a character is one byte within quotes; the last entry stands for all others."""

_Arcs = tuple[Longs, Ints | Longs, Longs]
"""The owner, the byte and the target of each arc, by the index of the state."""
_Level = tuple[Longs, Longs, Longs]
"""The states with one number of characters: their indices, and the `low` and `high` of each."""


def block_after(at: InDocument, suffixes: SuffixRange) -> Block | None:
    """The block of states after `at`; None where it would not pay. The outcome of every string is 0."""
    if at.begun or at.high - at.low == 0:
        return None
    if at.length == 0 and at.high - at.low >= _MANY:
        return _beginnings(at, suffixes)
    return _run(at, suffixes) if at.high - at.low <= _FEW else None


def _run(at: InDocument, suffixes: SuffixRange) -> Block | None:
    """The states along the characters that all suffixes share."""
    ahead = _RUN if suffixes.most is None else min(_RUN, suffixes.most - at.length)
    first, last = (int(suffixes.order[i]) + at.length for i in (at.low, at.high - 1))
    text, other = suffixes.codes[first : first + ahead], suffixes.codes[last : last + ahead]
    size = min(len(text), len(other))
    text = text[:size]
    goes_on = (text == other[:size]) & _PLAIN[np.minimum(text.view(np.uint32), _RAW)]
    count = size if goes_on.all() else int(goes_on.argmin())
    if count < 2:
        return None
    low, high, length = at.low, at.high, at.length
    keys = [InDocument(low, high, length + i) for i in range(1, count + 1)]
    whole = np.ones(count, np.bool_)
    whole[-1] = False
    places = np.arange(count, dtype=np.int32)
    return Block(
        keys,
        np.append(places, count - 1),
        text[1:count].astype(np.uint8),
        places[1:],
        _QUOTE,
        np.where(places + (length + 1) >= suffixes.least, 0, -1).astype(np.int32),
        whole,
    )


def _beginnings(at: InDocument, suffixes: SuffixRange) -> Block:
    """The states of all strings of a few characters; `at` is among them, but the machine knows it already."""
    keys, whole = [at], [_NO_ARC]
    arcs: list[_Arcs] = [(_NO_ARC, _NO_ARC, _NO_ARC)]
    states: _Level = np.array([0]), np.array([at.low]), np.array([at.high])
    for length in range(_LEVELS if suffixes.most is None else min(_LEVELS, suffixes.most)):
        owner, code, low, high = _following(suffixes, states, length)
        if len(keys) + len(code) > _MOST:
            break
        plain = _PLAIN[np.minimum(code.view(np.uint32), _RAW)]
        made = len(keys) + np.arange(int(plain.sum()))
        whole.append(states[0])
        arcs.append((states[0][owner[plain]], code[plain], made))
        ranges = zip(low[plain].tolist(), high[plain].tolist(), strict=True)
        keys += [InDocument(*each, length + 1) for each in ranges]
        others = zip(*(each[~plain].tolist() for each in (owner, code, low, high)), strict=True)
        arcs.append(_add_begun(keys, states, others, length))
        states = made, low[plain], high[plain]
    expanded = np.zeros(len(keys), np.bool_)
    expanded[np.concatenate(whole)] = True
    owner, taken, target = (np.concatenate(part) for part in zip(*arcs, strict=True))
    by_owner = np.argsort(owner, kind="stable")
    closes = [not key.begun and key.length >= suffixes.least for key in keys]
    return Block(
        keys,
        np.searchsorted(owner[by_owner], np.arange(len(keys) + 1)).astype(np.int32),
        taken[by_owner].astype(np.uint8),
        target[by_owner].astype(np.int32),
        _QUOTE,
        np.where(closes, 0, -1).astype(np.int32),
        expanded,
    )


def _following(
    suffixes: SuffixRange, states: _Level, length: int
) -> tuple[Longs, Ints, Longs, Longs]:
    """(owner, code, low, high) for each character after each state of `length` characters.

    `states`: (indices, lows, highs). `owner`: the place of the state in these arrays.
    """
    _, lows, highs = states
    sizes = highs - lows
    owner = np.repeat(np.arange(len(lows)), sizes)
    rank = np.arange(len(owner)) + np.repeat(lows - (np.cumsum(sizes) - sizes), sizes)
    column = suffixes.codes[suffixes.order[rank] + length]
    first = np.flatnonzero((np.diff(column, prepend=-2) != 0) | (np.diff(owner, prepend=-1) != 0))
    last = np.append(first[1:], len(owner)) - 1
    kept = column[first] >= 0
    first, last = first[kept], last[kept]
    return owner[first], column[first], rank[first], rank[last] + 1


def _add_begun(
    keys: list[InDocument],
    states: _Level,
    characters: Iterable[tuple[int, int, int, int]],
    length: int,
) -> _Arcs:
    """Add the states within characters of several bytes; the arcs to them as (owners, bytes, targets).

    `characters`: (owner, code, low, high) as `_following` gives them.
    """
    found: dict[tuple[int, int], InDocument] = {}
    for owner, code, low, high in characters:
        begun = spelled(code)[:1]
        place = int(states[0][owner]), begun[0]
        if code < _RAW:  # escapes with one beginning are not neighbours in the order
            low, high = int(states[1][owner]), int(states[2][owner])
        elif place in found:
            low = found[place].low
        found[place] = InDocument(low, high, length, begun)
    made = len(keys) + np.arange(len(found))
    keys += found.values()
    owners, taken = np.array([*found], np.int64).reshape(-1, 2).T
    return owners, taken, made
