"""The members of plain objects: what may come next is told by which names were written, and by nothing else.

Does: number the places between members, say which names may come there, what their values are asked and how far the
end is. Does not: see that an object is plain (`plain`), handle any other (`objects`), write punctuation (`rules`).
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ...automata import Dfa
from ...machine.rule import Call, as_written
from ..logic.value_plan import Plan
from .conjunctive import Frame

if TYPE_CHECKING:
    from ..rules.costs import Cost
    from .objects import Layout


@dataclass(frozen=True, slots=True)
class Written:
    """A place between the members of a plain object.

    `gone`: the named members that cannot come any more, a bit for each label: in any order those that were written, in
    the declared order those before them too.
    """

    gone: int


class PlainMembers:
    """The members of the objects of one layout."""

    start = Written(0)

    def __init__(self, layout: "Layout", frame: Frame, labels: frozenset[int]) -> None:
        """`labels`: of all names that can come at some time."""
        names = layout.vocabulary
        self.layout = layout
        self._atoms = frame.others
        self._named = len(names.names)
        self._able = tuple(sorted(label for label in labels if label < self._named))
        self.others = frozenset(label for label in labels if label >= self._named)
        self._demanded = sum(1 << names.label_of[text] for text in frame.names)
        self._any_order = layout.language.options.any_order
        every = (1 << self._named) - 1
        # Where any other name may come, one is always left, and those written are remembered as texts.
        open_to_all = bool(self.others) and not names.patterns and not names.name_formulas
        self._counts = self._demanded if open_to_all else every
        self._costs: dict[int, Cost] = {}
        self._rests: dict[int, Cost] = {}  # by the labels still demanded

    @cached_property
    def leaf(self) -> Dfa:
        """All names; see `NameLeaves.names`."""
        return self.layout.language.names.names(self.layout)

    def asked(self, label: int) -> Plan:
        """What is asked of the value under a label."""
        plain = self.layout.plain
        needs = plain.needs(self._atoms, label)
        assert needs is not None  # else the object were not plain
        plan = plain.plan(needs)
        assert plan is not None  # else the name could not come
        return plan

    def complete(self, place: Written) -> bool:
        """Whether the object may end."""
        return not self._demanded & ~place.gone

    def labels(self, place: Written) -> frozenset[int]:
        """The labels of the names that may come next. In the declared order none that is demanded is passed over."""
        gone = place.gone
        due = self._demanded & ~gone
        able = [label for label in self._able if not gone >> label & 1]
        if self._any_order or not due:
            return self.others.union(able)
        first = (due & -due).bit_length() - 1
        return frozenset(label for label in able if label <= first)

    def names(self, place: Written) -> "PlainKeys | None":
        """The names that may come next, None if there are none."""
        labels = self.labels(place)
        return PlainKeys(self, place, labels) if labels else None

    def after(self, place: Written, label: int) -> Written:
        """The place behind a member."""
        if self._any_order:
            return Written(place.gone | 1 << label & self._counts)
        return Written((2 << min(label, self._named - 1)) - 1 if self._named else 0)

    def least(self, place: Written, opened: bool) -> "Cost":
        """What the rest of an object costs; `opened`: its first member would have no comma."""
        costs = self.layout.language.costs
        due = self._demanded & ~place.gone
        if not due:
            return costs.close(empty=opened)
        total = self._rests.get(due)
        if total is None:
            total, left = costs.close(empty=False), due
            while left:
                total += self._cost(left.bit_length() - 1)
                left ^= 1 << left.bit_length() - 1
            self._rests[due] = total
        return costs.without_comma(total) if opened else total

    def _cost(self, label: int) -> "Cost":
        cost = self._costs.get(label)
        if cost is None:
            costs = self.layout.language.costs
            value = costs.value(self.asked(label).must)
            assert value is not None  # else it could not come
            name = self.layout.vocabulary.all_names[label]
            cost = self._costs[label] = costs.member(name, value)
        return cost


@dataclass(frozen=True, eq=False, slots=True)
class PlainKeys:
    """The names that may come next at a place; also what the machine hands back after one of them was read."""

    members: PlainMembers
    place: Written
    labels: frozenset[int]

    @property
    def layout(self) -> "Layout":
        """Of the object."""
        return self.members.layout

    @property
    def call(self) -> Call:
        """The call that reads one of the names; see `Keys.call`."""
        members = self.members
        same = None if members.others.isdisjoint(self.labels) else as_written
        return Call(members.leaf, self, same=same, live=self.labels, usual=min(self.labels))

    def given(self, label: int) -> tuple[Plan, Written]:
        """What the member is asked after its name was read, and the place behind it."""
        return self.members.asked(label), self.members.after(self.place, label)
