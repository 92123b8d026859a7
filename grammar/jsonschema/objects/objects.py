"""Objects, member by member: what each name asks of its value and what is left to show afterwards.

Does: order and class names, derive folds by members. Does not: write punctuation (`rules`), search for ends (`costs`).
"""

from collections.abc import Hashable, Iterator
from functools import cached_property, partial
from typing import TYPE_CHECKING

from ..logic.formula import Formula
from ..logic.residual import Fold, ended
from ..logic.value_plan import ENUMERATED, Plan, Truths, exact_plan, narrowed, ways, wide_plan
from .closed_properties import ClosedProperties
from .conjunctive import PlainObjects
from .member_steps import MemberSteps
from .names import OTHER, BetweenMembers, Name, Seen
from .plain_objects import PlainMembers, Written
from .property_classes import PropertyClasses
from .witness_cache import Trails

if TYPE_CHECKING:
    from ..rules.language import Language

# What a member's value is, what that says of the formulas about it, and what it leaves; None: not told in advance.
Way = tuple[Formula, Truths | None, Fold | None]


class Layout:
    """The members of the objects that a fold is about. Shared by all states of a rule."""

    def __init__(self, language: "Language", fold: Fold) -> None:
        self.language = language
        self._pool = language.normal.pool
        self.start = BetweenMembers(fold, frozenset() if language.options.any_order else 0)
        self.steps = MemberSteps(self._pool)
        self.vocabulary = PropertyClasses(language, self.steps, fold)
        self.spent = ClosedProperties(self._pool, self.vocabulary)
        self.trails = Trails(self._pool, self.steps, self.vocabulary)
        self.plain = PlainObjects(language, self.steps, self.vocabulary)
        self._plans: dict[Hashable, Plan | None] = {}
        self._come: set[Hashable] = set()
        self._ways: dict[Hashable, list[Way]] = {}

    @cached_property
    def members(self) -> PlainMembers | None:
        """The members where the object is a plain one whose end can be reached; else None."""
        frame, labels = self.plain.frame(self.start.fold.must), self.plain.labels(self.start.fold)
        if frame is None or labels is None:
            return None
        if not labels.issuperset(map(self.vocabulary.label_of.__getitem__, frame.names)):
            return None
        return PlainMembers(self, frame, labels)

    @property
    def first(self) -> BetweenMembers | Written:
        """The place after the opening brace."""
        return self.start if self.members is None else self.members.start

    def options(self, state: BetweenMembers) -> Iterator[tuple[Fold, int]]:
        """The labels of names that may come next by order and uniqueness, each with the fold it derives from.

        In the declared order, demands for names that were passed over are lost.
        """
        count, total = len(self.vocabulary.names), len(self.vocabulary.all_names)
        if isinstance(state.seen, frozenset):
            for label, name in enumerate(self.vocabulary.all_names):
                if label >= count or name.text not in state.seen:
                    yield state.fold, label
            return
        fold = state.fold
        for label in range(count if state.seen == OTHER else state.seen, count):
            yield fold, label
            fold = self._passed(fold, self.vocabulary.names[label].text or "")
            if fold.must is self._pool.false:
                return
        yield from ((fold, label) for label in range(count, total))

    def search_options(
        self, state: BetweenMembers, begun: int
    ) -> Iterator[tuple[Fold, int, Seen, int]]:
        """The members a search for an end tries: (fold, label, `seen` after it, its `begun`).

        In any order a set of members can be written one way or another, so the search takes them in one order only,
        demanded ones first; those before `begun` are passed over.
        """
        if isinstance(state.seen, int):
            for fold, label in self.options(state):
                yield fold, label, self.seen_after(state.seen, label), 0
            return
        fold, order = state.fold, self.vocabulary.search_order
        for at in range(begun, len(order)):
            text = self.vocabulary.names[order[at]].text or ""
            if text in state.seen:
                continue
            yield fold, order[at], state.seen, at + 1
            fold = self.spent.searched(self._passed(fold, text), state.seen, at + 1).fold
            if fold.must is self._pool.false:
                return
        for label in range(len(order), len(self.vocabulary.all_names)):
            yield fold, label, state.seen, len(order)

    def seen_after(self, seen: Seen, label: int) -> Seen:
        """Which named members may come once the one with this label has."""
        if label >= len(self.vocabulary.names):
            return OTHER if isinstance(seen, int) else seen
        if isinstance(seen, int):
            return label + 1
        return seen | {self.vocabulary.names[label].text or ""}

    def _passed(self, fold: Fold, text: str) -> Fold:
        return self.steps.passed(fold, text) if text in self.vocabulary.demanded else fold

    def plan(self, fold: Fold, seen: Seen, label: int) -> Plan | None:
        """What a member is asked of its value where `options` offers it with `fold`; None: it cannot be.

        `seen` is that after the member. Where it does not matter, plans are shared by all names that do the same.
        """
        needs = self.plain.asked(fold, label)
        if needs is not None:
            return self.plain.plan(needs)
        shared = (fold, self.vocabulary.effects[label])
        if shared in self._plans:
            return self._plans[shared]
        own = (fold, self.vocabulary.effects[label], self.spent.counted(fold.must, seen))
        if own not in self._plans:
            plan, free = self._make_plan(fold, seen, self.vocabulary.all_names[label])
            self._plans[shared if free else own] = plan
            return plan
        return self._plans[own]

    def comes(self, fold: Fold, seen: Seen, label: int) -> bool:
        """Whether there is a plan for a member, and a value for it: the plan itself waits until its name was read."""
        if self.plain.asked(fold, label) is None:
            shared = (fold, self.vocabulary.effects[label])
            own = (*shared, self.spent.counted(fold.must, seen))
            if shared in self._come or own in self._come:
                return True
            if shared not in self._plans and own not in self._plans:
                found = self._surely_comes(fold, seen, label)
                if found is not None:
                    self._come.add(shared if found else own)
                    return True
        plan = self.plan(fold, seen, label)
        return plan is not None and self.language.costs.value(plan.must) is not None

    def _surely_comes(self, fold: Fold, seen: Seen, label: int) -> bool | None:
        """Whether it is plain without a plan that a member may come; True: whatever was seen, None: it is not plain.

        It is where its value may be all that is asked of it, or nothing of it, and a way to an end that is known goes
        on from there.
        """
        children = self.steps.children(fold, self.vocabulary.all_names[label])
        if len(children) > ENUMERATED:
            return None
        for fulfilled in (True, False) if children else (True,):
            truths = dict.fromkeys(children, fulfilled)
            ends = self.trails.ends_after(fold.must, label, truths)
            if ends or self.trails.lead_after(fold.must, seen, label, truths):
                value = self._pool.all(children if fulfilled else map(self._pool.no, children))
                if self.language.costs.value(value) is not None:
                    return ends
        return None

    def _make_plan(self, fold: Fold, seen: Seen, name: Name) -> tuple[Plan | None, bool]:
        """The plan, and whether it is the same whatever was seen."""
        pool, free = self._pool, True
        fold = self.steps.begun(fold, name)
        if fold.must is pool.false:
            return None, True
        children = self.steps.children(fold, name)

        def after(truths: Truths, twin: bool) -> Fold | None:  # noqa: ARG001 - values may be equal
            new = self.steps.valued(fold, name, truths)
            return None if new.must is pool.false else new

        def alive(new: Fold) -> bool:
            nonlocal free
            if ended(Fold(new.must, ())) is not None:
                return True
            free = False
            if self.trails.lead(new.must, seen):
                return True
            return self.language.costs.of_state(self, self.spent.between(new, seen)) is not None

        if len(children) > ENUMERATED:
            needs = partial(self.steps.needs, name=name)
            wide = wide_plan(pool, fold.must, children, needs, after)
            return narrowed(self.language, wide, children, alive), free
        plan = exact_plan(pool, children, after, alive)
        return plan, free

    def ways(self, fold: Fold, label: int) -> list[Way]:
        """What the member's value can be."""
        key = (fold, self.vocabulary.effects[label])
        if key not in self._ways:
            self._ways[key] = list(self._find_ways(fold, self.vocabulary.all_names[label]))
        return self._ways[key]

    def _find_ways(self, fold: Fold, name: Name) -> Iterator[Way]:
        fold = self.steps.begun(fold, name)
        if fold.must is self._pool.false:
            return
        children = self.steps.children(fold, name)
        needs = partial(self.steps.needs, name=name)
        for literal, truths in ways(self.language, fold.must, children, needs):
            new = None if truths is None else self.steps.valued(fold, name, truths)
            if new is None or new.must is not self._pool.false:
                yield literal, truths, new

    def after(self, plan: Plan, fold: Fold, label: int, outcome: int) -> Fold | None:
        """The fold after a member, begun with `fold`, whose value had this outcome."""
        if plan.always:
            return self.steps.begun(fold, self.vocabulary.all_names[label])
        return plan.after(outcome, False)  # noqa: FBT003
