"""The members of plain objects: the names already written determine which may follow.

Does: number the states between members; give the names that may follow, the plans of their values and the cost of the
rest. Does not: recognise plain objects (`plain_objects`), handle others (`object_language`), write punctuation
(`rules`).
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from ...automata import Dfa
from ...machine.rule import Call, as_written
from ..logic.formula import Formula
from ..logic.value_plan import ValuePlan
from ..read.writing_options import Options
from ..writing.byte_cost import Cost, Punctuation
from .name_leaves import name_bytes
from .plain_objects import Conjunction, PlainObjects
from .property_classes import NameLeaf, PropertyClasses


@dataclass(frozen=True, slots=True)
class BetweenPlainMembers:
    """A state between the members of a plain object.

    `gone`: the named members that can no longer come, one bit per label: those that were written, and in the declared
    order also those before them.
    """

    gone: int

    def __hash__(self) -> int:
        return hash(_octets(self.gone))


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
        self._named = len(names.names)
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
        self._rests: dict[bytes, Cost] = {}  # by the labels still required

    @property
    def properties(self) -> PropertyClasses:
        """The names of the objects."""
        return self._plain.properties

    @cached_property
    def leaf(self) -> Dfa:
        """All names; see `PropertyClasses.leaf`."""
        return self.properties.leaf(self.others.union(self._able))

    def asked(self, label: int) -> ValuePlan:
        """The plan of the value under a label."""
        plain = self._plain
        needs = plain.needs(self._atoms, label)
        assert needs is not None  # else the object would not be plain
        plan = plain.plan(needs)
        assert plan is not None  # else the name would not be offered
        return plan

    def complete(self, state: BetweenPlainMembers) -> bool:
        """Whether the object may end."""
        return not self._demanded & ~state.gone

    def labels(self, state: BetweenPlainMembers) -> frozenset[int]:
        """The labels of the names that may follow. In the declared order no required name is skipped."""
        gone = state.gone
        due = self._demanded & ~gone
        if self._any_order:
            return self.others.union(label for label in self._able if not gone >> label & 1)
        begin = bisect_left(
            self._able, gone.bit_length()
        )  # in this order, all up to the last one are gone
        if not due:
            return self.others.union(self._able[begin:])
        first = (due & -due).bit_length() - 1
        return frozenset(self._able[begin : bisect_right(self._able, first)])

    def due(self, state: BetweenPlainMembers, labels: frozenset[int]) -> frozenset[int]:
        """The labels of the required names among `labels`, those of the names that may follow."""
        due = self._demanded & ~state.gone
        return frozenset(label for label in labels if due >> label & 1)

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
            return BetweenPlainMembers(state.gone | 1 << label & self._counts)
        return BetweenPlainMembers((2 << min(label, self._named - 1)) - 1 if self._named else 0)

    def least(self, state: BetweenPlainMembers, opened: bool) -> Cost:
        """The cost of the rest of an object; `opened`: right after its opening brace."""
        costs = self._punctuation
        due = self._demanded & ~state.gone
        if not due:
            return costs.close(empty=opened)
        total = self._rests.get(_octets(due))
        if total is None:
            total, left = costs.close(empty=False), due
            while left:
                total += self._cost(left.bit_length() - 1)
                left ^= 1 << left.bit_length() - 1
                if not self._any_order:  # then the last names are what is due after the others
                    self._rests[_octets(due ^ left)] = total
            self._rests[_octets(due)] = total
        return costs.without_comma(total) if opened else total

    def _cost(self, label: int) -> Cost:
        cost = self._costs.get(label)
        if cost is None:
            value = self._cost_of(self.asked(label).must)
            assert value is not None  # else it would not be required
            name = self.properties.all_names[label]
            cost = self._costs[label] = self._punctuation.member(name_bytes(name), value)
        return cost


@dataclass(frozen=True, eq=False, slots=True)
class PlainKeys:
    """The names that may follow a state; also the key with which the machine resumes after one of them."""

    members: PlainMembers
    state: BetweenPlainMembers
    labels: frozenset[int]
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
        return self.members.asked(label), self.members.after(self.state, label)
