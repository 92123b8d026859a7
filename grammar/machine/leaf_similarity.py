"""Similarity of leaves: for how many bytes a state of a leaf behaves like a state of the leaf of any string.

A string with a maximum length, or with a pattern that matters only at its end, differs from any string for few tokens,
so it can share most of a mask.

Does: pair the states of a leaf with states of the leaf of any string, and count for how many bytes both accept the same
text. Does not: walk tokens (`leaf_walk`).
"""

from functools import cache
from typing import Final, NamedTuple

import numpy as np

from ..automata import Dfa, Spelling
from ..automata.algebra import joint_classes
from ..base.array_types import Flags, Ints
from ..base.bounded_cache import BoundedCache
from ..jit.kernel import kernel
from ..leaves.strings import any_string

ENDLESS: Final = 1 << 14  # bytes; longer than any token
# If the first state of a leaf accepts this many different bytes, the leaf begins inside the quotes.
_INSIDE: Final = 24
ALIKE: Final = 14  # bytes; a longer similarity saves more than it costs
# How the hexadecimal numbers of characters begin.
_NEVER_NEEDED: Final = b"1", b"f", b"002", b"003", b"006"
_NEAR: Final = 32  # bytes for which states of the same leaf are compared
_KEPT_BYTES: Final = 8 << 20
_LARGE: Final = 1 << 13  # states; leaves of freely spelled strings have fewer


class LeafSimilarity(NamedTuple):
    """The similarity of a leaf's states to states of the leaf of any string (`plain`), or of the same leaf (None).

    For each state: `twin` is the other state, -1 if there is none, and both behave alike for `bytes` bytes. `meaning`:
    for each outcome of the other leaf, the outcome of this leaf.
    """

    twin: Ints  # [states]
    bytes: Ints  # [states]
    meaning: Ints  # [outcomes of the other]
    plain: Dfa | None

    @property
    def far(self) -> bool:
        """Whether some state inside the quotes is similar to a state of any string for many bytes."""
        if self.plain is None:
            return True
        inside = self.plain.step(0, ord('"'))
        return bool((self.bytes[self.twin == inside] >= ALIKE).any())


Sides = tuple[Ints, Ints, Ints, Ints]
"""The table of a leaf, the table of another automaton, and the outcomes of their states, in the same order."""
Classes = tuple[Ints, Ints]
"""For each joint class of bytes: the class in the first automaton and the class in the second, or -1."""


@kernel
def _step(table: Ints, state: int, c: int) -> int:
    return table[state, c] if c >= 0 else -1


@kernel
def _paired(
    sides: Sides, classes: Classes, over: Flags, twin: Ints, first: int, depth: int
) -> tuple[Ints, int]:
    """Pair the states that can be reached from `first`: (the states in order, the outcome that is `over` in both).

    States that take more than `depth` bytes to reach are left out.
    """
    table, other, ends, other_ends = sides
    order = np.empty(len(table), np.int32)
    order[0], count, at, outcome, end = first, 1, 0, -1, 1
    while at < count:
        if at == end:
            end = count
            depth -= 1
        if depth == 0:
            break
        s = order[at]
        at += 1
        if over[s] and outcome < 0 and other_ends[twin[s]] >= 0:
            outcome = ends[s]
        for c in range(len(classes[0])):
            t, u = _step(table, s, classes[0][c]), _step(other, twin[s], classes[1][c])
            if t >= 0 and u >= 0 and twin[t] < 0:
                twin[t] = u
                order[count] = t
                count += 1
    return order[:count].copy(), outcome


@kernel
def _alike(sides: Sides, classes: Classes, pairs: tuple[Ints, Ints], meaning: Ints) -> Ints:
    """For how many bytes the two states of each pair behave alike; -1 where they differ themselves."""
    (table, other, ends, other_ends), (order, twin) = sides, pairs
    alike, place = np.full(len(table), -1, np.int32), np.empty(len(table), np.int32)
    for i in range(len(order)):
        s = order[i]
        place[s] = i
        ending = other_ends[twin[s]]
        same = ends[s] == meaning[ending] if ending >= 0 else ends[s] < 0
        alike[s] = ENDLESS if same else -1
    changed = True
    while changed:
        changed = back = False
        for i in range(len(order) - 1, -1, -1):
            s = order[i]
            least = alike[s]
            for c in range(len(classes[0])):
                t, u = _step(table, s, classes[0][c]), _step(other, twin[s], classes[1][c])
                if t >= 0 and u >= 0 and twin[t] == u:
                    least = min(least, alike[t] + 1)
                    back = back or place[t] <= i
                elif t >= 0 or u >= 0:
                    least = min(least, 0)
            if least < alike[s]:
                alike[s] = least
                changed = True
        changed = changed and back
    return alike


