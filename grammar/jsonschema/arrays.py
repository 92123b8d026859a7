"""Arrays, item by item: what each position asks of its value and what is left to show afterwards.

Does: derive folds by items. Does not: write punctuation (`rules`) or search for ends (`costs`).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .atoms import Contains, ItemCount, ItemCover, Items, OtherItems, Unique
from .formula import Atom, Formula
from .plans import ENUMERATED, Plan, Truths, exact_plan, ways, wide_plan
from .residual import Fold, deep_atoms, substitute_all

if TYPE_CHECKING:
    from .language import Language


@dataclass(frozen=True, slots=True)
class Row:
    """A place between items."""

    fold: Fold


class Sequence:
    """What the items of one array are asked. Shared by all states of the rule."""

    def __init__(self, language: "Language", fold: Fold) -> None:
        self.language = language
        self._pool = language.normal.pool
        self.start = Row(fold)
        self._plans: dict[Row, Plan | None] = {}

    def unique(self, row: Row) -> bool:
        """Whether it still counts if two items are equal."""
        return any(isinstance(atom, Unique) for atom in deep_atoms(row.fold))

    def plan(self, row: Row) -> Plan | None:
        """What the next item is asked; None: there cannot be one."""
        if row not in self._plans:
            self._plans[row] = self._make_plan(row)
        return self._plans[row]

    def ways(self, row: Row) -> Iterator[tuple[Formula, Fold | None]]:
        """What the next item can be and what it leaves; None: something that cannot be told in advance."""
        if self._derive(row.fold, None, twin=False).must is self._pool.false:
            return
        children = self._children(row.fold)
        for literal, truths in ways(self.language, row.fold.must, children, self._needs):
            new = None if truths is None else self._derive(row.fold, truths, twin=False)
            if new is None or new.must is not self._pool.false:
                yield literal, new

    def _children(self, fold: Fold) -> tuple[Formula, ...]:
        found: dict[Formula, None] = {}
        for atom in deep_atoms(fold):
            found.update(dict.fromkeys(self._asked(atom)))
        constants = (self._pool.true, self._pool.false)
        return tuple(formula for formula in found if formula not in constants)

    def _make_plan(self, row: Row) -> Plan | None:
        if self._derive(row.fold, None, twin=False).must is self._pool.false:
            return None
        children = self._children(row.fold)

        def after(truths: Truths, twin: bool) -> Fold | None:
            new = self._derive(row.fold, truths, twin)
            return None if new.must is self._pool.false else new

        def alive(new: Fold) -> bool:
            return self.language.costs.of_state(self, Row(new)) is not None

        if len(children) <= ENUMERATED:
            return exact_plan(self._pool, children, after, alive)
        return wide_plan(self._pool, row.fold.must, children, self._needs, after)

    def _needs(self, atom: Atom) -> Formula:
        return self._pool.all(self._asked(atom)) if isinstance(atom, Items) else self._pool.true

    def _asked(self, atom: Atom) -> list[Formula]:
        """The formulas whose truth of the next item decides something about the atom."""
        if isinstance(atom, Items):
            sub = atom.prefix[0] if atom.prefix else atom.rest
            return [] if sub is None else [sub.formula]
        if isinstance(atom, Contains):
            return [atom.sub.formula]
        if isinstance(atom, OtherItems):
            contained = [
                cover.contains.formula for cover, _ in atom.covers if cover.contains is not None
            ]
            return [atom.sub.formula, *contained]
        return []

    def _derive(self, fold: Fold, truths: Truths | None, twin: bool) -> Fold:
        """The fold after one item; `truths` None: as far as it can be told before its value is known."""
        pool = self._pool

        def true(formula: Formula) -> bool:
            if formula is pool.true or formula is pool.false:
                return formula is pool.true
            return True if truths is None else truths[formula]

        def meaning(atom: Atom) -> Formula | None:
            if isinstance(atom, Items):
                if not all(map(true, self._asked(atom))):
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
                return pool.false if twin else None
            return self._others(atom, true) if isinstance(atom, OtherItems) else None

        return substitute_all(pool, fold, meaning)

    def _fewer(self, atom: ItemCount | Contains, free: ItemCount | Contains, by: int) -> Formula:
        """The rest of a count after `by` more; `free` is the one that asks for nothing."""
        if atom.most is not None and atom.most < by:
            return self._pool.false
        most = None if atom.most is None else atom.most - by
        left = replace(atom, least=max(atom.least - by, 0), most=most)
        return self._pool.true if left == free else self._pool.of(left)

    def _others(self, atom: OtherItems, true: Callable[[Formula], bool]) -> Formula:
        pool = self._pool
        covers = tuple(
            (ItemCover(max(cover.prefix - 1, 0), cover.contains, cover.everything), holds)
            for cover, holds in atom.covers
        )
        left = pool.of(OtherItems(atom.sub, covers))
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
