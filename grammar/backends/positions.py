"""The position automaton of a pattern (Glushkov 1961): one state a character class of the pattern.

Does: build it with a bound on its size, run it over a text in linear time, count the states its deterministic form
would have. Does not: parse (`ecma`) or make tables over bytes (`walk`).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from ..errors import ConstraintTooLarge
from .chars import Ranges, complement, union
from .ecma import Chars, Choice, Node, Repeat, Sequence

MOST_POSITIONS = 4_000


@dataclass(frozen=True, slots=True)
class _Part:
    """What a sub-pattern offers its neighbours; sets of positions are bits of an int."""

    nullable: bool
    first: int
    last: int


class Positions:
    """The position automaton of an anchor-free pattern that must match a whole text.

    Raises:
        ConstraintTooLarge: counted repeats unroll to more than `limit` positions.
    """

    def __init__(self, node: Node, limit: int = MOST_POSITIONS) -> None:
        self._limit = limit
        self.classes: list[Ranges] = []
        self.follow: list[int] = []
        part = self._build(node)
        self.nullable, self.first, self.last = part.nullable, part.first, part.last

    def matches(self, text: str) -> bool:
        """Whether the whole of `text` is in the language."""
        if not text:
            return self.nullable
        state = self.first
        for index, char in enumerate(text):
            code = ord(char)
            hit = 0
            for position in _bits(state):
                if any(low <= code <= high for low, high in self.classes[position]):
                    hit |= 1 << position
            if index == len(text) - 1:
                return bool(hit & self.last)
            state = self.after(hit)
        return False

    def check_states(self, limit: int) -> None:
        """Count the states of the deterministic automaton.

        Raises:
            ConstraintTooLarge: there are more than `limit`.
        """
        seen = {self.first}
        todo = [self.first]
        while todo:
            state = todo.pop()
            for _, takers in self.alphabet:
                if (hit := state & takers) and (target := self.after(hit)) not in seen:
                    seen.add(target)
                    todo.append(target)
                    if len(seen) > limit:
                        raise ConstraintTooLarge(
                            f"the pattern needs more than {limit} states; use smaller repeats"
                        )

    @cached_property
    def alphabet(self) -> list[tuple[Ranges, int]]:
        """Classes of characters that no position tells apart, each with the positions that take it."""
        takers: dict[Ranges, int] = {}
        for position, ranges in enumerate(self.classes):
            takers[ranges] = takers.get(ranges, 0) | 1 << position
        changes: dict[int, int] = {}
        for ranges, bits in takers.items():
            for low, high in ranges:
                changes[low] = changes.get(low, 0) ^ bits
                changes[high + 1] = changes.get(high + 1, 0) ^ bits
        groups: dict[int, list[tuple[int, int]]] = {}
        active = 0
        edges = sorted(changes)
        for edge, end in pairwise(edges):
            active ^= changes[edge]
            if active:
                groups.setdefault(active, []).append((edge, end - 1))
        return [(union(tuple(ranges)), bits) for bits, ranges in groups.items()]

    def after(self, hit: int) -> int:
        """The positions that may come next after those in `hit`."""
        state = 0
        for position in _bits(hit):
            state |= self.follow[position]
        return state

    def _build(self, node: Node) -> _Part:
        match node:
            case Chars(ranges):
                if len(self.classes) >= self._limit:
                    raise ConstraintTooLarge(
                        f"the pattern unrolls to more than {self._limit} characters; use smaller repeats"
                    )
                self.classes.append(ranges)
                self.follow.append(0)
                bit = 1 << (len(self.classes) - 1)
                return _Part(nullable=False, first=bit, last=bit)
            case Choice(parts):
                built = [self._build(part) for part in parts]
                return _Part(
                    nullable=any(part.nullable for part in built),
                    first=_join(part.first for part in built),
                    last=_join(part.last for part in built),
                )
            case Sequence(parts):
                whole = _Part(nullable=True, first=0, last=0)
                for part in parts:
                    whole = self._chain(whole, self._build(part))
                return whole
            case Repeat(body, least, most):
                return self._repeat(body, least, most)
            case _:
                raise AssertionError("anchors are resolved before")

    def _repeat(self, body: Node, least: int, most: int | None) -> _Part:
        whole = _Part(nullable=True, first=0, last=0)
        for _ in range(least if most is not None else max(least - 1, 0)):
            whole = self._chain(whole, self._build(body))
        if most is None:
            loop = self._build(body)
            for position in _bits(loop.last):
                self.follow[position] |= loop.first
            loop = _Part(loop.nullable or least == 0, loop.first, loop.last)
            return self._chain(whole, loop)
        optional = _Part(nullable=True, first=0, last=0)
        parts = [self._build(body) for _ in range(most - least)]
        for part in reversed(parts):  # a{0,3} is (a(a(a)?)?)?
            inner = self._chain(part, optional)
            optional = _Part(nullable=True, first=inner.first, last=inner.last)
        return self._chain(whole, optional)

    def _chain(self, left: _Part, right: _Part) -> _Part:
        for position in _bits(left.last):
            self.follow[position] |= right.first
        return _Part(
            nullable=left.nullable and right.nullable,
            first=left.first | (right.first if left.nullable else 0),
            last=right.last | (left.last if right.nullable else 0),
        )


def lengths(node: Node) -> tuple[int, int | None]:
    """The fewest and the most characters (None: no bound) of texts that match."""
    match node:
        case Chars():
            return 1, 1
        case Choice(parts):
            found = [lengths(part) for part in parts]
            tops = [most for _, most in found if most is not None]
            return min(least for least, _ in found), max(tops) if len(tops) == len(found) else None
        case Sequence(parts):
            found = [lengths(part) for part in parts]
            tops = [most for _, most in found if most is not None]
            return sum(least for least, _ in found), sum(tops) if len(tops) == len(found) else None
        case Repeat(body, least, most):
            low, high = lengths(body)
            if high == 0 or most == 0:
                return low * least, 0
            return low * least, None if most is None or high is None else high * most
        case _:
            return 0, 0


def matches_nothing(node: Node) -> bool:
    """Whether no text at all matches, because a class that cannot be left out is empty."""
    match node:
        case Chars(ranges):
            return not ranges
        case Choice(parts):
            return all(matches_nothing(part) for part in parts)
        case Sequence(parts):
            return any(matches_nothing(part) for part in parts)
        case Repeat(body, least):
            return least > 0 and matches_nothing(body)
        case _:
            return False


def without(node: Node, removed: Ranges) -> Node:
    """The same pattern where no character is one of `removed`."""
    match node:
        case Chars(ranges):
            return Chars(complement(union(complement(ranges), removed)))
        case Choice(parts):
            return Choice(tuple(without(part, removed) for part in parts))
        case Sequence(parts):
            return Sequence(tuple(without(part, removed) for part in parts))
        case Repeat(body, least, most):
            return Repeat(without(body, removed), least, most)
        case _:
            return node


def _join(sets: Iterable[int]) -> int:
    whole = 0
    for part in sets:
        whole |= part
    return whole


def _bits(bits: int) -> list[int]:
    found = []
    while bits:
        low = bits & -bits
        found.append(low.bit_length() - 1)
        bits ^= low
    return found
