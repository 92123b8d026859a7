"""Automata over digits that accept the multiples of an integer.

Does: build digit tables, and divisibility tables that factors of ten keep small. Does not: parse divisors or signs
(`numbers`).
"""

from math import gcd
from typing import Final

import numpy as np
import numpy.typing as npt

from ..automata import BYTES, Dfa, canonical

SYMBOLS: Final = b"0123456789.-"  # symbol of each column
POINT: Final = 10


def digit_table(rows: npt.ArrayLike, outcome: npt.ArrayLike) -> Dfa:
    """An automaton over the columns of `SYMBOLS`, or a prefix of them."""
    table, ends = np.asarray(rows, np.int32), np.asarray(outcome, np.int32)
    classes = np.full(BYTES, -1, np.int32)
    classes[list(SYMBOLS[: table.shape[1]])] = range(table.shape[1])
    return canonical(BYTES, np.arange(BYTES, dtype=np.int32), classes, table, ends)


def divisible(modulus: int, places: int) -> Dfa:
    """Unsigned texts with a value times 10 ** places that `modulus` divides; digits after those places are 0.

    States: 0 the start, 1 a leading zero, then residues before the point, then residues after j places, where each
    group after the point has read a digit except the first.
    """
    residues = np.arange(modulus, dtype=np.int64)
    step = (residues[:, None] * 10 + np.arange(10)) % modulus
    table = np.full((2 + (places + 2) * modulus, POINT + 1), -1, np.int64)
    ends = np.full(len(table), -1, np.int32)
    # First state of each group: before the point, then after 0 to `places` places.
    base = [2 + j * modulus for j in range(places + 2)]
    table[0, :10] = base[0] + np.arange(10) % modulus
    table[0, 0] = 1  # a leading zero takes no further digit
    table[1, POINT] = base[1]
    ends[1] = 0
    for j in range(places + 2):
        block = slice(base[j], base[j] + modulus)
        missing = places - max(j - 1, 0)
        ends[block] = np.where(residues * pow(10, missing, modulus) % modulus == 0, 0, -1)
        if j == 0:
            table[block, :10] = base[0] + step
            table[block, POINT] = base[1] + residues
        elif j <= places:
            table[block, :10] = base[j + 1] + step
        else:
            table[block, 0] = np.arange(block.start, block.stop)
    # A text may not end right after the point; without places only zeros may follow, read by states of their own.
    after_point = slice(base[1], base[1] + modulus)
    if places:
        ends[after_point] = -1
        return digit_table(table, ends)
    extra = np.full((modulus, POINT + 1), -1, np.int64)
    extra[:, 0] = len(table) + residues
    table[after_point, 0] = len(table) + residues
    more = ends[after_point].copy()
    ends[after_point] = -1
    return digit_table(np.concatenate((table, extra)), np.concatenate((ends, more)))


def fewest_states(modulus: int) -> tuple[int, int]:
    """(states, digits) of the smallest automaton that `few_states` can build; `digits` is its bound on final digits."""

    def states(digits: int) -> int:
        near = sum(int(10**i) // gcd(10**i, modulus) for i in range(digits))
        return int(modulus // gcd(10**digits, modulus)) + near

    return min((states(digits), digits) for digits in range(len(str(modulus)) + 1))


def few_states(modulus: int) -> Dfa:
    """Unsigned multiples of `modulus`, optionally with a fraction of zeros; small if 2 and 5 divide `modulus` often.

    Residues are merged into one state if the same digit strings complete them to a multiple. A residue that can be
    completed by fewer than `digits` digits is identified by the shortest completion; any other by its residue modulo a
    smaller divisor, since the digits already read count less (Alexeev, "Minimal DFA for testing divisibility", 2004).
    """
    digits = fewest_states(modulus)[1]
    residues = np.arange(modulus, dtype=np.int64)
    smaller = modulus // gcd(10**digits, modulus)
    name, base = residues % smaller, smaller
    merged = np.zeros(modulus, np.bool_)
    for size in range(digits):
        rest = -residues * pow(10, size, modulus) % modulus
        found = ~merged & (rest < 10**size)
        name = np.where(found, base + rest, name)
        merged |= found
        base += 10**size
    _, first, state = np.unique(name, return_index=True, return_inverse=True)
    count = len(first)
    # States: the start, a lone zero, the merged residues, right after the point, zeros after the point.
    table = np.full((count + 4, POINT + 1), -1, np.int64)
    ends = np.full(len(table), -1, np.int32)
    table[0, :10] = 2 + state[np.arange(10) % modulus]
    table[0, 0] = 1
    table[2 : 2 + count, :10] = 2 + state[(first[:, None] * 10 + np.arange(10)) % modulus]
    whole_state = 2 + int(state[0])
    for ended in (1, whole_state):
        table[ended, POINT], ends[ended] = count + 2, 0
    table[count + 2 :, 0], ends[count + 3] = count + 3, 0
    return digit_table(table, ends)
