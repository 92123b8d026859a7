"""Objects with a conjunction as obligation: the usual case, in which no combination has to be tried.

Does: recognise conjunctions, take them apart, give the formula of each member. Does not: handle alternatives
(`logic.value_plan`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

from ..logic.atoms import (
    AtLeast,
    AtMost,
    Integer,
    ItemCount,
    Items,
    Length,
    MemberCount,
    MultipleOf,
    Properties,
    PropertyNames,
    Required,
    Types,
    UnevaluatedItems,
    UnevaluatedMembers,
    Unique,
)
from ..logic.evaluate import holds
from ..logic.formula import Atom, Formula, Op, Pool
from ..logic.residual import Obligation
from ..logic.value_plan import ValuePlan
from ..read.values import TRUE, List, Map, Value
from ..writing.byte_cost import Cost
from .member_steps import MemberSteps
from .names import Name
from .property_classes import PropertyClasses

_PROBES: Final[tuple[Value, ...]] = (None, TRUE, "", "a", 0, 1, Map(frozenset()), List(()))
# Atoms that are quickly evaluated for a probe.
_CHEAP: Final = (
    *(AtLeast, AtMost, Integer, Length, MultipleOf, Types),
    *(ItemCount, Items, UnevaluatedItems, Unique),
    *(MemberCount, UnevaluatedMembers, Properties, Required),
)


@dataclass(frozen=True, slots=True)
class Conjunction:
    """A conjunction: the atoms about all members, the names still required, and the remaining member counts."""

    others: tuple[Formula, ...]
    names: frozenset[str]
    least: int
    most: int | None

    @property
    def suffices(self) -> bool:
        """Whether the required names alone satisfy the counts."""
        count = len(self.names)
        return self.least <= count and (self.most is None or count <= self.most)


def conjunction_of(must: Formula) -> Conjunction | None:
    """The parts of a formula about objects; None if it is not a conjunction of atoms."""
    parts = () if must.op is Op.TRUE else must.args if must.op is Op.ALL else (must,)
    others: list[Formula] = []
    names: frozenset[str] = frozenset()
    least, most = 0, None
    for part in parts:
        atom = part.atom
        if part.op is not Op.ATOM:
            return None
        if isinstance(atom, Required):
            names |= atom.names
        elif isinstance(atom, MemberCount):
            least = max(least, atom.least)
            most = (
                atom.most if most is None else min(most, most if atom.most is None else atom.most)
            )
        elif isinstance(atom, Properties | PropertyNames | UnevaluatedMembers):
            others.append(part)
        else:
            return None
    return Conjunction(tuple(others), names, least, most)


class PlainObjects:
    """The members of objects with a conjunction as obligation."""

    def __init__(
        self,
        pool: Pool,
        steps: MemberSteps,
        properties: PropertyClasses,
        cost_of: Callable[[Formula], Cost | None],
    ) -> None:
        """`cost_of`: the cost of a value of a formula, None if it has none."""
        self._pool = pool
        self._cost_of = cost_of
        self._steps = steps
        self.properties = properties
        self._conjunctions: dict[Formula, Conjunction | None] = {}
        self._open: dict[Formula, Conjunction | None] = {}
        self._labels: dict[tuple[Formula, ...], frozenset[int] | None] = {}
        self._needed: dict[tuple[tuple[Formula, ...], int], Formula | None] = {}
        self._by_name: dict[tuple[Formula, ...], _ByName] = {}
        self._plans: dict[Formula, ValuePlan] = {}

    def conjunction(self, must: Formula) -> Conjunction | None:
        """The parts of `must` if it is a conjunction, else None."""
        if must not in self._conjunctions:
            self._conjunctions[must] = conjunction_of(must)
        return self._conjunctions[must]

    def _open_conjunction(self, obligation: Obligation) -> Conjunction | None:
        """The conjunction under which each member counts by itself: its value never prevents the others."""
        if obligation.queries:
            return None
        if obligation.must not in self._open:
            conjunction = self.conjunction(obligation.must)
            free = conjunction is not None and conjunction.suffices and conjunction.most is None
            self._open[obligation.must] = (
                conjunction
                if conjunction is not None and free and self._ends(conjunction)
                else None
            )
        return self._open[obligation.must]

    def _ends(self, conjunction: Conjunction) -> bool:
        """Whether each required member has a value: the last remaining alternative may have none."""
        label_of = self.properties.label_of
        formulas = (self.needs(conjunction.others, label_of[text]) for text in conjunction.names)
        return all(needs is not None and self._possible(needs) for needs in formulas)

    def _possible(self, needs: Formula) -> bool:
        """Whether any value satisfies a formula."""
        return _plainly_possible(needs) or self._cost_of(needs) is not None

    def needs(self, others: tuple[Formula, ...], label: int) -> Formula | None:
        """The formula of a member's value under the atoms of a conjunction; `false` if the member cannot come.

        None if it depends on the rest of the object.
        """
        key = (others, label)
        if key not in self._needed:
            self._needed[key] = self._find_needs(others, self.properties.all_names[label])
        return self._needed[key]

    def _find_needs(self, others: tuple[Formula, ...], name: Name) -> Formula | None:
        pool = self._pool
        formulas: list[Formula] = []
        if others not in self._by_name:
            self._by_name[others] = _by_name(others)
        for atom in self._by_name[others].of(name):
            if isinstance(atom, PropertyNames) and atom.sub.formula not in name.valid:
                return pool.false
            if isinstance(atom, UnevaluatedMembers):
                covered = self._steps.uncovered(atom, name)
                if covered is not pool.true and covered is not pool.false:
                    return None
                if self._decides(atom, name):
                    return None
            formulas += self._steps.value_formulas(atom, name)
        return pool.all(formulas)

    def _decides(self, atom: UnevaluatedMembers, name: Name) -> bool:
        """Whether the value of the member affects which other members are evaluated."""
        conditions = (part.atom for _, holds in atom.covers for part in holds.atoms)
        return any(
            isinstance(inner, UnevaluatedMembers) or self._steps.value_formulas(inner, name)
            for inner in conditions
        )

    def value_needs(self, obligation: Obligation, label: int) -> Formula | None:
        """The formula of a member of an open conjunction; None if it depends on the rest of the object."""
        conjunction = self._open_conjunction(obligation)
        return None if conjunction is None else self.needs(conjunction.others, label)

    def plan(self, needs: Formula) -> ValuePlan | None:
        """The plan of a member with this formula; None if the member cannot come.

        Whatever its value, the object can still be completed.
        """
        if needs is self._pool.false:
            return None
        if needs not in self._plans:
            self._plans[needs] = ValuePlan(needs, (), None)
        return self._plans[needs]

    def labels(self, obligation: Obligation) -> frozenset[int] | None:
        """The labels of all names that can occur in a plain object; None if they depend on the rest of the object."""
        conjunction = self._open_conjunction(obligation)
        if conjunction is None:
            return None
        if conjunction.others not in self._labels:
            self._labels[conjunction.others] = self._find_labels(conjunction.others)
        return self._labels[conjunction.others]

    def _find_labels(self, others: tuple[Formula, ...]) -> frozenset[int] | None:
        labels = []
        for label in range(len(self.properties.all_names)):
            needs = self.needs(others, label)
            if needs is None:
                return None
            if self._possible(needs):
                labels.append(label)
        return frozenset(labels)


class _ByName(NamedTuple):
    """The atoms of a conjunction, by number and by name: there may be a thousand, each about one name."""

    by_name: dict[str | None, list[tuple[int, Atom]]]
    always: list[tuple[int, Atom]]

    def of(self, name: Name) -> list[Atom]:
        """The atoms about members of this name, in their order."""
        named = self.by_name.get(name.text)
        return [atom for _, atom in (sorted([*self.always, *named]) if named else self.always)]


def _by_name(others: tuple[Formula, ...]) -> _ByName:
    found = _ByName({}, [])
    for number, part in enumerate(others):
        atom = part.atom
        assert atom is not None
        if isinstance(atom, Properties) and not atom.patterns and atom.rest is None:
            for text, _ in atom.named:
                found.by_name.setdefault(text, []).append((number, atom))
        else:
            found.always.append((number, atom))
    return found


def _plainly_possible(formula: Formula) -> bool:
    """Whether one of a few probes satisfies a formula, so that no automaton is needed."""
    cheap = all(isinstance(part.atom, _CHEAP) for part in formula.atoms)
    return cheap and any(holds(formula, value) for value in _PROBES)
