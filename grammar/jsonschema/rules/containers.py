"""The objects and arrays among the values of one rule: what may come next in them, and what is left afterwards.

Does: keep plain objects apart from others, answer for a place in either and in arrays. Does not: write punctuation
(`rules`), derive what members and items leave (`objects`, `arrays`).
"""

from functools import cached_property
from typing import TYPE_CHECKING

from ..arrays.arrays import ArrayLanguage, BetweenItems
from ..logic.atoms import ValueKind
from ..logic.formula import Formula
from ..logic.residual import Fold, ended
from ..objects.name_rule import Keys, keys
from ..objects.names import BetweenMembers
from ..objects.objects import Layout
from ..objects.plain_objects import PlainKeys, PlainMembers, Written
from ..read.values import Value
from .states import Given, State

if TYPE_CHECKING:
    from .costs import Cost
    from .language import Language


class Containers:
    """Those for which `must` holds; of `asks` the truth is wanted. Nothing is derived before it is asked for."""

    def __init__(self, language: "Language", must: Formula, asks: tuple[Formula, ...]) -> None:
        self._language = language
        self._must = must
        self._asks = asks
        self._keys: dict[BetweenMembers | Written, Keys | PlainKeys | None] = {}

    @cached_property
    def layout(self) -> Layout:
        """Of the objects."""
        return self._language.layout(self._fold(ValueKind.OBJECT))

    @cached_property
    def sequence(self) -> ArrayLanguage:
        """Of the arrays."""
        return self._language.sequence(self._fold(ValueKind.ARRAY))

    def _fold(self, kind: ValueKind) -> Fold:
        to = self._language.restriction.to
        return Fold(to(self._must, kind), tuple(to(ask, kind) for ask in self._asks))

    @property
    def _members(self) -> PlainMembers:
        members = self.layout.members
        assert members is not None  # else nothing is `Written`
        return members

    def first(self, kind: ValueKind) -> State | None:
        """The place after the opening byte; None if there are no such containers."""
        language = self._language
        if language.restriction.to(self._must, kind) is language.normal.pool.false:
            return None
        container = self.layout if kind is ValueKind.OBJECT else self.sequence
        cost = language.costs.of_state(container, container.start, opened=True)
        return None if cost is None else container.first

    def demands(self, kind: ValueKind) -> bool:
        """Whether anything is asked of them."""
        return self._fold(kind).must is not self._language.normal.pool.true

    def ended(self, state: State) -> int | None:
        """The outcome if the container ends here; None if it may not."""
        if isinstance(state, Written):
            return 0 if self._members.complete(state) else None
        return ended(state.fold)

    def rest(self, state: State, opened: bool) -> "Cost | None":
        """What the rest costs, `opened`: after the opening byte; None: it has no end."""
        if isinstance(state, Written):
            return self._members.least(state, opened)
        container = self.layout if isinstance(state, BetweenMembers) else self.sequence
        return self._language.costs.of_state(container, state, opened)

    def names(self, state: BetweenMembers | Written) -> Keys | PlainKeys | None:
        """The names that can come next, None if there are none."""
        if state not in self._keys:
            if isinstance(state, Written):
                self._keys[state] = self._members.names(state)
            else:
                self._keys[state] = keys(self._language, self.layout, state)
        return self._keys[state]

    def after(self, given: Given, outcome: int, twin: bool) -> State | None:
        """The place behind a member or item whose value had this outcome; None: that must not be."""
        if isinstance(given.member, Written):
            return given.member
        if given.member is None:
            used = frozenset[Value]()
            if given.used is not None:
                outcome, value = self.sequence.noted(outcome)
                used = given.used | value
            fold = given.plan.after(outcome, twin)
            return None if fold is None else BetweenItems(fold, used)
        base, label, seen = given.member
        fold = self.layout.after(given.plan, base, label, outcome)
        return None if fold is None else self.layout.spent.between(fold, seen)
