"""The members of plain objects: the names already written determine which may follow.

Does: number the states between members; give the names that may follow, the plans of their values and the cost of the
rest. Does not: recognise plain objects (`plain_objects`), handle others (`object_language`), write punctuation
(`rules`).
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...automata import Dfa
from ...machine.rule import Call, as_written
from ..logic.formula import Formula
from ..logic.value_plan import ValuePlan
from ..read.writing_options import Options
from ..writing.byte_cost import Cost, Punctuation
from .name_leaves import name_bytes
from .plain_objects import Conjunction, PlainObjects
from .property_classes import Labels, NameLeaf, PropertyClasses


@dataclass(frozen=True, slots=True)
class BetweenPlainMembers:
    """A state between the members of a plain object.

    `past`: the named members that can no longer come, one bit per label: those that were written, and in the declared
    order also those before them.
    """

    past: int

    def __hash__(self) -> int:
        return hash(_octets(self.past))


def _labels_of(mask: int) -> list[int]:
    """The labels in a mask: one by one, shifts of a long one take time in proportion to the square of its length."""
    bits = np.unpackbits(np.frombuffer(_octets(mask), np.uint8), bitorder="little")
    found: list[int] = np.flatnonzero(bits).tolist()
    return found


def _octets(mask: int) -> bytes:
    """A mask as bytes, for look-ups: Python hashes integers modulo 2^61 - 1, so only 61 powers of two differ."""
    return mask.to_bytes(mask.bit_length() + 7 >> 3, "little")


class PlainMembers:
    """The members of the plain objects of one obligation."""

    start = BetweenPlainMembers(0)

    def __init__(
        self,
        plain: PlainObjects,
        conjunction: Conjunction,
        labels: frozenset[int],
        options: Options,
        punctuation: Punctuation,
        cost_of: Callable[[Formula], Cost | None],
    ) -> None:
        """`labels`: of all names that can occur. `cost_of`: the cost of a value of a formula."""
        names = plain.properties
        self._plain = plain
        self._atoms = conjunction.others
        self._able = tuple(sorted(label for label in labels if label < self._named))
        self.others = frozenset(label for label in labels if label >= self._named)
        self._demanded = sum(1 << names.label_of[text] for text in conjunction.names)
        self._any_order = options.any_order
        self._punctuation = punctuation
        self._cost_of = cost_of
        every = (1 << self._named) - 1
        # If any other name may come, one always remains, and written names are remembered as texts.
        open_to_all = bool(self.others) and not names.patterns and not names.name_formulas
        self._counts = self._demanded if open_to_all else every
        self._costs: dict[int, Cost] = {}
        self._last = 0, punctuation.close(empty=False)
        self._rests: dict[bytes, Cost] = {}  # by the labels still required

    @property
    def properties(self) -> PropertyClasses:
        """The names of the objects."""
        return self._plain.properties

    @property
    def _named(self) -> int:
        return len(self._plain.properties.names)

    @cached_property
    def _able_mask(self) -> int:
        return sum(1 << label for label in self._able)

    @cached_property
    def leaf(self) -> Dfa:
        """All names; see `PropertyClasses.leaf`."""
        return self.properties.leaf(self.others.union(self._able))

    def plan_of(self, label: int) -> ValuePlan:
        """The plan of the value under a label."""
        plain = self._plain
        needs = plain.needs(self._atoms, label)
        assert needs is not None  # else the object would not be plain
        plan = plain.plan(needs)
        assert plan is not None  # else the name would not be offered
        return plan

    def complete(self, state: BetweenPlainMembers) -> bool:
        """Whether the object may end."""
        return not self._demanded & ~state.past

    def labels(self, state: BetweenPlainMembers) -> Labels:
        """The labels of the names that may follow. In the declared order no required name is skipped."""
        past = state.past
        due = self._demanded & ~past
        if self._any_order:
            return self.others.union(_labels_of(self._able_mask & ~past))
        # In this order, all names up to the last one are past.
        begin = bisect_left(self._able, past.bit_length())
        end, others = len(self._able), self.others
        if due:
            end, others = bisect_right(self._able, (due & -due).bit_length() - 1), frozenset[int]()
        able = self._able[begin:end]
        if able and not others and able[-1] - able[0] == end - begin - 1:
            return range(able[0], able[-1] + 1)
        return others.union(able)

    def due(self, state: BetweenPlainMembers, labels: Labels) -> frozenset[int]:
        """The labels of the required names among `labels`, those of the names that may follow."""
        due = self._demanded & ~state.past
        if not due:
            return frozenset()
        if self._any_order:
            return frozenset(_labels_of(due & self._able_mask))
        first = (due & -due).bit_length() - 1  # no label after it may follow
        return frozenset((first,)) if first in labels else frozenset()

    def names(self, state: BetweenPlainMembers) -> "PlainKeys | None":
        """The names that may follow; None if there are none."""
        labels = self.labels(state)
        if not labels:
            return None
        part = self.properties.parts.of(labels, self.leaf, self.properties.order)
        return PlainKeys(self, state, labels, part)

    def after(self, state: BetweenPlainMembers, label: int) -> BetweenPlainMembers:
        """The state after a member."""
        if self._any_order:
            return BetweenPlainMembers(state.past | 1 << label & self._counts)
        return BetweenPlainMembers((2 << min(label, self._named - 1)) - 1 if self._named else 0)

    def least(self, state: BetweenPlainMembers, opened: bool) -> Cost:
        """The cost of the rest of an object; `opened`: right after its opening brace."""
        costs = self._punctuation
        due = self._demanded & ~state.past
        if not due:
            return costs.close(empty=opened)
        total = self._after_others(due) if self._any_order else self._rests.get(_octets(due))
        if total is None:
            total, left = costs.close(empty=False), due
            while left:  # the last names are what is due after the others
                total += self._cost(left.bit_length() - 1)
                left ^= 1 << left.bit_length() - 1
                self._rests[_octets(due ^ left)] = total
        return costs.without_comma(total) if opened else total

    def _after_others(self, due: int) -> Cost:
        """The cost of the names that are due, in any order, from that of the last query: most names are the same."""
        known, total = self._last
        for label in _labels_of(due ^ known):
            total += self._cost(label).times(1 if due >> label & 1 else -1)
        self._last = due, total
        return total

    def _cost(self, label: int) -> Cost:
        cost = self._costs.get(label)
        if cost is None:
            value = self._cost_of(self.plan_of(label).must)
            assert value is not None  # else it would not be required
            name = self.properties.all_names[label]
            cost = self._costs[label] = self._punctuation.member(name_bytes(name), value)
        return cost


@dataclass(frozen=True, eq=False, slots=True)
class PlainKeys:
    """The names that may follow a state; also the key with which the machine resumes after one of them."""

    members: PlainMembers
    state: BetweenPlainMembers
    labels: Labels
    leaf: NameLeaf

    @property
    def properties(self) -> PropertyClasses:
        """The names of the object."""
        return self.members.properties

    @property
    def call(self) -> Call:
        """The call that reads one of the names; see `Keys.call`."""
        members = self.members
        same = None if members.others.isdisjoint(self.labels) else as_written
        due = members.due(self.state, self.labels)
        return self.leaf.call(self, self.labels, due, same)

    def before_value(self, outcome: int) -> tuple[ValuePlan, BetweenPlainMembers]:
        """The plan of the member after its name was read, and the state after the member."""
        label = outcome + self.leaf.first
        return self.members.plan_of(label), self.members.after(self.state, label)
