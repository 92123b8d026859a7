"""Simplifies the obligation of an object by the properties that can no longer occur.

Does: replace atoms that are only about members already written or skipped by `true`; list the written members on which
the rest of the object depends. Does not: judge values, which happens when a member is written (`member_steps`).

An alternative `{"properties": {"a": …}}` can still fail as long as `a` may come; afterwards it holds for certain. Two
such alternatives of a `oneOf` make the obligation false, which is detected here without a search. A member that no
alternative mentions brings no end nearer, so a search treats states that differ only in such members as equal.
"""

from collections.abc import Iterable
from functools import cached_property

from ..logic.atoms import MemberCount, Properties, Required
from ..logic.formula import Atom, Formula, Op, Pool
from ..logic.residual import Obligation, deep_atoms
from .names import OTHER, BetweenMembers, Seen
from .property_classes import PropertyClasses


class ClosedProperties:
    """The closed properties of the objects of one obligation. Sets of names are bit masks by label."""

    def __init__(self, pool: Pool, properties: PropertyClasses) -> None:
        self._pool = pool
        self._properties = properties
        self._closable: dict[Formula, tuple[tuple[Formula, int], ...]] = {}
        self._without: dict[tuple[Formula, tuple[Formula, ...]], Formula] = {}
        self._relevant_in: dict[Formula, int] = {}
        self._counted: dict[tuple[frozenset[str], int], frozenset[str]] = {}
        self._bits: dict[Seen, int] = {}

    def between(self, obligation: Obligation, seen: Seen) -> BetweenMembers:
        """The simplified state between members."""
        return BetweenMembers(self._reduced(obligation, seen, 0), seen)

    def searched(self, obligation: Obligation, seen: Seen, begun: int) -> BetweenMembers:
        """The state of a search that has skipped the first `begun` names of its order, with the relevant names only."""
        obligation = self._reduced(obligation, seen, begun)
        return BetweenMembers(obligation, self.counted(obligation.must, seen, begun))

    def counted(self, must: Formula, seen: Seen, begun: int = 0) -> Seen:
        """The names of `seen` on which the end of the object depends; a position is returned as it is."""
        if not seen or isinstance(seen, int):
            return seen
        key = (seen, self._relevant(must) & ~self._passed[begun])
        found = self._counted.get(key)
        if found is None:
            label_of, names = self._properties.label_of, key[1]
            found = frozenset(text for text in seen if names >> label_of[text] & 1)
            self._counted[key] = found
        return found

    def _relevant(self, must: Formula) -> int:
        """The names of members that can bring an end nearer: required ones, and those in alternatives."""
        found = self._relevant_in.get(must)
        if found is None:
            demanded, found = {id(part.atom) for part in _conjuncts(must)}, 0
            for atom in deep_atoms(Obligation(must, ())):
                if isinstance(atom, Required):
                    found |= self._bits_of(atom.names)
                elif id(atom) not in demanded or isinstance(atom, MemberCount):
                    found |= self._touched(atom)
            self._relevant_in[must] = found
        return found

    def _touched(self, atom: Atom) -> int:
        """The names of members that may change an atom of an alternative, or a count."""
        if isinstance(atom, Properties) and atom.rest is None and not atom.patterns:
            return self._names(atom)
        return -1

    def _reduced(self, obligation: Obligation, seen: Seen, begun: int) -> Obligation:
        closable = self._closable_in(obligation.must)
        if not closable:
            return obligation
        still_possible = ~(self._past(seen) | self._passed[begun])
        closed = tuple(part for part, names in closable if not names & still_possible)
        if not closed:
            return obligation
        key = (obligation.must, closed)
        must = self._without.get(key)
        if must is None:
            must = self._without[key] = self._pool.put(
                obligation.must, dict.fromkeys(closed, self._pool.true)
            )
        return Obligation(must, () if must is self._pool.false else obligation.queries)

    def _closable_in(self, must: Formula) -> tuple[tuple[Formula, int], ...]:
        """The atoms of alternatives that are only about named members, each with these names."""
        found = self._closable.get(must)
        if found is None:
            demanded = set(_conjuncts(must))
            found = self._closable[must] = tuple(
                (part, self._names(part.atom))
                for part in must.atoms
                if isinstance(part.atom, Properties)
                and part.atom.rest is None
                and not part.atom.patterns
                and part not in demanded
            )
        return found

    def _names(self, props: Properties) -> int:
        return self._bits_of({text for text, _ in props.named})

    def _bits_of(self, texts: Iterable[str]) -> int:
        label_of = self._properties.label_of
        return sum(1 << label_of[text] for text in texts)

    def _past(self, seen: Seen) -> int:
        bits = self._bits.get(seen)
        if bits is None:
            if isinstance(seen, int):
                count = len(self._properties.names)
                bits = (1 << (count if seen == OTHER else seen)) - 1
            else:
                bits = self._bits_of(seen)
            self._bits[seen] = bits
        return bits

    @cached_property
    def _passed(self) -> tuple[int, ...]:
        """For each count of skipped names, in the order of searches, the set of these names."""
        passed = [0]
        for label in self._properties.search_order:
            passed.append(passed[-1] | 1 << label)
        return tuple(passed)


def _conjuncts(must: Formula) -> tuple[Formula, ...]:
    return must.args if must.op is Op.ALL else (must,)
