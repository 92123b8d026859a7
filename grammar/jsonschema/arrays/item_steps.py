"""Derivatives of the obligation of an array by its items.

Does: give the formulas that an atom asks of the next item; derive obligations by an item. Does not: choose items
(`array_language`).
"""

from collections.abc import Callable
from dataclasses import replace

from ..logic.atoms import Contains, ItemCount, ItemCover, Items, UnevaluatedItems, Unique
from ..logic.formula import Atom, Formula, Op, Pool
from ..logic.residual import Obligation, deep_atoms, substitute_all
from ..logic.value_plan import Truths


class ItemSteps:
    """Derivatives of obligations by items."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._differing: dict[Formula, Formula | None] = {}

    def children(self, obligation: Obligation) -> tuple[Formula, ...]:
        """The formulas about the next item that the obligation depends on, without constants."""
        found: dict[Formula, None] = {}
        for atom in deep_atoms(obligation):
            found.update(dict.fromkeys(self.item_formulas(atom)))
        constants = (self._pool.true, self._pool.false)
        return tuple(formula for formula in found if formula not in constants)

    def needs(self, atom: Atom) -> Formula:
        """The formula of the items that can keep the atom true, as far as this item decides."""
        return (
            self._pool.all(self.item_formulas(atom)) if isinstance(atom, Items) else self._pool.true
        )

    def item_formulas(self, atom: Atom) -> list[Formula]:
        """The formulas about the next item that the atom depends on."""
        if isinstance(atom, Items):
            sub = atom.prefix[0] if atom.prefix else atom.rest
            return [] if sub is None else [sub.formula]
        if isinstance(atom, Contains):
            return [atom.sub.formula]
        if isinstance(atom, UnevaluatedItems):
            contained = [
                cover.contains.formula for cover, _ in atom.covers if cover.contains is not None
            ]
            return [atom.sub.formula, *contained]
        return []

    def differing(self, must: Formula) -> Formula | None:
        """What is certain of the next item where all items must differ; None if they need not.

        As far as conjunctions and alternatives tell.
        """
        if must not in self._differing:
            obligation = Obligation(must, ())
            is_forced = (
                any(isinstance(atom, Unique) for atom in deep_atoms(obligation))
                and self.with_repeat(obligation).must is self._pool.false
            )
            self._differing[must] = self._certain(must) if is_forced else None
        return self._differing[must]

    def _certain(self, must: Formula) -> Formula:
        pool = self._pool
        if must.op is Op.ALL:
            return pool.all(map(self._certain, must.args))
        if must.op is Op.ANY or must.op is Op.ONE:
            return pool.any(map(self._certain, must.args))
        return pool.true if must.atom is None else self.needs(must.atom)

    def with_repeat(self, obligation: Obligation) -> Obligation:
        """The obligation as if two items had been equal."""
        pool = self._pool
        return substitute_all(
            pool, obligation, lambda atom: pool.false if isinstance(atom, Unique) else None
        )

    def derived(self, obligation: Obligation, truths: Truths | None, is_repeat: bool) -> Obligation:
        """The obligation after one item; with `truths` None, as far as it is known before the value."""
        pool = self._pool

        def true(formula: Formula) -> bool:
            if formula is pool.true or formula is pool.false:
                return formula is pool.true
            return True if truths is None else truths[formula]

        def meaning(atom: Atom) -> Formula | None:
            if isinstance(atom, Items):
                if not all(map(true, self.item_formulas(atom))):
                    return pool.false
                if truths is None:
                    return None
                left = Items(atom.prefix[1:], atom.rest)
                return pool.true if left == Items((), None) else pool.of(left)
            if isinstance(atom, ItemCount):
                return self._fewer(atom, ItemCount(), 1)
            if truths is None:
                return None
            if isinstance(atom, Contains):
                return self._fewer(atom, Contains(atom.sub, 0), int(true(atom.sub.formula)))
            if isinstance(atom, Unique):
                return pool.false if is_repeat else None
            return self._others(atom, true) if isinstance(atom, UnevaluatedItems) else None

        return substitute_all(pool, obligation, meaning)

    def _fewer(self, atom: ItemCount | Contains, free: ItemCount | Contains, by: int) -> Formula:
        """The rest of a count after `by` more; `free` is the count without bounds."""
        if atom.most is not None and atom.most < by:
            return self._pool.false
        most = None if atom.most is None else atom.most - by
        left = replace(atom, least=max(atom.least - by, 0), most=most)
        return self._pool.true if left == free else self._pool.of(left)

    def _others(self, atom: UnevaluatedItems, true: Callable[[Formula], bool]) -> Formula:
        pool = self._pool
        covers = tuple(
            (ItemCover(max(cover.prefix - 1, 0), cover.contains, cover.everything), holds)
            for cover, holds in atom.covers
        )
        left = pool.of(UnevaluatedItems(atom.sub, covers))
        if true(atom.sub.formula):
            return left
        covered = pool.any(
            holds
            for cover, holds in atom.covers
            if cover.everything
            or cover.prefix > 0
            or (cover.contains is not None and true(cover.contains.formula))
        )
        return pool.all([left, covered])
