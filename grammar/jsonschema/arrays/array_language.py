"""Arrays, item by item: the plan of each value and the obligation afterwards.

Does: make plans of items, track the used values of items that must differ. Does not: derive obligations
(`item_steps`), write punctuation or search for ends (`rules`).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from ..logic.atoms import ItemCount, Items, OneOf, Plain, Unique
from ..logic.evaluate import holds
from ..logic.formula import Formula, Pool, conjuncts
from ..logic.residual import Obligation, deep_atoms
from ..logic.value_plan import (
    ENUMERATED,
    Truths,
    ValuePlan,
    exact_plan,
    narrowed,
    value_cases,
    wide_plan,
)
from ..read.values import Value, canonical, read
from ..scalars.finite import FEW, distinct
from ..scalars.shared import Shared
from ..writing.byte_cost import Cost
from .equal_items import gains_by_repeats, refuse_forced_repeats
from .item_steps import ItemSteps

# Values left for the items of an array: up to this number, what may follow each is searched value by value.
MOST_TRIED: Final = 8
_NOTED: Final = 64  # numbers of noted items begin here; smaller numbers are plain outcomes


@dataclass(frozen=True, slots=True)
class BetweenItems:
    """A state between items. `used`: the earlier values, where items must differ and have few values.

    `empty`: no item has come yet; told only where more may follow a repeated item, or an answer depends on it.
    """

    obligation: Obligation
    used: frozenset[Value] = frozenset()
    empty: bool = False


class ArrayLanguage:
    """The arrays that satisfy an obligation. Shared by all states of a rule."""

    def __init__(
        self,
        shared: Shared,
        obligation: Obligation,
        cost_of: Callable[[Formula], Cost | None],
        rest_cost: Callable[["ArrayLanguage", BetweenItems], Cost | None],
    ) -> None:
        """`cost_of`: the cost of a value of a formula; `rest_cost`: of the rest of an array; None if there is none."""
        self._pool = shared.pool
        self._lenient = shared.options.lenient
        self._examples = shared.scalars.examples
        self._values = shared.finite.values
        self._cost_of = cost_of
        self._rest_cost = rest_cost
        self._steps = ItemSteps(self._pool)
        self.start = self.first = BetweenItems(obligation)
        self._plans: dict[BetweenItems, ValuePlan | None] = {}
        self._numbers: dict[tuple[int, Value], int] = {}
        self._noted: list[tuple[int, Value]] = []
        queried = deep_atoms(Obligation(self._pool.true, obligation.queries))
        if self.gains_by_repeats(self.start) or any(isinstance(atom, Unique) for atom in queried):
            self.start = self.first = replace(self.start, empty=True)

    def unique(self, state: BetweenItems) -> bool:
        """Whether the obligation depends on whether two items are equal."""
        return any(isinstance(atom, Unique) for atom in deep_atoms(state.obligation))

    def gains_by_repeats(self, state: BetweenItems) -> bool:
        """Whether more may follow an item that equals an earlier one than a new one."""
        return gains_by_repeats(state.obligation.must) and self.repeated(state) is not None

    def plan(self, state: BetweenItems) -> ValuePlan | None:
        """The plan of the next item; None if there cannot be one.

        Raises:
            UnsupportedConstraint: an item is legal only if it equals an earlier one.
        """
        if state not in self._plans:
            plan = self._make_plan(state)
            if plan is not None and self.unique(state):
                parts, excluded = [plan.must], self._excluded(state)
                parts += [self._pool.no(self._pool.of(OneOf(excluded)))] if excluded else []
                # One spelling for each number: else a used number could be begun that only further zeros complete.
                parts += [] if self._lenient else [self._pool.of(Plain())]
                plan = replace(plan, must=self._pool.all(parts))
            has_no_value = plan is not None and self._cost_of(plan.must) is None
            self._plans[state] = None if has_no_value else plan
        return self._plans[state]

    def finite_values(self, state: BetweenItems) -> frozenset[Value] | None:
        """The possible values of the next item, if they are few and all items must differ; else None.

        The used values are then part of the state, so that no text is begun that only a used value could complete.
        """
        possible = self._steps.differing(state.obligation.must)
        return None if possible is None else self._values(possible)

    def _excluded(self, state: BetweenItems) -> frozenset[Value]:
        """The values excluded for the next item: used ones, and those that a later item needs."""
        few = self.finite_values(state)
        if few is None:
            return frozenset()
        needs = demands_of(self._pool, state.obligation.must)
        if needs is None and len(few - state.used) <= MOST_TRIED:
            valued = self.valued(state, few)
            return few - {
                value for value, after in valued if self._rest_cost(self, after) is not None
            }
        if needs is None or len(needs.heads) < 2:
            return state.used & few
        later = [self._values(formula) for formula in needs.demanded[1:]]
        return state.used | {
            value
            for value in few
            if not distinct([None if s is None else s - state.used - {value} for s in later])
        }

    def valued(
        self, state: BetweenItems, few: frozenset[Value]
    ) -> Iterator[tuple[Value, BetweenItems]]:
        """The values among `few` that the next item may have, each with the state after it."""
        children = self._steps.children(state.obligation)
        for value in sorted(few - state.used, key=repr):
            truths = {formula: holds(formula, value) for formula in children}
            new = self._steps.derived(state.obligation, truths, is_repeat=False)
            if new.must is not self._pool.false:
                yield value, BetweenItems(new, state.used | {value})

    def feasible(self, state: BetweenItems, demanded: list[Formula]) -> bool:
        """Whether items with these formulas can all differ from one another and from the earlier items."""
        sets = [self._values(formula) for formula in demanded]
        return distinct([None if found is None else found - state.used for found in sets])

    def note(self, outcome: int, text: bytes) -> int:
        """A number that represents an item's outcome and its value; `noted` returns both."""
        item = (outcome, canonical(read(text)))
        if item not in self._numbers:
            self._numbers[item] = len(self._noted)
            self._noted.append(item)
        return _NOTED + self._numbers[item]

    def noted(self, number: int) -> tuple[int, frozenset[Value]]:
        """The outcome and the value as a set; any other number than those of `note` is an outcome itself."""
        if number < _NOTED:
            return number, frozenset()
        outcome, value = self._noted[number - _NOTED]
        return outcome, frozenset({value})

    def repeated(self, state: BetweenItems) -> BetweenItems | None:
        """The state as if two items had been equal; None if that breaks the obligation. `cases` never leads there."""
        if not self.unique(state):
            return None
        obligation = self._steps.with_repeat(state.obligation)
        if obligation.must is self._pool.false:
            return None
        return replace(state, obligation=obligation)

    def cases(self, state: BetweenItems) -> Iterator[tuple[Formula, Obligation | None]]:
        """The cases of the next item and the obligation after each; None if it is unknown in advance."""
        if self._steps.derived(state.obligation, None, is_repeat=False).must is self._pool.false:
            return
        children = self._steps.children(state.obligation)
        must, needs = state.obligation.must, self._steps.needs
        for literal, truths in value_cases(self._pool, must, children, needs, self._examples):
            new = (
                None
                if truths is None
                else self._steps.derived(state.obligation, truths, is_repeat=False)
            )
            if new is None or new.must is not self._pool.false:
                yield literal, new

    def repetitions(self, state: BetweenItems) -> Iterator[tuple[Formula, Obligation]]:
        """The cases of an item that is written twice, where that may help: its formula, the obligation afterwards."""
        for first, after in self.cases(state) if self.gains_by_repeats(state) else ():
            if after is None:
                continue
            children = self._steps.children(after)
            cases = value_cases(self._pool, after.must, children, self._steps.needs, self._examples)
            for second, truths in cases:
                if truths is not None:
                    new = self._steps.derived(after, truths, is_repeat=True)
                    if new.must is not self._pool.false:
                        yield self._pool.all([first, second]), new

    def _make_plan(self, state: BetweenItems) -> ValuePlan | None:
        if self._steps.derived(state.obligation, None, is_repeat=False).must is self._pool.false:
            return None
        children = self._steps.children(state.obligation)
        if (
            not state.obligation.queries
            and demands_of(self._pool, state.obligation.must) is not None
        ):
            return self._plain_plan(state, children)

        def after(truths: Truths, is_repeat: bool) -> Obligation | None:
            new = self._steps.derived(state.obligation, truths, is_repeat)
            return None if new.must is self._pool.false else new

        def alive(new: Obligation) -> bool:
            return self._rest_cost(self, BetweenItems(new, state.used)) is not None

        if len(children) <= ENUMERATED:
            if self.gains_by_repeats(state):
                refuse_forced_repeats(self._pool, children, after, alive, self._cost_of)
            return exact_plan(self._pool, children, after, alive)
        wide = wide_plan(self._pool, state.obligation.must, children, self._steps.needs, after)
        return narrowed(self._pool, wide, self._values(wide.must), children, alive)

    def _plain_plan(self, state: BetweenItems, children: tuple[Formula, ...]) -> ValuePlan | None:
        """The plan where each item has a formula and the number of items may be bounded."""
        truths = dict.fromkeys(children, True)
        new = self._steps.derived(state.obligation, truths, is_repeat=False)
        if new.must is self._pool.false:
            return None
        if self._rest_cost(self, BetweenItems(new, state.used)) is None:
            return None

        def after(_outcome: int, is_repeat: bool) -> Obligation | None:
            obligation = (
                self._steps.derived(state.obligation, truths, is_repeat) if is_repeat else new
            )
            return None if obligation.must is self._pool.false else obligation

        return ValuePlan(self._pool.all(children), (), after)


