"""The objects and arrays among the values of one rule.

Does: answer for a state in a plain object, another object or an array: the entries that may follow, the cost of the
rest, the state afterwards. Does not: write punctuation (`value_rule`), derive obligations (`objects`, `arrays`).
"""

from functools import cached_property

from ..arrays.array_language import ArrayLanguage, BetweenItems
from ..logic.atoms import ValueKind
from ..logic.formula import Formula
from ..logic.residual import Obligation, ended
from ..objects.name_rule import Keys, keys
from ..objects.names import BetweenMembers
from ..objects.object_language import ObjectLanguage
from ..objects.plain_members import BetweenPlainMembers, PlainKeys, PlainMembers
from ..read.values import Value
from ..scalars.shared import Shared
from ..writing.byte_cost import Cost
from .container_languages import ContainerLanguages
from .states import BeforeValue, State


class Containers:
    """The containers that satisfy `must`; outcomes tell which `queries` hold. Everything is derived lazily."""

    def __init__(
        self,
        shared: Shared,
        languages: ContainerLanguages,
        must: Formula,
        queries: tuple[Formula, ...],
    ) -> None:
        self._pool = shared.pool
        self._restriction = shared.restriction
        self._languages = languages
        self._must = must
        self._queries = queries
        self._keys: dict[BetweenMembers | BetweenPlainMembers, Keys | PlainKeys | None] = {}

    @cached_property
    def objects(self) -> ObjectLanguage:
        """The language of the objects."""
        return self._languages.objects(self._fold(ValueKind.OBJECT))

    @cached_property
    def arrays(self) -> ArrayLanguage:
        """The language of the arrays."""
        return self._languages.arrays(self._fold(ValueKind.ARRAY))

    def _fold(self, kind: ValueKind) -> Obligation:
        to = self._restriction.to
        return Obligation(to(self._must, kind), tuple(to(ask, kind) for ask in self._queries))

    @property
    def _members(self) -> PlainMembers:
        members = self.objects.members
        assert members is not None  # else nothing is `BetweenPlainMembers`
        return members

    def first(self, kind: ValueKind) -> State | None:
        """The state after the opening byte; None if there are no such containers."""
        if self._restriction.to(self._must, kind) is self._pool.false:
            return None
        container = self.objects if kind is ValueKind.OBJECT else self.arrays
        return None if self._rest(container.start, opened=True) is None else container.first

    def demands(self, kind: ValueKind) -> bool:
        """Whether the schema constrains the containers of a kind."""
        return self._fold(kind).must is not self._pool.true

    def ended(self, state: State) -> int | None:
        """The outcome if the container ends in this state; None if it may not end."""
        if isinstance(state, BetweenPlainMembers):
            return 0 if self._members.complete(state) else None
        return ended(state.obligation)

    def rest(self, state: State, opened: bool) -> Cost | None:
        """The cost of the rest; None if it has no end. `opened`: right after the opening byte."""
        if isinstance(state, BetweenPlainMembers):
            return self._members.least(state, opened)
        return self._rest(state, opened)

    def _rest(self, state: BetweenMembers | BetweenItems, opened: bool) -> Cost | None:
        costs = self._languages.costs
        if isinstance(state, BetweenMembers):
            return costs.of_object(self.objects, state, opened)
        return costs.of_array(self.arrays, state, opened)

    def names(self, state: BetweenMembers | BetweenPlainMembers) -> Keys | PlainKeys | None:
        """The names that may follow; None if there are none."""
        if state not in self._keys:
            if isinstance(state, BetweenPlainMembers):
                self._keys[state] = self._members.names(state)
            else:
                self._keys[state] = keys(self.objects, state)
        return self._keys[state]

    def after(self, before: BeforeValue, outcome: int, is_repeat: bool) -> State | None:
        """The state after a member or item, given the outcome of its value; None if it may not have that outcome."""
        if isinstance(before.member, BetweenPlainMembers):
            return before.member
        if before.cannot_repeat and is_repeat:
            return None
        if before.member is None:
            used = frozenset[Value]()
            if before.used is not None:
                outcome, value = self.arrays.noted(outcome)
                used = before.used | value
            obligation = before.plan.after(outcome, is_repeat)
            return None if obligation is None else BetweenItems(obligation, used)
        base, label, seen = before.member
        obligation = self.objects.after(before.plan, base, label, outcome)
        return None if obligation is None else self.objects.closed.between(obligation, seen)