@kernel
def _differ(sides: Sides, classes: Classes, state: int, other: int, depth: int) -> bool:
    """Whether two states accept different texts within `depth` bytes; outcomes are not compared, only ends."""
    table, other_table, ends, other_ends = sides
    seen, stride = np.zeros(len(table), np.bool_), len(classes[0])
    pairs = np.empty((len(table), 2), np.int32)
    pairs[0, 0], pairs[0, 1], at, count = state, other, 0, 1
    seen[state] = True
    for _ in range(depth + 1):
        end = count
        while at < end:
            s, u = pairs[at]
            at += 1
            if (ends[s] < 0) != (other_ends[u] < 0):
                return True
            for c in range(stride):
                t, v = _step(table, s, classes[0][c]), _step(other_table, u, classes[1][c])
                if (t < 0) != (v < 0):
                    return True
                if t >= 0 and not seen[t]:
                    seen[t] = True
                    pairs[count, 0], pairs[count, 1] = t, v
                    count += 1
    return False


def surely_unlike(dfa: Dfa, state: int, plain: Dfa, other: int) -> bool:
    """Whether two states of any leaves surely behave alike for fewer than `ALIKE` bytes; a quick test."""
    _, _, classes = joint_classes((dfa, plain))
    sides = dfa.table, plain.table, dfa.outcome, plain.outcome
    return bool(_differ(sides, (classes[0], classes[1]), state, other, ALIKE - 1))


def similarity_to_any_string(dfa: Dfa, over: Flags) -> LeafSimilarity:
    """The similarity of a leaf to any string, of the spelling that this leaf allows. `over`: see `Leaf.over`."""
    known = _known()
    found = known.get(dfa.fingerprint)
    if found is None:
        found = _find_similarity(dfa, over)
        known.put(dfa.fingerprint, found, found.twin.nbytes + found.bytes.nbytes)
    return found


@cache
def _known() -> BoundedCache[bytes, LeafSimilarity]:
    """The similarities found for earlier grammars; strings of bounded length are frequent and large."""
    return BoundedCache(_KEPT_BYTES)


def _find_similarity(dfa: Dfa, over: Flags) -> LeafSimilarity:
    if dfa.states <= _LARGE and _spelled_freely(dfa):
        freely = _compared_with(any_string(Spelling.JSON), dfa, over)
        if freely.far:
            return freely
    return _compared_with(any_string(Spelling.JSON_CANONICAL), dfa, over)


def _spelled_freely(dfa: Dfa) -> bool:
    """Whether `\\u` escapes are legal also for characters that do not need them."""
    inside = 0 if _begins_inside(dfa) else dfa.step(0, ord('"'))
    return any(_reads(dfa, inside, b"\\u" + digits) for digits in _NEVER_NEEDED)


def _reads(dfa: Dfa, state: int, text: bytes) -> bool:
    """Whether a text can be read from a state on; not from state -1."""
    for byte in text:
        state = -1 if state < 0 else dfa.step(state, byte)
    return state >= 0


def _begins_inside(dfa: Dfa) -> bool:
    return bool((np.append(dfa.table[0] >= 0, False)[dfa.class_of]).sum() >= _INSIDE)


def _compared_with(plain: Dfa, dfa: Dfa, over: Flags) -> LeafSimilarity:
    _, _, classes = joint_classes((dfa, plain))
    sides, own = (dfa.table, plain.table, dfa.outcome, plain.outcome), (classes[0], classes[1])
    twin = np.full(dfa.states, -1, np.int32)
    twin[0] = plain.step(0, ord('"')) if _begins_inside(dfa) else 0
    order, outcome = _paired(sides, own, over, twin, 0, dfa.states)
    meaning = np.array([outcome], np.int32)
    alike = _alike(sides, own, (order, twin), meaning)
    return LeafSimilarity(twin, alike, meaning, plain=plain)


def similarity_within(dfa: Dfa, state: int, other: int) -> LeafSimilarity:
    """The similarity of a state, and of the states that follow it, to another state of the same leaf.

    Only the states that some 30 bytes lead to are compared.
    """
    twin = np.full(dfa.states, -1, np.int32)
    twin[state] = other
    meaning = np.arange(int(dfa.outcome.max(initial=0)) + 1, dtype=np.int32)
    nowhere = np.zeros(dfa.states, np.bool_)
    same = np.arange(dfa.table.shape[1], dtype=np.int32)
    sides = dfa.table, dfa.table, dfa.outcome, dfa.outcome
    order, _ = _paired(sides, (same, same), nowhere, twin, state, _NEAR)
    alike = _alike(sides, (same, same), (order, twin), meaning)
    return LeafSimilarity(twin, alike, meaning, plain=None)


def identity(dfa: Dfa) -> LeafSimilarity:
    """The similarity of each state of a leaf to itself."""
    twin = np.arange(dfa.states, dtype=np.int32)
    meaning = np.arange(int(dfa.outcome.max(initial=0)) + 1, dtype=np.int32)
    return LeafSimilarity(twin, np.full(dfa.states, ENDLESS, np.int32), meaning, plain=None)