@dataclass(frozen=True, slots=True)
class ItemDemands:
    """The required items: the formula of each of the first (`heads`), of the `tail` items after them (`rest`)."""

    heads: list[Formula]
    rest: Formula
    tail: int
    unique: bool

    @property
    def demanded(self) -> list[Formula]:
        """The formulas of the required items; of a long tail only as many as a finite set can distinguish."""
        return [*self.heads, *[self.rest] * min(self.tail, FEW + 1)]


def demands_of(pool: Pool, must: Formula) -> ItemDemands | None:
    """The required items; None if the formula has more than counts, formulas of items and uniqueness."""
    atoms = conjuncts(must)
    if atoms is None or not all(isinstance(atom, Items | ItemCount | Unique) for atom in atoms):
        return None
    items = [atom for atom in atoms if isinstance(atom, Items)]
    counts = [atom for atom in atoms if isinstance(atom, ItemCount)]
    least = max((atom.least for atom in counts), default=0)
    if any(atom.most is not None and atom.most < least for atom in counts):
        return ItemDemands([pool.false], pool.true, 0, unique=False)
    longest = min(max((len(atom.prefix) for atom in items), default=0), least)

    def formula_at(at: int) -> Formula:
        subs = (atom.prefix[at] if at < len(atom.prefix) else atom.rest for atom in items)
        return pool.all(sub.formula for sub in subs if sub is not None)

    unique = any(isinstance(atom, Unique) for atom in atoms)
    return ItemDemands(
        [formula_at(at) for at in range(longest)], formula_at(least), least - longest, unique
    )
