"""What an object's formula no longer has to say of members, because they cannot come any more; what it says of none.

Does: find the parts of a formula that speak only of members that were written or passed over, and take them to hold;
say of which members it matters to the rest of the object whether they were written. Does not: judge values, which
happens when a member is written (`member_steps`).

An alternative `{"properties": {"a": …}}` stays open as long as `a` may come. Once it has, nothing can break it: where
exactly one alternative has to hold, two such ones mean that the object is lost, which is seen here, without a search.
A member that no alternative speaks of brings no end nearer; so places that differ in such ones are one to a search.
"""

from collections.abc import Iterable
from functools import cached_property

from ..logic.atoms import Members, Props, Required
from ..logic.formula import Atom, Formula, Op, Pool
from ..logic.residual import Fold, deep_atoms
from .names import OTHER, BetweenMembers, Seen
from .property_classes import PropertyClasses


class ClosedProperties:
    """Of the objects of one layout. Sets of names are bits by label."""

    def __init__(self, pool: Pool, vocabulary: PropertyClasses) -> None:
        self._pool = pool
        self._vocabulary = vocabulary
        self._closable: dict[Formula, tuple[tuple[Formula, int], ...]] = {}
        self._without: dict[tuple[Formula, tuple[Formula, ...]], Formula] = {}
        self._mattering: dict[Formula, int] = {}
        self._counted: dict[tuple[frozenset[str], int], frozenset[str]] = {}
        self._bits: dict[Seen, int] = {}

    def between(self, fold: Fold, seen: Seen) -> BetweenMembers:
        """The place between members where `seen` tells which may still come."""
        return BetweenMembers(self._reduced(fold, seen, 0), seen)

    def searched(self, fold: Fold, seen: Seen, begun: int) -> BetweenMembers:
        """The same in a search that has passed over the first `begun` names of its order; `seen` tells what matters."""
        fold = self._reduced(fold, seen, begun)
        return BetweenMembers(fold, self.counted(fold.must, seen, begun))

    def counted(self, must: Formula, seen: Seen, begun: int = 0) -> Seen:
        """Those of `seen` on which it depends whether, and how, an object comes to an end; in any order."""
        if not seen or isinstance(seen, int):
            return seen
        key = (seen, self._matters(must) & ~self._passed[begun])
        found = self._counted.get(key)
        if found is None:
            label_of, names = self._vocabulary.label_of, key[1]
            found = frozenset(text for text in seen if names >> label_of[text] & 1)
            self._counted[key] = found
        return found

    def _matters(self, must: Formula) -> int:
        """The names whose members can bring an end nearer: demanded ones, and those an alternative speaks of."""
        found = self._mattering.get(must)
        if found is None:
            demanded, found = {id(part.atom) for part in _conjuncts(must)}, 0
            for atom in deep_atoms(Fold(must, ())):
                if isinstance(atom, Required):
                    found |= self._bits_of(atom.names)
                elif id(atom) not in demanded or isinstance(atom, Members):
                    found |= self._touched(atom)
            self._mattering[must] = found
        return found

    def _touched(self, atom: Atom) -> int:
        """The names whose members may change an atom of an alternative, or a count."""
        if isinstance(atom, Props) and atom.rest is None and not atom.patterns:
            return self._names(atom)
        return -1

    def _reduced(self, fold: Fold, seen: Seen, begun: int) -> Fold:
        closable = self._closable_in(fold.must)
        if not closable:
            return fold
        open_still = ~(self._gone(seen) | self._passed[begun])
        spent = tuple(part for part, names in closable if not names & open_still)
        if not spent:
            return fold
        key = (fold.must, spent)
        must = self._without.get(key)
        if must is None:
            must = self._without[key] = self._pool.put(
                fold.must, dict.fromkeys(spent, self._pool.true)
            )
        return Fold(must, () if must is self._pool.false else fold.asks)

    def _closable_in(self, must: Formula) -> tuple[tuple[Formula, int], ...]:
        """The atoms of an alternative that speak of named members only, with these."""
        found = self._closable.get(must)
        if found is None:
            demanded = set(_conjuncts(must))
            found = self._closable[must] = tuple(
                (part, self._names(part.atom))
                for part in must.atoms
                if isinstance(part.atom, Props)
                and part.atom.rest is None
                and not part.atom.patterns
                and part not in demanded
            )
        return found

    def _names(self, props: Props) -> int:
        return self._bits_of({text for text, _ in props.named})

    def _bits_of(self, texts: Iterable[str]) -> int:
        label_of = self._vocabulary.label_of
        return sum(1 << label_of[text] for text in texts)

    def _gone(self, seen: Seen) -> int:
        bits = self._bits.get(seen)
        if bits is None:
            if isinstance(seen, int):
                count = len(self._vocabulary.names)
                bits = (1 << (count if seen == OTHER else seen)) - 1
            else:
                bits = self._bits_of(seen)
            self._bits[seen] = bits
        return bits

    @cached_property
    def _passed(self) -> tuple[int, ...]:
        """Of each number of names passed over in the order of searches, which these are."""
        passed = [0]
        for label in self._vocabulary.search_order:
            passed.append(passed[-1] | 1 << label)
        return tuple(passed)


def _conjuncts(must: Formula) -> tuple[Formula, ...]:
    return must.args if must.op is Op.ALL else (must,)
