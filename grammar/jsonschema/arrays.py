"""Arrays, item by item: what each position asks of its value and what is left to show afterwards.

Does: derive folds by items. Does not: write punctuation (`rules`) or search for ends (`costs`).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from .atoms import Contains, ItemCount, ItemCover, Items, OneOf, OtherItems, Plain, Unique
from .finite import FEW, distinct
from .formula import Atom, Formula, Pool, conjuncts
from .plans import ENUMERATED, Plan, Truths, exact_plan, ways, wide_plan
from .residual import Fold, deep_atoms, substitute_all
from .values import Value, canonical, read

if TYPE_CHECKING:
    from .language import Language


_NOTED: Final = 64  # numbers of items begin here; below, others may ask with plain outcomes


@dataclass(frozen=True, slots=True)
class Row:
    """A place between items. `used`: values that came before, of those that are few and must differ."""

    fold: Fold
    used: frozenset[Value] = frozenset()


class Sequence:
    """What the items of one array are asked. Shared by all states of the rule."""

    def __init__(self, language: "Language", fold: Fold) -> None:
        self.language = language
        self._pool = language.normal.pool
        self.start = Row(fold)
        self._plans: dict[Row, Plan | None] = {}
        self._said: dict[tuple[int, Value], int] = {}
        self._sayings: list[tuple[int, Value]] = []

    def unique(self, row: Row) -> bool:
        """Whether it still counts if two items are equal."""
        return any(isinstance(atom, Unique) for atom in deep_atoms(row.fold))

    def plan(self, row: Row) -> Plan | None:
        """What the next item is asked; None: there cannot be one."""
        if row not in self._plans:
            plan, gone = self._make_plan(row), self._gone(row)
            if plan is not None and self.unique(row):
                parts = [plan.must]
                parts += [self._pool.no(self._pool.of(OneOf(gone)))] if gone else []
                # A used number must not be begun again that could only go on with zeros.
                parts += [] if self.language.options.lenient else [self._pool.of(Plain())]
                plan = replace(plan, must=self._pool.all(parts))
            lost = plan is not None and self.language.costs.value(plan.must) is None
            self._plans[row] = None if lost else plan
        return self._plans[row]

    def few(self, row: Row) -> frozenset[Value] | None:
        """The values the next item can have, where they are few and all items must differ; else None.

        Which of them came before is then part of the state: no text is begun that only a used value could end.
        """
        parts = conjuncts(row.fold.must)
        if parts is None or not any(isinstance(atom, Unique) for atom in parts):
            return None
        asked = (
            formula for atom in parts if isinstance(atom, Items) for formula in self._asked(atom)
        )
        return self.language.finite.values(self._pool.all(asked))

    def _gone(self, row: Row) -> frozenset[Value]:
        """The values that the next item must not have: used ones, and those that a later item cannot do without."""
        few = self.few(row)
        if few is None:
            return frozenset()
        needs = counted(self._pool, row.fold.must)
        if needs is None or len(needs.heads) < 2:
            return row.used & few
        later = [self.language.finite.values(formula) for formula in needs.demanded[1:]]
        return row.used | {
            value
            for value in few
            if not distinct([None if s is None else s - row.used - {value} for s in later])
        }

    def feasible(self, row: Row, demanded: list[Formula]) -> bool:
        """Whether items with these demands can all differ from one another and from those before."""
        sets = [self.language.finite.values(formula) for formula in demanded]
        return distinct([None if found is None else found - row.used for found in sets])

    def note(self, outcome: int, text: bytes) -> int:
        """A number for an item that ended with an outcome: `noted` gives it back, and its value."""
        said = (outcome, canonical(read(text)))
        if said not in self._said:
            self._said[said] = len(self._sayings)
            self._sayings.append(said)
        return _NOTED + self._said[said]

    def noted(self, number: int) -> tuple[int, frozenset[Value]]:
        """The outcome, and the value as a set; of a number that `note` did not give, it is the outcome itself."""
        if number < _NOTED:
            return number, frozenset()
        outcome, value = self._sayings[number - _NOTED]
        return outcome, frozenset({value})

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
            return self.language.costs.of_state(self, Row(new, row.used)) is not None

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


@dataclass(frozen=True, slots=True)
class Needs:
    """What items there must be: what is asked of each of the first (`heads`), of the others, and how many of those."""

    heads: list[Formula]
    rest: Formula
    tail: int
    unique: bool

    @property
    def demanded(self) -> list[Formula]:
        """What is asked of each item there must be; of many with the same demand as many as can matter."""
        return [*self.heads, *[self.rest] * min(self.tail, FEW + 1)]


def counted(pool: Pool, must: Formula) -> Needs | None:
    """What is asked of the items there must be; None where more is asked than a number of items and what they are."""
    atoms = conjuncts(must)
    if atoms is None or not all(isinstance(atom, Items | ItemCount | Unique) for atom in atoms):
        return None
    items = [atom for atom in atoms if isinstance(atom, Items)]
    counts = [atom for atom in atoms if isinstance(atom, ItemCount)]
    least = max((atom.least for atom in counts), default=0)
    if any(atom.most is not None and atom.most < least for atom in counts):
        return Needs([pool.false], pool.true, 0, unique=False)
    longest = min(max((len(atom.prefix) for atom in items), default=0), least)

    def wanted(at: int) -> Formula:
        subs = (atom.prefix[at] if at < len(atom.prefix) else atom.rest for atom in items)
        return pool.all(sub.formula for sub in subs if sub is not None)

    unique = any(isinstance(atom, Unique) for atom in atoms)
    return Needs([wanted(at) for at in range(longest)], wanted(least), least - longest, unique)
