"""Look-ahead in device tables: the bytes to the end of an output, and the states with a single legal byte.

Does: compute, once for each grammar, the fewest bytes from every state to the end of its rule with each outcome, and
add them up over a stack. Does not: find the text that ends an output (`shortest_end`).

Every number is the length of a text that exists: the numbers start as unknown and only fall to the length over an
actual move (value iteration over rules; Knuth, "A generalization of Dijkstra's algorithm", 1977).
"""

from typing import Final

import numpy as np

from ..base.array_types import Bytes, Ints
from ..jit.kernel import kernel
from .device_tables import CALLS, END_COLUMN, ENDS, NO_BYTE, Lookahead
from .table_step import FIRST_COLUMN, MOST_CALLS, Codes, Whole, step

UNKNOWN: Final = 1 << 29  # two of these can be added without overflow
SEVERAL: Final = -1
ASK: Final = -2
_MOST: Final = 1 << 21  # numbers kept for one grammar
_MOST_SWEEPS: Final = 64  # five are usual


def lookahead(codes: Codes, column_of: Bytes, start: int) -> Lookahead:
    """Compute the `Lookahead` of tables."""
    begins = np.append(codes.sites[:, 1], np.int32(len(codes.returns))).astype(np.int32)
    counts = np.diff(begins)
    rules = _rules(codes, counts, start)
    most = _outcomes(codes, counts, rules)
    sizes = most[rules]
    outcomes = np.zeros(len(codes.returns) + 1, np.int32)
    first = np.zeros(len(rules) + 1, np.int32)
    if sizes.sum(dtype=np.int64) <= _MOST:
        np.cumsum(sizes, out=first[1:])
        np.maximum.at(outcomes, codes.sites[:, 1], most[codes.sites[:, 0] - 1])
    columns = column_of[:NO_BYTE]
    byte_of = np.zeros(codes.cells.shape[1], np.uint8)
    byte_of[columns] = np.arange(NO_BYTE)
    bytes_in = np.bincount(columns, minlength=len(byte_of)).astype(np.int32)
    only = _only(codes, bytes_in)
    lengths = np.full(first[-1], UNKNOWN, np.int32)
    found = Lookahead(first, lengths, outcomes, only, byte_of, bytes_in)
    rests = np.empty((MOST_CALLS + 1, int(sizes.max())), np.int32)
    for _ in range(_MOST_SWEEPS if len(found.bytes) else 0):
        if not _sweep(codes, found, rests):
            break
    return found


@kernel
def _rules(codes: Codes, counts: Ints, start: int) -> Ints:
    """By state, the first state of its rule. `counts`: the number of returns of each site."""
    cells, sites, returns = codes
    rule = np.full(len(cells), -1, np.int32)
    todo = np.empty(len(cells), np.int32)
    for i in range(-1, len(sites)):
        begin = np.int64(start) if i < 0 else np.int64(sites[i, 0]) - 1
        if rule[begin] >= 0:
            continue
        rule[begin], todo[0], height = begin, begin, 1
        while height:
            height -= 1
            s = todo[height]
            for c in range(FIRST_COLUMN, cells.shape[1]):
                cell = np.int64(cells[s, c])
                site = (-1 - cell) >> 2
                calls = cell < 0 and (-1 - cell) & 3 == CALLS
                for j in range(counts[site] if calls else 1):
                    target = np.int64(returns[sites[site, 1] + j]) if calls else cell
                    if target > 0 and rule[target - 1] < 0:
                        rule[target - 1], todo[height] = begin, target - 1
                        height += 1
    return rule


@kernel
def _outcomes(codes: Codes, counts: Ints, rules: Ints) -> Ints:
    """The number of outcomes of each rule, by its first state."""
    cells, sites, returns = codes
    most = np.zeros(len(cells), np.int32)
    for i in range(len(sites)):
        entry = rules[sites[i, 0] - 1]
        most[entry] = max(most[entry], counts[i])
    for s in range(len(cells)):
        owner = rules[s]
        for c in range(cells.shape[1]):
            cell = np.int64(cells[s, c])
            value = (-1 - cell) >> 2
            calls = cell < 0 and (-1 - cell) & 3 == CALLS
            for j in range(counts[value] if calls else 1):
                end = np.int64(returns[sites[value, 1] + j]) if calls else cell
                if end < 0:
                    most[owner] = max(most[owner], ((-1 - end) >> 2) + 1)
    return most


