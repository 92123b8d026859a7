"""Arrays, item by item: what each position asks of its value and what is left to show afterwards.

Does: plan items, tell values apart that must differ. Does not: derive folds (`item_steps`), write punctuation
(`rules`), search for ends (`costs`).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from ..logic.atoms import ItemCount, Items, OneOf, Plain, Unique
from ..logic.formula import Formula, Op, Pool, conjuncts
from ..logic.residual import Fold, deep_atoms, substitute_all
from ..logic.value_plan import ENUMERATED, Plan, Truths, exact_plan, narrowed, ways, wide_plan
from ..read.values import Value, canonical, read
from ..scalars.finite import FEW, distinct
from .item_steps import ItemSteps

if TYPE_CHECKING:
    from ..rules.language import Language


_NOTED: Final = 64  # numbers of items begin here; below, others may ask with plain outcomes


@dataclass(frozen=True, slots=True)
class BetweenItems:
    """A place between items. `used`: values that came before, of those that are few and must differ."""

    fold: Fold
    used: frozenset[Value] = frozenset()


class ArrayLanguage:
    """What the items of one array are asked. Shared by all states of the rule."""

    def __init__(self, language: "Language", fold: Fold) -> None:
        self.language = language
        self._pool = language.normal.pool
        self._steps = ItemSteps(self._pool)
        self.start = self.first = BetweenItems(fold)
        self._plans: dict[BetweenItems, Plan | None] = {}
        self._said: dict[tuple[int, Value], int] = {}
        self._sayings: list[tuple[int, Value]] = []

    def unique(self, state: BetweenItems) -> bool:
        """Whether it still counts if two items are equal."""
        return any(isinstance(atom, Unique) for atom in deep_atoms(state.fold))

    def plan(self, state: BetweenItems) -> Plan | None:
        """What the next item is asked; None: there cannot be one."""
        if state not in self._plans:
            plan = self._make_plan(state)
            if plan is not None and self.unique(state):
                parts, gone = [plan.must], self._gone(state)
                parts += [self._pool.no(self._pool.of(OneOf(gone)))] if gone else []
                # A used number must not be begun again that could only go on with zeros.
                parts += [] if self.language.options.lenient else [self._pool.of(Plain())]
                plan = replace(plan, must=self._pool.all(parts))
            lost = plan is not None and self.language.costs.value(plan.must) is None
            self._plans[state] = None if lost else plan
        return self._plans[state]

    def few(self, state: BetweenItems) -> frozenset[Value] | None:
        """The values the next item can have, where they are few and all items must differ; else None.

        Which of them came before is then part of the state: no text is begun that only a used value could end.
        """
        must = state.fold.must
        parts = [part.atom for part in (must.args if must.op is Op.ALL else (must,))]
        if not any(isinstance(atom, Unique) for atom in parts):
            return None
        asked = (
            formula
            for atom in parts
            if isinstance(atom, Items)
            for formula in self._steps.asked(atom)
        )
        return self.language.finite.values(self._pool.all(asked))

    def _gone(self, state: BetweenItems) -> frozenset[Value]:
        """The values that the next item must not have: used ones, and those that a later item cannot do without."""
        few = self.few(state)
        if few is None:
            return frozenset()
        needs = counted(self._pool, state.fold.must)
        if needs is None or len(needs.heads) < 2:
            return state.used & few
        later = [self.language.finite.values(formula) for formula in needs.demanded[1:]]
        return state.used | {
            value
            for value in few
            if not distinct([None if s is None else s - state.used - {value} for s in later])
        }

    def feasible(self, state: BetweenItems, demanded: list[Formula]) -> bool:
        """Whether items with these demands can all differ from one another and from those before."""
        sets = [self.language.finite.values(formula) for formula in demanded]
        return distinct([None if found is None else found - state.used for found in sets])

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

    def repeated(self, state: BetweenItems) -> BetweenItems | None:
        """The state as if two items had been equal; None where that loses the array. `ways` never leads there."""
        if not self.unique(state):
            return None
        pool = self._pool
        fold = substitute_all(
            pool, state.fold, lambda atom: pool.false if isinstance(atom, Unique) else None
        )
        return None if fold.must is pool.false else replace(state, fold=fold)

    def ways(self, state: BetweenItems) -> Iterator[tuple[Formula, Fold | None]]:
        """What the next item can be and what it leaves; None: something that cannot be told in advance."""
        if self._steps.derived(state.fold, None, twin=False).must is self._pool.false:
            return
        children = self._steps.children(state.fold)
        for literal, truths in ways(self.language, state.fold.must, children, self._steps.needs):
            new = None if truths is None else self._steps.derived(state.fold, truths, twin=False)
            if new is None or new.must is not self._pool.false:
                yield literal, new

    def _make_plan(self, state: BetweenItems) -> Plan | None:
        if self._steps.derived(state.fold, None, twin=False).must is self._pool.false:
            return None
        children = self._steps.children(state.fold)
        if not state.fold.asks and counted(self._pool, state.fold.must) is not None:
            return self._plain_plan(state, children)

        def after(truths: Truths, twin: bool) -> Fold | None:
            new = self._steps.derived(state.fold, truths, twin)
            return None if new.must is self._pool.false else new

        def alive(new: Fold) -> bool:
            return self.language.costs.of_state(self, BetweenItems(new, state.used)) is not None

        if len(children) <= ENUMERATED:
            return exact_plan(self._pool, children, after, alive)
        wide = wide_plan(self._pool, state.fold.must, children, self._steps.needs, after)
        return narrowed(self.language, wide, children, alive)

    def _plain_plan(self, state: BetweenItems, children: tuple[Formula, ...]) -> Plan | None:
        """The plan where each item has to be something, and there may be bounds on how many come."""
        truths = dict.fromkeys(children, True)
        new = self._steps.derived(state.fold, truths, twin=False)
        if new.must is self._pool.false:
            return None
        if self.language.costs.of_state(self, BetweenItems(new, state.used)) is None:
            return None

        def after(_outcome: int, twin: bool) -> Fold | None:
            fold = self._steps.derived(state.fold, truths, twin) if twin else new
            return None if fold.must is self._pool.false else fold

        return Plan(self._pool.all(children), (), after)


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
