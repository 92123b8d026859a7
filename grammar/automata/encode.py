"""Encoding of automata over code points as automata over bytes: UTF-8, or the inside of a JSON string.

Does: replace each arc over characters by the automaton of their byte sequences, built once for each alphabet; share
suffixes by hashing rows from the last byte on. Does not: know schemas. Lone surrogates have no encoding.
"""

from bisect import bisect_right
from collections.abc import Hashable
from enum import Enum
from functools import cache

import numpy as np

from ..base.array_types import Ints, Longs
from ..jit.kernel import kernel
from .automaton_cache import size_bounded_cache
from .automaton_limits import DEFAULT
from .construct import nothing
from .dfa import BYTES, CODE_POINTS, Dfa, canonical


class Spelling(Enum):
    """The spelling of characters as bytes.

    `UTF8`: raw. `JSON`: every spelling that JSON allows (raw where legal, short escapes, `\\uXXXX`, surrogate pairs).
    `JSON_CANONICAL`: raw, except that `"`, `\\` and controls have one escape each: the short one if there is one, else
    `\\u00xx` in lower case.
    """

    UTF8 = "utf8"
    JSON = "json"
    JSON_CANONICAL = "json_canonical"


_SHORT = {0x08: "b", 0x09: "t", 0x0A: "n", 0x0C: "f", 0x0D: "r", 0x22: '"', 0x5C: "\\"}
_NOTHING = np.full(BYTES, -1, np.int32).tobytes()


@cache
def _bytes(text: bytes) -> Longs:
    """The values of some bytes, as an index array. Few different arguments occur."""
    return np.frombuffer(text, np.uint8).astype(np.int64)


@cache
def _values(digit: tuple[bytes, ...]) -> Longs:
    """The value of each byte of a digit, in the order of its bytes. Few different arguments occur."""
    return np.repeat(np.arange(len(digit)), [len(spellings) for spellings in digit])


