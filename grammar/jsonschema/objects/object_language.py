"""Objects, member by member: the plan of each value and the obligation afterwards.

Does: list the names that may follow, make plans of values, derive obligations. Does not: write punctuation or search
for ends (`rules`).
"""

from collections.abc import Callable, Hashable, Iterator
from functools import cached_property, partial

from ...automata import Dfa
from ..logic.formula import Formula
from ..logic.residual import Obligation, ended
from ..logic.value_plan import (
    ENUMERATED,
    Truths,
    ValuePlan,
    exact_plan,
    narrowed,
    value_cases,
    wide_plan,
)
from ..scalars.shared import Shared
from ..writing.byte_cost import Cost
from .closed_properties import ClosedProperties
from .member_steps import MemberSteps
from .name_leaves import NameLeaves
from .names import OTHER, BetweenMembers, Name, Seen
from .plain_members import BetweenPlainMembers, PlainMembers
from .plain_objects import PlainObjects
from .property_classes import PropertyClasses
from .witness_cache import WitnessCache

MemberCase = tuple[Formula, Truths | None, Obligation | None]
"""One case of a member's value: its formula, the truth of the formulas about it, and the obligation afterwards.

The last two are None if they are unknown in advance.
"""


class ObjectLanguage:
    """The objects that satisfy an obligation. Shared by all states of a rule."""

    def __init__(
        self,
        shared: Shared,
        names: NameLeaves,
        obligation: Obligation,
        cost_of: Callable[[Formula], Cost | None],
        rest_cost: Callable[["ObjectLanguage", BetweenMembers], Cost | None],
    ) -> None:
        """`cost_of`: the cost of a value of a formula; `rest_cost`: of the rest of an object; None if there is none."""
        pool, options = shared.pool, shared.options
        self.start = BetweenMembers(obligation, frozenset() if options.any_order else 0)
        self.steps = MemberSteps(pool)
        self.properties = PropertyClasses(names, self.steps, obligation, options.extra_properties)
        self.closed = ClosedProperties(pool, self.properties)
        self.witnesses = WitnessCache(pool, self.steps, self.properties)
        self.plain = PlainObjects(pool, self.steps, self.properties, cost_of)
        self._shared = shared
        self._cost_of = cost_of
        self._rest_cost = rest_cost
        self._plans: dict[Hashable, ValuePlan | None] = {}
        self._may_follow: set[Hashable] = set()
        self._cases: dict[Hashable, list[MemberCase]] = {}

    @cached_property
    def members(self) -> PlainMembers | None:
        """The members if the object is plain and can be completed, else None."""
        conjunction, labels = (
            self.plain.conjunction(self.start.obligation.must),
            self.plain.labels(self.start.obligation),
        )
        if conjunction is None or labels is None:
            return None
        if not labels.issuperset(map(self.properties.label_of.__getitem__, conjunction.names)):
            return None
        options, punctuation = self._shared.options, self._shared.punctuation
        return PlainMembers(self.plain, conjunction, labels, options, punctuation, self._cost_of)

    @cached_property
    def name_leaf(self) -> Dfa:
        """All names; see `PropertyClasses.leaf`."""
        return self.properties.leaf(self.plain.labels(self.start.obligation))

    @property
    def first(self) -> BetweenMembers | BetweenPlainMembers:
        """The state after the opening brace."""
        return self.start if self.members is None else self.members.start

    def options(self, state: BetweenMembers) -> Iterator[tuple[Obligation, int]]:
        """The labels of the names that order and uniqueness admit, each with the obligation its member derives from.

        In the declared order a skipped name can no longer come, which breaks an obligation that requires it.
        """
        count, total = len(self.properties.names), len(self.properties.all_names)
        if isinstance(state.seen, frozenset):
            for label, name in enumerate(self.properties.all_names):
                if label >= count or name.text not in state.seen:
                    yield state.obligation, label
            return
        obligation = state.obligation
        for label in range(count if state.seen == OTHER else state.seen, count):
            yield obligation, label
            obligation = self._passed(obligation, self.properties.names[label].text or "")
            if obligation.must is self._shared.pool.false:
                return
        yield from ((obligation, label) for label in range(count, total))

    def search_options(
        self, state: BetweenMembers, begun: int
    ) -> Iterator[tuple[Obligation, int, Seen, int]]:
        """The members that a search for an end tries: (obligation, label, `seen` and `begun` after it).

        In any order, a set of members has many permutations, so the search uses one order only, with required names
        first; names before `begun` are skipped.
        """
        if isinstance(state.seen, int):
            for obligation, label in self.options(state):
                yield obligation, label, self.seen_after(state.seen, label), 0
            return
        obligation, order = state.obligation, self.properties.search_order
        for at in range(begun, len(order)):
            text = self.properties.names[order[at]].text or ""
            if text in state.seen:
                continue
            yield obligation, order[at], state.seen, at + 1
            obligation = self.closed.searched(
                self._passed(obligation, text), state.seen, at + 1
            ).obligation
            if obligation.must is self._shared.pool.false:
                return
        for label in range(len(order), len(self.properties.all_names)):
            yield obligation, label, state.seen, len(order)

    def seen_after(self, seen: Seen, label: int) -> Seen:
        """`seen` after the member with this label."""
        if label >= len(self.properties.names):
            return OTHER if isinstance(seen, int) else seen
        if isinstance(seen, int):
            return label + 1
        return seen | {self.properties.names[label].text or ""}

    def _passed(self, obligation: Obligation, text: str) -> Obligation:
        return (
            self.steps.passed(obligation, text) if text in self.properties.demanded else obligation
        )

    def plan(self, obligation: Obligation, seen: Seen, label: int) -> ValuePlan | None:
        """The plan of a member that `options` offers with `obligation`; None if the member cannot come.

        `seen`: after the member. If it is irrelevant, names with the same effect share the plan.
        """
        needs = self.plain.value_needs(obligation, label)
        if needs is not None:
            return self.plain.plan(needs)
        shared = (obligation, self.properties.effects[label])
        if shared in self._plans:
            return self._plans[shared]
        own = (
            obligation,
            self.properties.effects[label],
            self.closed.counted(obligation.must, seen),
        )
        if own not in self._plans:
            plan, free = self._make_plan(obligation, seen, self.properties.all_names[label])
            self._plans[shared if free else own] = plan
            return plan
        return self._plans[own]

    def may_follow(self, obligation: Obligation, seen: Seen, label: int) -> bool:
        """Whether a member has a plan and a value. The plan itself is made only after the name has been read."""
        if self.plain.value_needs(obligation, label) is None:
            shared = (obligation, self.properties.effects[label])
            own = (*shared, self.closed.counted(obligation.must, seen))
            if shared in self._may_follow or own in self._may_follow:
                return True
            if shared not in self._plans and own not in self._plans:
                found = self._is_witnessed(obligation, seen, label)
                if found is not None:
                    self._may_follow.add(shared if found else own)
                    return True
        plan = self.plan(obligation, seen, label)
        return plan is not None and self._cost_of(plan.must) is not None

    def _is_witnessed(self, obligation: Obligation, seen: Seen, label: int) -> bool | None:
        """Whether a known witness shows that a member may come: True for any `seen`, False for this one, else None.

        A value that satisfies all formulas about it, or none of them, is tried in front of each known witness.
        """
        children = self.steps.children(obligation, self.properties.all_names[label])
        if len(children) > ENUMERATED:
            return None
        for fulfilled in (True, False) if children else (True,):
            truths = dict.fromkeys(children, fulfilled)
            ends = self.witnesses.ends_after(obligation.must, label, truths)
            if ends or self.witnesses.completes_after(obligation.must, seen, label, truths):
                value = self._shared.pool.all(
                    children if fulfilled else map(self._shared.pool.no, children)
                )
                if self._cost_of(value) is not None:
                    return ends
        return None

    def _make_plan(
        self, obligation: Obligation, seen: Seen, name: Name
    ) -> tuple[ValuePlan | None, bool]:
        """The plan, and whether it is the same for all values of `seen`."""
        pool, free = self._shared.pool, True
        obligation = self.steps.begun(obligation, name)
        if obligation.must is pool.false:
            return None, True
        children = self.steps.children(obligation, name)

        def after(truths: Truths, is_repeat: bool) -> Obligation | None:  # noqa: ARG001 - members may be equal
            new = self.steps.valued(obligation, name, truths)
            return None if new.must is pool.false else new

        def alive(new: Obligation) -> bool:
            nonlocal free
            if ended(Obligation(new.must, ())) is not None:
                return True
            free = False
            if self.witnesses.completes(new.must, seen):
                return True
            return self._rest_cost(self, self.closed.between(new, seen)) is not None

        if len(children) > ENUMERATED:
            needs = partial(self.steps.needs, name=name)
            wide = wide_plan(pool, obligation.must, children, needs, after)
            values = self._shared.finite.values(wide.must)
            return narrowed(pool, wide, values, children, alive), free
        plan = exact_plan(pool, children, after, alive)
        return plan, free

    def cases(self, obligation: Obligation, label: int) -> list[MemberCase]:
        """The cases of a member's value."""
        key = (obligation, self.properties.effects[label])
        if key not in self._cases:
            self._cases[key] = list(self._find_cases(obligation, self.properties.all_names[label]))
        return self._cases[key]

    def _find_cases(self, obligation: Obligation, name: Name) -> Iterator[MemberCase]:
        obligation = self.steps.begun(obligation, name)
        if obligation.must is self._shared.pool.false:
            return
        children = self.steps.children(obligation, name)
        needs = partial(self.steps.needs, name=name)
        examples = self._shared.scalars.examples
        for literal, truths in value_cases(
            self._shared.pool, obligation.must, children, needs, examples
        ):
            new = None if truths is None else self.steps.valued(obligation, name, truths)
            if new is None or new.must is not self._shared.pool.false:
                yield literal, truths, new

    def after(
        self, plan: ValuePlan, obligation: Obligation, label: int, outcome: int
    ) -> Obligation | None:
        """The obligation after a member that began with `obligation`, given the outcome of its value."""
        if plan.always:
            return self.steps.begun(obligation, self.properties.all_names[label])
        return plan.after(outcome, False)  # noqa: FBT003
