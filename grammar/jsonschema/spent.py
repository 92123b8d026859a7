"""What an object's formula no longer has to say of members, because they cannot come any more.

Does: find the parts of a formula that speak only of members that were written or passed over, and take them to hold.
Does not: judge values, which happens when a member is written (`member_steps`).

An alternative `{"properties": {"a": …}}` stays open as long as `a` may come. Once it has, nothing can break it: where
exactly one alternative has to hold, two such ones mean that the object is lost, which is seen here, without a search.
"""

from functools import cached_property

from .atoms import Props
from .formula import Formula, Op, Pool
from .names import OTHER, Between, Seen
from .residual import Fold
from .vocabulary import Vocabulary


class Spent:
    """Of the objects of one layout. Sets of names are bits by label."""

    def __init__(self, pool: Pool, vocabulary: Vocabulary) -> None:
        self._pool = pool
        self._vocabulary = vocabulary
        self._closable: dict[Formula, tuple[tuple[Formula, int], ...]] = {}
        self._without: dict[tuple[Formula, tuple[Formula, ...]], Formula] = {}
        self._bits: dict[Seen, int] = {}

    def between(self, fold: Fold, seen: Seen) -> Between:
        """The place between members where `seen` tells which may still come."""
        return Between(self._reduced(fold, seen, 0), seen)

    def searched(self, fold: Fold, seen: frozenset[str], begun: int) -> Between:
        """The same in a search that has passed over the first `begun` names of its order; `seen` tells the others."""
        fold = self._reduced(fold, seen, begun)
        if seen and begun:
            label_of, passed = self._vocabulary.label_of, self._passed[begun]
            seen = frozenset(text for text in seen if not passed >> label_of[text] & 1)
        return Between(fold, seen)

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
            demanded = set(must.args) if must.op is Op.ALL else {must}
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
        label_of = self._vocabulary.label_of
        return sum(1 << label_of[text] for text in {text for text, _ in props.named})

    def _gone(self, seen: Seen) -> int:
        bits = self._bits.get(seen)
        if bits is None:
            if isinstance(seen, int):
                count = len(self._vocabulary.names)
                bits = (1 << (count if seen == OTHER else seen)) - 1
            else:
                bits = sum(1 << self._vocabulary.label_of[text] for text in seen)
            self._bits[seen] = bits
        return bits

    @cached_property
    def _passed(self) -> tuple[int, ...]:
        """Of each number of names passed over in the order of searches, which these are."""
        passed = [0]
        for label in self._vocabulary.search_order:
            passed.append(passed[-1] | 1 << label)
        return tuple(passed)