class _Speller:
    """The automaton of all spellings of one character; node 0 is the start.

    A row holds a node, -1, or -2 - class where the character is complete. Except for node 0, children have lower
    numbers than their parents.
    """

    def __init__(self, bounds: Ints, classes: Ints) -> None:
        self.bounds = [*bounds.tolist(), CODE_POINTS]
        self.classes = classes.tolist()
        # The row entry of each complete character.
        of_class = np.where(classes >= 0, -2 - classes, -1).astype(np.int32)
        self.entries = np.repeat(of_class, np.diff(np.append(bounds, CODE_POINTS)))
        self.rows: list[Ints] = [np.full(BYTES, -1, np.int32)]
        self.numbers: dict[bytes, int] = {}
        self.trees: dict[Hashable, int] = {}

    def node(self, row: Ints) -> int:
        """The node with this row, or -1 for an empty row."""
        text = row.tobytes()
        if text == _NOTHING:
            return -1
        number = self.numbers.setdefault(text, len(self.rows))
        if number == len(self.rows):
            self.rows.append(row)
        return number

    def value(self, point: int) -> int:
        """The row entry of a complete character."""
        return int(self.entries[point])

    def tree(self, low: int, high: int, digits: tuple[tuple[bytes, ...], ...]) -> int:
        """The row entry for characters `low` to `high` - 1, spelled by digits; each digit lists its bytes by value."""
        if not digits:
            return self.value(low)
        size = (high - low) // len(digits[0])
        place = bisect_right(self.bounds, low)
        if high <= self.bounds[place]:
            if self.classes[place - 1] < 0:
                return -1
            name = (self.classes[place - 1], digits)
            if name not in self.trees:
                row = np.full(BYTES, -1, np.int32)
                row[_bytes(b"".join(digits[0]))] = self.tree(low, low + size, digits[1:])
                self.trees[name] = self.node(row)
            return self.trees[name]
        row = np.full(BYTES, -1, np.int32)
        if len(digits) == 1:
            row[_bytes(b"".join(digits[0]))] = self.entries[low:high][_values(digits[0])]
            return self.node(row)
        for i, spellings in enumerate(digits[0]):
            row[_bytes(spellings)] = self.tree(low + i * size, low + (i + 1) * size, digits[1:])
        return self.node(row)

    def utf8(self, row: Ints, lowest: int) -> None:
        """Write the raw characters from `lowest` on into `row`."""
        tail = tuple(bytes([b]) for b in range(0x80, 0xC0))
        # Leads E0 and F0 exclude overlong forms, ED surrogates, F4 values beyond the last code point.
        row[lowest:0x80] = self.entries[lowest:0x80]
        for lead in range(0xC2, 0xE0):
            row[lead] = self.tree((lead & 31) << 6, (lead & 31) + 1 << 6, (tail,))
        for lead in range(0xE0, 0xF0):
            second = tail[32:] if lead == 0xE0 else tail[:32] if lead == 0xED else tail
            first = (lead & 15) << 12 | (0x800 if lead == 0xE0 else 0)
            row[lead] = self.tree(first, first + (len(second) << 6), (second, tail))
        for lead in range(0xF0, 0xF5):
            second = tail[16:] if lead == 0xF0 else tail[:16] if lead == 0xF4 else tail
            first = (lead & 7) << 18 | (0x10000 if lead == 0xF0 else 0)
            row[lead] = self.tree(first, first + (len(second) << 12), (second, tail, tail))

    def json(self, canonical_only: bool) -> None:
        """Write the start row: a character inside a JSON string."""
        start = self.rows[0]
        self.utf8(start, 0x20)
        start[[0x22, 0x5C]] = -1
        after = np.full(BYTES, -1, np.int32)
        for point, letter in _SHORT.items():
            after[ord(letter)] = self.value(point)
        if canonical_only:
            after[ord("u")] = self._controls()
        else:
            after[ord("/")] = self.value(0x2F)
            after[ord("u")] = self._units()
        start[0x5C] = self.node(after)

    def _controls(self) -> int:
        third = np.full(BYTES, -1, np.int32)
        for high in (0, 1):
            last = np.full(BYTES, -1, np.int32)
            for low in range(16):
                if (point := 16 * high + low) not in _SHORT:
                    last[ord(f"{low:x}")] = self.value(point)
            third[ord(str(high))] = self.node(last)
        entry = self.node(third)
        for _ in range(2):
            row = np.full(BYTES, -1, np.int32)
            row[ord("0")] = entry
            entry = self.node(row)
        return entry

    def _units(self) -> int:
        """The escape's four hexadecimal digits, or two escapes for a character beyond the Basic Multilingual Plane."""
        hexes = tuple({f"{i:x}".encode(), f"{i:X}".encode()} for i in range(16))
        digit = tuple(b"".join(sorted(d)) for d in hexes)
        row = np.full(BYTES, -1, np.int32)
        for i in range(16):
            if i != 0xD:
                row[list(digit[i])] = self.tree(i << 12, i + 1 << 12, (digit,) * 3)
        # A lone low surrogate (DC00 to DFFF), or a high one (D800 to DBFF) without a low one, is not a character.
        second = np.full(BYTES, -1, np.int32)
        low_unit = ((b"\\",), (b"u",), (digit[0xD],), digit[0xC:], digit, digit)
        for i in range(16):
            first = 0xD000 + (i << 8) if i < 8 else 0x10000 + (i - 8 << 18)
            if i < 8:
                second[list(digit[i])] = self.tree(first, first + 256, (digit, digit))
            elif i < 12:
                pair = (digit, digit, *low_unit)
                second[list(digit[i])] = self.tree(first, first + (1 << 18), pair)
        row[list(digit[0xD])] = self.node(second)
        return self.node(row)


@kernel
def _columns(rows: Ints) -> tuple[Ints, Ints]:
    """(the distinct columns of a table, ordered by their first byte; the column of each byte)."""
    hashes = np.zeros(BYTES, np.int64)
    first, number = np.empty(BYTES, np.int32), np.empty(BYTES, np.int32)
    count = 0
    for c in range(BYTES):
        for s in range(len(rows)):
            hashes[c] = (hashes[c] ^ np.int64(rows[s, c])) * np.int64(1099511628211)
        number[c] = -1
        for k in range(count):
            if hashes[first[k]] == hashes[c]:
                s = 0
                while s < len(rows) and rows[s, first[k]] == rows[s, c]:
                    s += 1
                if s == len(rows):
                    number[c] = k
                    break
        if number[c] < 0:
            first[count] = c
            number[c] = count
            count += 1
    columns = np.empty((len(rows), count), np.int32)
    for s in range(len(rows)):
        for k in range(count):
            columns[s, k] = rows[s, first[k]]
    return columns, number