@kernel
def _only(codes: Codes, bytes_in: Ints) -> Ints:
    """`Lookahead.only`, by state."""
    cells, calls = codes.cells, np.empty(MOST_CALLS, np.int32)
    only = np.full(len(cells), SEVERAL, np.int32)
    for s in range(len(cells)):
        column, sure, unsure = SEVERAL, 0, 0
        for c in range(FIRST_COLUMN, cells.shape[1]):
            if cells[s, END_COLUMN] != 0 or sure > 1 or cells[s, c] == 0 or bytes_in[c] == 0:
                continue
            to = step(codes, calls[:0], 0, s, c, calls)
            if to.outcome >= 0:
                column, unsure = c, unsure + bytes_in[c]
            elif to.state >= 0:
                column, sure = c, sure + bytes_in[c]
        if sure <= 1 and unsure + sure == 1:
            only[s] = column
        elif sure <= 1 and unsure:
            only[s] = ASK
    return only


@kernel
def after_outcomes(returns: Ints, known: Lookahead, begin: int, rest: Ints, out: Ints) -> int:
    """Write to `out` the bytes to the end after each outcome of a rule that returns to `begin`; their number.

    `rest`: the bytes to the end after each outcome of its caller.
    """
    for o in range(known.outcomes[begin]):
        target, best = np.int64(returns[begin + o]), UNKNOWN
        if target > 0:
            best = to_end(known, target - 1, rest)
        elif target < 0:
            best = int(rest[(-1 - target) >> 2])
        out[o] = best
    return int(known.outcomes[begin])


@kernel
def to_end(known: Lookahead, state: Whole, rest: Ints) -> int:
    """The bytes from a state to the end of the output. `rest`: the bytes after each outcome of its rule."""
    best, at = UNKNOWN, known.first[state]
    for o in range(known.first[state + 1] - at):
        best = min(best, int(known.bytes[at + o]) + int(rest[o]))
    return best


@kernel
def _sweep(codes: Codes, known: Lookahead, rests: Ints) -> bool:
    """Update the numbers over every move of every state once; whether one decreased."""
    cells, first, lengths = codes.cells, known.first, known.bytes
    fell = False
    for s in range(len(cells) - 1, -1, -1):
        at, before = first[s], np.int64(0)
        for c in range(cells.shape[1]):
            cell = np.int64(cells[s, c])
            kind, value = (-1 - cell) & 3, (-1 - cell) >> 2
            if c == END_COLUMN and cell < 0:
                fell |= _lower(lengths, at + value, 0)
            elif c < FIRST_COLUMN or cell == 0 or (cell == before and cell > 0):
                continue
            elif cell > 0:
                for o in range(first[s + 1] - at):
                    fell |= _lower(lengths, at + o, 1 + lengths[first[cell - 1] + o])
            elif kind == ENDS:
                fell |= _lower(lengths, at + value, 1)
            elif kind == CALLS:
                fell |= _call(codes, known, s, c, rests)
            before = cell
    return fell


@kernel
def _call(codes: Codes, known: Lookahead, state: int, column: int, rests: Ints) -> bool:
    """Update the numbers over a move that calls, for each outcome of the caller; whether one decreased."""
    calls = np.empty(MOST_CALLS, np.int32)
    at, fell = known.first[state], False
    landed, _, more, ended = step(codes, calls[:0], 0, state, column, calls)
    if landed == len(codes.cells):
        return _lower(known.bytes, at + ended, 1)
    for o in range(known.first[state + 1] - at if landed >= 0 else 0):
        rests[0] = UNKNOWN
        rests[0, o] = 0
        for i in range(more):
            after_outcomes(codes.returns, known, calls[i], rests[i], rests[i + 1])
        fell |= _lower(known.bytes, at + o, 1 + to_end(known, landed, rests[more]))
    return fell


@kernel
def _lower(lengths: Ints, at: int, to: int) -> bool:
    if to >= lengths[at]:
        return False
    lengths[at] = to
    return True
