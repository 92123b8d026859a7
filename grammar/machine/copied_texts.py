"""Texts that are copied from a document, so that a mask can be read off the document itself.

Does: define a place in such a text. Does not: know documents, or what restricts the copies.

A state of a rule may stand for thousands of places of a document. Read byte by byte, each continuation of each would be
a state of the machine, made only for a mask. A rule that copies (`CopyingRule`) says where its document continues.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple, Protocol, cast, runtime_checkable

from ..base.addresses import addresses
from ..base.array_types import Bytes, Ints, Longs
from .rule import Rule


@dataclass(frozen=True, slots=True, eq=False)
class CopiedTexts:
    """The texts that may be copied: the first characters from each of some places of a document.

    `text`: all characters of the document, as they are written. `begins` int32 [characters + 1]: where each character
    begins in `text`. `order` int32 [m]: places, as numbers of characters, sorted by what follows. `reach` int32 [m]:
    the most characters that may be copied from each. `codes` int32 [characters]: the characters as ascending numbers.
    `state`: the key of the state for the low, high and length of a place. `addresses`: of these arrays.
    """

    text: Bytes
    begins: Ints
    order: Ints
    reach: Ints
    codes: Ints
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
        state: Callable[[int, int, int], Hashable],
    ) -> "CopiedTexts":
        """From these arrays, which must be contiguous and are not changed any more."""
        arrays = text, begins, order, reach, codes
        return cls(*arrays, state, addresses(*arrays))


class CopiedPlace(NamedTuple):
    """A place in a copied text: the `length` characters written follow in the places of ranks `low` to `high` - 1.

    `begun`: the `skipped` bytes written of the next character, the first one lowest. From `least` characters on, the
    byte `close` ends the rule with `outcome`; nothing else does.
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