def _arrays_bytes(found: tuple[Ints, Ints]) -> int:
    return sum(array.nbytes for array in found)


@size_bounded_cache(4 << 20, _arrays_bytes)
def spellings(bounds: bytes, classes: bytes, spelling: Spelling) -> tuple[Ints, Ints]:
    """([nodes, byte classes] with rows as in `_Speller`, byte class [256])."""
    speller = _Speller(np.frombuffer(bounds, np.int32), np.frombuffer(classes, np.int32))
    if spelling is Spelling.UTF8:
        speller.utf8(speller.rows[0], 0)
    else:
        speller.json(spelling is Spelling.JSON_CANONICAL)
    return _columns(np.stack(speller.rows))


@kernel
def _row_hash(row: Ints) -> np.int64:
    h = np.int64(1469598103934665603)
    for x in row:
        h = (h ^ np.int64(x)) * np.int64(1099511628211)
        h ^= h >> np.int64(31)
    return h


@kernel
def _place(slots: Longs, table: Ints, row: Ints) -> np.int64:
    """The slot with the number of an equal row of `table`, or the free slot for it, in an open hash table."""
    mask = len(slots) - 1
    i = _row_hash(row) & mask
    while slots[i] >= 0:
        same = True
        for c in range(len(row)):
            if table[slots[i], c] != row[c]:
                same = False
                break
        if same:
            return i
        i = (i + 1) & mask
    return i


@kernel
def _spell(node: Ints, state: Ints, number: Ints, row: Ints) -> bool:
    """Write a node's row for a state (`number`: its copies of the nodes); returns whether it has arcs."""
    some = False
    for c in range(len(node)):
        if node[c] >= 0:
            row[c] = number[node[c]]
        elif node[c] < -1:
            row[c] = state[-2 - node[c]]
        else:
            row[c] = -1
        if row[c] >= 0:
            some = True
    return some


@kernel
def _substitute(states: Ints, nodes: Ints, most: int) -> tuple[Ints, int]:
    """(table, count) with every arc of `states` spelled out; the first `len(states)` rows are the states themselves."""
    roots, width = len(states), nodes.shape[1]
    table = np.full((2 * roots + 64, width), -1, np.int32)
    slots = np.full(1 << 10, -1, np.int64)
    count = roots
    number = np.full((len(nodes), roots), -1, np.int32)
    row = np.empty(width, np.int32)
    for turn in range(1, len(nodes) + 1):
        node = turn % len(nodes)
        for s in range(roots):
            some = _spell(nodes[node], states[s], number[:, s], row)
            if node == 0:
                table[s] = row
                continue
            if not some:
                continue
            if count == len(table):
                if count >= most:
                    return table, -1
                table = np.concatenate((table, np.full((count, width), -1, np.int32)))
            if 2 * (count - roots) > len(slots):
                slots = np.full(4 * len(slots), -1, np.int64)
                for k in range(roots, count):
                    slots[_place(slots, table, table[k])] = k
            i = _place(slots, table, row)
            if slots[i] < 0:
                slots[i] = count
                table[count] = row
                count += 1
            number[node, s] = slots[i]
    return table, count


def spelled(chars: Dfa, spelling: Spelling) -> tuple[Ints, Ints, Ints]:
    """(class of each byte, table, outcome) of `encode`'s result before trimming; `chars` is not empty.

    Raises:
        ConstraintTooLarge: more states than an automaton may have.
    """
    nodes, byte_class = spellings(
        np.ascontiguousarray(chars.bounds, np.int32).tobytes(),
        np.ascontiguousarray(chars.classes, np.int32).tobytes(),
        spelling,
    )
    table, count = _substitute(chars.table, nodes, DEFAULT.states)
    DEFAULT.check(count)
    outcome = np.full(count, -1, np.int32)
    outcome[: chars.states] = chars.outcome
    return byte_class, table[:count], outcome


def encode(chars: Dfa, spelling: Spelling) -> Dfa:
    """The texts of `chars` (over code points) as bytes, outcomes kept. A JSON spelling is the inside of the quotes.

    Raises:
        ConstraintTooLarge: more states than an automaton may have.
    """
    if chars.empty:
        return nothing()
    classes, table, outcome = spelled(chars, spelling)
    bounds = np.arange(BYTES, dtype=np.int32)
    return canonical(BYTES, bounds, classes, table, outcome, minimise=len(outcome) < 4096)
