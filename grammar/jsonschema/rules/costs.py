"""The number of bytes that complete a value, and whether it can be completed at all.

Does: search for a short end of a value, an object or an array, member by member and item by item. The first end found
can be followed, so its length is an upper bound on the least. Does not: examine single bytes.

Recursive schemas make the questions circular. The search is depth first with its own stack. A question that recurs
while it is open cannot be part of its own shortest answer, so it counts as hopeless there, and answers that depend on
this are not kept. (Knuth 1977 computes the exact least values; here an upper bound, found lazily, is enough.)
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from operator import attrgetter
from typing import Protocol

from ..arrays.array_language import (
    MOST_TRIED,
    ArrayLanguage,
    BetweenItems,
    ItemDemands,
    demands_of,
)
from ..logic.atoms import (
    AtLeast,
    AtMost,
    Format,
    Integer,
    Items,
    Length,
    MultipleOf,
    OneOf,
    Pattern,
    Properties,
    Required,
    Types,
    ValueKind,
)
from ..logic.formula import Formula, conjuncts
from ..logic.residual import Obligation, ended
from ..objects.name_leaves import name_bytes
from ..objects.names import BetweenMembers, Name
from ..objects.object_language import ObjectLanguage
from ..objects.plain_objects import Conjunction
from ..objects.witness_cache import Witness
from ..read.values import Value
from ..scalars.shared import Shared
from ..writing.byte_cost import Cost

# Steps of one search. Beyond, an end is assumed to exist: a state that has none may then be offered.
MOST_STEPS = 4_000
# Bytes by which two values that must differ are assumed to become longer.
TO_DIFFER = 3


GUESS = Cost(64)
_PLAIN = (
    *(AtLeast, AtMost, Format, Integer, Length, MultipleOf, Pattern, Types),
    *(Items, Properties, Required),
)
_BASE, _LINES = attrgetter("base"), attrgetter("lines")

Search = Generator["Question", "Cost | None", "Cost | None"]


class Question(Protocol):
    """A question about the shortest end of a value or container. Hashable; equal questions have equal answers."""

    def search(self, costs: "Costs") -> Search:
        """Search, yielding the questions the answer depends on and receiving their answers."""
        ...


@dataclass(frozen=True, slots=True)
class ValueEnd:
    """The shortest value of a formula."""

    formula: Formula

    def search(self, costs: "Costs") -> Search:
        """A shortest scalar, else an object, else an array."""
        shared = costs.shared
        scalars = shared.scalars.of(self.formula, ())
        if scalars is not None:
            return Cost(scalars.least)
        if not _is_plain(self.formula) and shared.finite.values(self.formula) == frozenset():
            return None  # the search below does not track which items differ
        for kind in (ValueKind.OBJECT, ValueKind.ARRAY):
            rest = shared.restriction.to(self.formula, kind)
            if rest is not shared.pool.false:
                cost = yield costs.start(kind, Obligation(rest, ()))
                if cost is not None:
                    return cost
        return None


@dataclass(frozen=True, slots=True)
class ObjectEnd:
    """The rest of an object after a member; `opened`: right after its opening brace; `begun`: see `search_options`."""

    objects: ObjectLanguage
    state: BetweenMembers
    opened: bool = False
    begun: int = 0

    def search(self, costs: "Costs") -> Search:
        """Close the object, or write a member after which fewer remain."""
        objects, state = self.objects, self.state
        if ended(state.obligation) is not None:
            costs.witnesses[self] = {}
            return costs.shared.punctuation.close(empty=self.opened)
        conjunction = objects.plain.conjunction(state.obligation.must)
        if conjunction is not None and conjunction.suffices:
            known = costs.members(objects, conjunction.others)
            label_of = objects.properties.label_of
            unknown = {
                t: objects.plain.needs(conjunction.others, label_of[t])
                for t in conjunction.names - known.keys()
            }
            if all(needs is not None for needs in unknown.values()):
                return (yield from self._through(costs, conjunction, unknown, known))
        return (yield from self._search(costs))

    def _through(
        self,
        costs: "Costs",
        conjunction: Conjunction,
        unknown: dict[str, Formula | None],
        known: dict[str, Cost],
    ) -> Search:
        """All required members in turn; `unknown`: the formulas of those with a cost to find."""
        names = self.objects.properties
        for text, needs in unknown.items():
            assert needs is not None
            child = yield ValueEnd(needs)
            if child is None:
                return None
            known[text] = costs.member(names.all_names[names.label_of[text]], child)
        costs.witnesses[self] = {
            label: self.objects.steps.kept(conjunction.others, names.all_names[label])
            for label in map(names.label_of.__getitem__, conjunction.names)
        }
        members = list(map(known.__getitem__, conjunction.names))
        base, lines = sum(map(_BASE, members)), sum(map(_LINES, members))
        total = costs.shared.punctuation.close(empty=False) + Cost(base, lines)
        return costs.shared.punctuation.without_comma(total) if self.opened else total

    def _search(self, costs: "Costs") -> Search:
        objects = self.objects
        for obligation, label, seen, begun in objects.search_options(self.state, self.begun):
            for literal, truths, after in objects.cases(obligation, label):
                if after is not None and after.must is obligation.must:
                    continue  # every end reached through this member is reached without it
                child = yield ValueEnd(literal)
                if child is None:
                    continue
                rest: Cost | None = GUESS
                if after is not None:
                    left = ObjectEnd(
                        objects, objects.closed.searched(after, seen, begun), begun=begun
                    )
                    rest = yield left
                    if truths is not None and left in costs.witnesses:
                        costs.witnesses[self] = {label: truths, **costs.witnesses[left]}
                if rest is not None:
                    total = costs.member(objects.properties.all_names[label], child) + rest
                    return costs.shared.punctuation.without_comma(total) if self.opened else total
        return None


@dataclass(frozen=True, slots=True)
class ArrayEnd:
    """The rest of an array after an item; `opened`: right after its opening bracket."""

    arrays: ArrayLanguage
    state: BetweenItems
    opened: bool = False

    def search(self, costs: "Costs") -> Search:
        """Close the array, or write another item."""
        if ended(self.state.obligation) is not None:
            return costs.shared.punctuation.close(empty=self.opened)
        needs = demands_of(costs.shared.pool, self.state.obligation.must)
        if needs is not None:
            return (yield from self._through(costs, needs))
        few = self.arrays.finite_values(self.state)
        if few is not None and len(few - self.state.used) <= MOST_TRIED:
            return (yield from self._by_value(costs, few))
        for literal, after in self.arrays.cases(self.state):
            if after is not None and after.must is self.state.obligation.must:
                continue
            child = yield ValueEnd(self._unused(costs, literal))
            if child is None:
                continue
            rest: Cost | None = GUESS
            if after is not None:
                rest = yield ArrayEnd(self.arrays, BetweenItems(after, self.state.used))
            if rest is not None:
                total = costs.shared.punctuation.item(child) + rest
                return costs.shared.punctuation.without_comma(total) if self.opened else total
        return (yield from self._by_repeating(costs))

    def _by_repeating(self, costs: "Costs") -> Search:
        """An item twice in a row; else remember whether two equal items would have been enough."""
        for literal, after in self.arrays.repetitions(self.state):
            child = yield ValueEnd(self._unused(costs, literal))
            if child is None:
                continue
            rest = yield ArrayEnd(self.arrays, BetweenItems(after, self.state.used))
            if rest is not None:
                total = costs.shared.punctuation.item(child).times(2) + rest
                return costs.shared.punctuation.without_comma(total) if self.opened else total
        repeated = self.arrays.repeated(self.state)
        if repeated is not None:
            rest = yield ArrayEnd(self.arrays, repeated, self.opened)
            costs.overlooked |= rest is not None
        return None

    def _through(self, costs: "Costs", needs: ItemDemands) -> Search:
        """The required number of items."""
        if needs.unique and not self.arrays.feasible(self.state, needs.demanded):
            return None
        total = costs.shared.punctuation.close(empty=False)
        differ = Cost(TO_DIFFER if needs.unique else 0)
        for formula in needs.heads:
            child = yield ValueEnd(self._unused(costs, formula))
            if child is None:
                return None
            total += costs.shared.punctuation.item(child) + differ
        if needs.tail:
            child = yield ValueEnd(self._unused(costs, needs.rest))
            if child is None:
                return None
            total += (costs.shared.punctuation.item(child) + differ).times(needs.tail)
        return costs.shared.punctuation.without_comma(total) if self.opened else total

    def _by_value(self, costs: "Costs", few: frozenset[Value]) -> Search:
        """The items one by one, each with a value of its own: what is left for later items may not suffice."""
        pool = costs.shared.pool
        for value, after in self.arrays.valued(self.state, few):
            if after.obligation.must is self.state.obligation.must:
                continue
            child = yield ValueEnd(pool.of(OneOf(frozenset({value}))))
            rest = yield ArrayEnd(self.arrays, after)
            if child is not None and rest is not None:
                total = costs.shared.punctuation.item(child) + rest
                return costs.shared.punctuation.without_comma(total) if self.opened else total
        return None

    def _unused(self, costs: "Costs", formula: Formula) -> Formula:
        """The formula without the values already used."""
        pool = costs.shared.pool
        used = self.state.used
        return pool.all([formula, pool.no(pool.of(OneOf(used)))]) if used else formula


def _is_plain(formula: Formula) -> bool:
    """Whether the first end found is certain: no items must differ, and no values are listed."""
    atoms = conjuncts(formula)
    return atoms is not None and all(isinstance(atom, _PLAIN) for atom in atoms)


class Costs:
    """Answers questions about shortest ends, each once.

    `overlooked`: whether an array without an end would have one if two items were equal. `witnesses`: the members by
    which objects were completed.
    """

    def __init__(
        self,
        shared: Shared,
        objects: Callable[[Obligation], ObjectLanguage],
        arrays: Callable[[Obligation], ArrayLanguage],
    ) -> None:
        """`objects`, `arrays`: the languages of the objects and arrays that satisfy an obligation."""
        self.shared = shared
        self.overlooked = False
        self.witnesses: dict[ObjectEnd, Witness] = {}
        self._objects = objects
        self._arrays = arrays
        self._known: dict[Question, Cost | None] = {}
        self._members: dict[tuple[ObjectLanguage, tuple[Formula, ...]], dict[str, Cost]] = {}

    def of_object(
        self, objects: ObjectLanguage, state: BetweenMembers, opened: bool = False
    ) -> Cost | None:
        """The cost of the rest of an object; `opened`: right after its opening brace."""
        bare = objects.closed.searched(Obligation(state.obligation.must, ()), state.seen, 0)
        question = ObjectEnd(objects, bare, opened)
        cost = self.answer(question)
        if question in self.witnesses:
            objects.witnesses.add(self.witnesses[question])
        return cost

    def of_array(
        self, arrays: ArrayLanguage, state: BetweenItems, opened: bool = False
    ) -> Cost | None:
        """The cost of the rest of an array; `opened`: right after its opening bracket."""
        bare = BetweenItems(Obligation(state.obligation.must, ()), state.used)
        return self.answer(ArrayEnd(arrays, bare, opened))

    def of_value(self, formula: Formula) -> Cost | None:
        """The cost of a value that satisfies a formula; None if there is none."""
        return self.answer(ValueEnd(formula))

    def start(self, kind: ValueKind, obligation: Obligation) -> "Question":
        """The question about a whole object or array."""
        if kind is ValueKind.OBJECT:
            objects = self._objects(obligation)
            return _Opened(ObjectEnd(objects, objects.start, opened=True))
        arrays = self._arrays(obligation)
        return _Opened(ArrayEnd(arrays, arrays.start, opened=True))

    def member(self, name: Name, value: Cost) -> Cost:
        """A comma, a name, a colon and a value."""
        return self.shared.punctuation.member(name_bytes(name), value)

    def members(self, objects: ObjectLanguage, others: tuple[Formula, ...]) -> dict[str, Cost]:
        """The known costs of required members under the atoms of a conjunction, by name."""
        return self._members.setdefault((objects, others), {})

    def answer(self, question: Question) -> Cost | None:
        """The cost; None if there is no end; a guess at the limit of steps."""
        if question in self._known:
            return self._known[question]
        return self._search(question)

    def _search(self, question: Question) -> Cost | None:
        """Depth first; the stack holds the questions that wait for others."""
        stack: list[tuple[Question, Search]] = [(question, question.search(self))]
        # By open question: the outermost open question that its hopeless answers depend on.
        lowest = [1]
        place = {question: 0}
        value: Cost | None = None
        steps = 0
        while stack:
            steps += 1
            current, search = stack[-1]
            try:
                needed = search.send(value)
            except StopIteration as stop:
                value = stop.value
                stack.pop()
                del place[current]
                low = lowest.pop()
                if value is not None or low >= len(stack):
                    self._known[current] = value
                elif lowest:
                    lowest[-1] = min(lowest[-1], low)
                continue
            value = None
            if needed in self._known:
                value = self._known[needed]
            elif steps > MOST_STEPS:
                value = GUESS
            elif needed in place:
                lowest[-1] = min(lowest[-1], place[needed])
            else:
                place[needed] = len(stack)
                stack.append((needed, needed.search(self)))
                lowest.append(len(stack))
        return value


@dataclass(frozen=True, slots=True)
class _Opened:
    """A whole container: its opening byte and the rest."""

    rest: ObjectEnd | ArrayEnd

    def search(self, costs: "Costs") -> Search:  # noqa: ARG002 - the signature of all obligations
        rest = yield self.rest
        return None if rest is None else rest + Cost(1)
