"""Texts that are copied from a document, so that a mask can be read off the document itself.

Does: define a place in such a text, and run the automaton that decides where copies may end. Does not: know documents.

A state of a rule may stand for thousands of places of a document. Read byte by byte, each continuation of each would be
a state of the machine, made only for a mask. A rule that copies (`CopyingRule`) says where its document continues.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cache
from typing import Final, NamedTuple, Protocol, cast, runtime_checkable

import numpy as np

from ..base.addresses import addresses, grid, line
from ..base.array_types import Bytes, Ints, Longs
from ..jit.kernel import kernel
from .rule import Rule


class CopiedPattern(NamedTuple):
    """An automaton that decides where copied texts may end.

    `kinds` int32 [characters]: the class of each character; empty if texts may end anywhere. `table` int32 [states,
    classes]: the next state. `outcome` int32 [states]: negative where no text ends.
    """

    kinds: Ints
    table: Ints
    outcome: Ints


ANYWHERE: Final = CopiedPattern(
    np.empty(0, np.int32), np.zeros((1, 1), np.int32), np.zeros(1, np.int32)
)


@dataclass(frozen=True, slots=True, eq=False)
class CopiedTexts:
    """The texts that may be copied: the first characters from each of some places of a document.

    `text`: all characters of the document, as they are written. `begins` int32 [characters + 1]: where each character
    begins in `text`. `order` int32 [m]: places, as numbers of characters, sorted by what follows. `reach` int32 [m]:
    the most characters that may be copied from each; fewer may be copied where `pattern` allows that. `codes` int32
    [characters]: the characters as ascending numbers. `state`: the key of the state for the low, high and length of a
    place. `addresses`: of these arrays.
    """

    text: Bytes
    begins: Ints
    order: Ints
    reach: Ints
    codes: Ints
    pattern: "CopiedPattern"
    state: Callable[[int, int, int], Hashable]
    addresses: Longs

    @classmethod
    def of(
        cls,
        text: Bytes,
        begins: Ints,
        order: Ints,
        reach: Ints,
        codes: Ints,
        pattern: "CopiedPattern",
        state: Callable[[int, int, int], Hashable],
    ) -> "CopiedTexts":
        """From these arrays, which must be contiguous and are not changed any more."""
        arrays = text, begins, order, reach, codes
        return cls(*arrays, pattern, state, addresses(*arrays, *pattern))


class CopiedPlace(NamedTuple):
    """A place in a copied text: the `length` characters written follow in the places of ranks `low` to `high` - 1.

    `begun`: the `skipped` bytes written of the next character, the first one lowest. From `least` characters on, where
    the pattern allows it, the byte `close` ends the rule with `outcome`; nothing else does.
    """

    texts: CopiedTexts
    low: int
    high: int
    length: int
    begun: int
    skipped: int
    least: int
    close: int
    outcome: int


@runtime_checkable
class CopyingRule(Protocol):
    """A rule with states in which every legal text is copied from a document."""

    def copied(self, key: Hashable) -> CopiedPlace | None:
        """The place in the document that a state stands for; None: the state is read byte by byte."""
        ...


def copied_place(named: tuple[Rule, Hashable] | None) -> CopiedPlace | None:
    """The place in a document of a state, given by its rule and key; None for all other states."""
    if named is None or not _copies(type(named[0])):
        return None
    return cast("CopyingRule", named[0]).copied(named[1])


@cache
def _copies(kind: type) -> bool:
    """Whether the rules of a class copy: asking a rule itself takes as long as many a walk."""
    return issubclass(kind, CopyingRule)


@kernel
def pattern_at(texts: Longs) -> CopiedPattern:
    """The pattern of the texts with these addresses."""
    return CopiedPattern(line(texts, 5), grid(texts, 6), line(texts, 7))


@kernel
def after_character(
    pattern: CopiedPattern, state: int | np.int64, character: int | np.int64
) -> np.int64:
    """The state of the automaton after the character with a number."""
    if len(pattern.kinds) == 0:
        return np.int64(state)
    return np.int64(pattern.table[state, pattern.kinds[character]])


@kernel
def after_characters(pattern: CopiedPattern, begin: int | np.int64, length: int) -> np.int64:
    """The state of the automaton after the `length` characters from number `begin` on."""
    state = np.int64(0)
    for i in range(length if len(pattern.kinds) > 0 else 0):
        state = after_character(pattern, state, begin + i)
    return state


@kernel
def next_end(pattern: CopiedPattern, begin: int, least: int, most: int) -> int:
    """The length of the shortest text of `least` to `most` characters from number `begin` on; -1 if there is none."""
    state = after_characters(pattern, begin, least)
    for length in range(least, most + 1):
        if pattern.outcome[state] >= 0:
            return length
        if length < most:
            state = after_character(pattern, state, begin + length)
    return -1
