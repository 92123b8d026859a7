"""The fewest bytes that still have to be written, and whether there is an end at all.

Does: search for a cheap way to the end of a value, an object or an array, member by member and item by item; the first
way it finds is one that can be followed, so its length is an upper bound on the least. Does not: look at single bytes.

Recursive schemas make the questions circular. They are answered depth first without recursion; a question that comes up
again while it is open cannot be part of its own shortest answer, so it counts as hopeless there, and answers that rest
on this are not kept (Knuth 1977 gives the exact least values; a bound is enough here, and lazily found).
"""

from collections.abc import Generator, Hashable
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Protocol

from ..arrays.arrays import ArrayLanguage, BetweenItems, Needs, counted
from ..logic.atoms import OneOf, ValueKind
from ..logic.formula import Formula
from ..logic.residual import Fold, ended
from ..objects.conjunctive import Frame
from ..objects.names import BetweenMembers, Name
from ..objects.objects import Layout
from ..objects.witness_cache import Trail

if TYPE_CHECKING:
    from .language import Language

# Steps of one search. Beyond, the answer is taken to be yes: states may then be offered that lead nowhere.
MOST_STEPS = 4_000
# Two values that must differ are told apart by at most so many bytes more.
TO_DIFFER = 3


@dataclass(frozen=True, slots=True, order=True)
class Cost:
    """Bytes: `base`, and `lines` line starts that each cost the indentation of the value they are in."""

    base: int
    lines: int = 0

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(self.base + other.base, self.lines + other.lines)

    def inside(self, indent: int) -> "Cost":
        """The same text one level deeper."""
        return Cost(self.base + self.lines * indent, self.lines)

    def times(self, count: int) -> "Cost":
        """The text `count` times."""
        return Cost(self.base * count, self.lines * count)


GUESS = Cost(64)
_BASE, _LINES = attrgetter("base"), attrgetter("lines")

Search = Generator["Question", "Cost | None", "Cost | None"]


class Question(Protocol):
    """What is the cheapest way on from here? Hashable; equal questions have equal answers."""

    def search(self, costs: "Costs") -> Search:
        """Find out, yielding the questions it depends on and being sent their answers."""
        ...


@dataclass(frozen=True, slots=True)
class ForValue:
    """A value that fulfils a formula."""

    formula: Formula

    def search(self, costs: "Costs") -> Search:
        """A shortest scalar, else an object, else an array."""
        language = costs.language
        scalars = language.scalars.of(self.formula, ())
        if scalars is not None:
            return Cost(scalars.least)
        if language.finite.values(self.formula) == frozenset():
            return None  # the search below does not know which items differ
        for kind in (ValueKind.OBJECT, ValueKind.ARRAY):
            rest = language.restriction.to(self.formula, kind)
            if rest is not language.normal.pool.false:
                cost = yield costs.start(kind, Fold(rest, ()))
                if cost is not None:
                    return cost
        return None


@dataclass(frozen=True, slots=True)
class ForObject:
    """The rest of an object after a member; `opened`: after its opening brace; `begun`: see `search_options`."""

    layout: Layout
    state: BetweenMembers
    opened: bool = False
    begun: int = 0

    def search(self, costs: "Costs") -> Search:
        """Close, or go through the member that brings it nearer to the end."""
        layout, state = self.layout, self.state
        if ended(state.fold) is not None:
            costs.trails[self] = {}
            return costs.close(empty=self.opened)
        frame = layout.plain.frame(state.fold.must)
        if frame is not None and frame.suffices:
            known = costs.members(layout, frame.others)
            label_of = layout.vocabulary.label_of
            asked = {
                t: layout.plain.needs(frame.others, label_of[t]) for t in frame.names - known.keys()
            }
            if all(needs is not None for needs in asked.values()):
                return (yield from self._through(costs, frame, asked, known))
        return (yield from self._search(costs))

    def _through(
        self,
        costs: "Costs",
        frame: Frame,
        asked: dict[str, Formula | None],
        known: dict[str, Cost],
    ) -> Search:
        """All demanded members, one after the other; `asked`: of those whose cost is not known, what is asked."""
        names = self.layout.vocabulary
        for text, needs in asked.items():
            assert needs is not None
            child = yield ForValue(needs)
            if child is None:
                return None
            known[text] = costs.member(names.all_names[names.label_of[text]], child)
        costs.trails[self] = {
            label: self.layout.steps.kept(frame.others, names.all_names[label])
            for label in map(names.label_of.__getitem__, frame.names)
        }
        members = list(map(known.__getitem__, frame.names))
        base, lines = sum(map(_BASE, members)), sum(map(_LINES, members))
        total = costs.close(empty=False) + Cost(base, lines)
        return costs.without_comma(total) if self.opened else total

    def _search(self, costs: "Costs") -> Search:
        layout = self.layout
        for fold, label, seen, begun in layout.search_options(self.state, self.begun):
            for literal, truths, after in layout.ways(fold, label):
                if after is not None and after.must is fold.must:
                    continue  # what can be reached through this member can be reached without it
                child = yield ForValue(literal)
                if child is None:
                    continue
                rest: Cost | None = GUESS
                if after is not None:
                    left = ForObject(layout, layout.spent.searched(after, seen, begun), begun=begun)
                    rest = yield left
                    if truths is not None and left in costs.trails:
                        costs.trails[self] = {label: truths, **costs.trails[left]}
                if rest is not None:
                    total = costs.member(layout.vocabulary.all_names[label], child) + rest
                    return costs.without_comma(total) if self.opened else total
        return None


@dataclass(frozen=True, slots=True)
class ForArray:
    """The rest of an array after an item; `opened`: after its opening bracket."""

    sequence: ArrayLanguage
    state: BetweenItems
    opened: bool = False

    def search(self, costs: "Costs") -> Search:
        """Close, or go through another item."""
        if ended(self.state.fold) is not None:
            return costs.close(empty=self.opened)
        needs = counted(costs.language.normal.pool, self.state.fold.must)
        if needs is not None:
            return (yield from self._through(costs, needs))
        for literal, after in self.sequence.ways(self.state):
            if after is not None and after.must is self.state.fold.must:
                continue
            child = yield ForValue(self._unused(costs, literal))
            if child is None:
                continue
            rest: Cost | None = GUESS
            if after is not None:
                rest = yield ForArray(self.sequence, BetweenItems(after, self.state.used))
            if rest is not None:
                total = costs.item(child) + rest
                return costs.without_comma(total) if self.opened else total
        repeated = self.sequence.repeated(self.state)
        if repeated is not None:
            rest = yield ForArray(self.sequence, repeated, self.opened)
            costs.overlooked |= rest is not None
        return None

    def _through(self, costs: "Costs", needs: Needs) -> Search:
        """The demanded number of items."""
        if needs.unique and not self.sequence.feasible(self.state, needs.demanded):
            return None
        total = costs.close(empty=False)
        differ = Cost(TO_DIFFER if needs.unique else 0)
        for formula in needs.heads:
            child = yield ForValue(self._unused(costs, formula))
            if child is None:
                return None
            total += costs.item(child) + differ
        if needs.tail:
            child = yield ForValue(self._unused(costs, needs.rest))
            if child is None:
                return None
            total += (costs.item(child) + differ).times(needs.tail)
        return costs.without_comma(total) if self.opened else total

    def _unused(self, costs: "Costs", formula: Formula) -> Formula:
        """A formula for values that have not been used."""
        pool = costs.language.normal.pool
        used = self.state.used
        return pool.all([formula, pool.no(pool.of(OneOf(used)))]) if used else formula


class Costs:
    """Answers questions, each once. `indent`: blanks a level in the pretty form, None in the others.

    `overlooked`: whether some array was found to have no end of which two equal items may have been one. `trails`: the
    members by which objects came to their ends.
    """

    def __init__(self, language: "Language", indent: int | None) -> None:
        self.language = language
        self.overlooked = False
        self.trails: dict[ForObject, Trail] = {}
        self._indent = indent
        self._known: dict[Question, Cost | None] = {}
        self._members: dict[tuple[Layout, tuple[Formula, ...]], dict[str, Cost]] = {}

    def of_state(
        self, container: Layout | ArrayLanguage, state: Hashable, opened: bool = False
    ) -> Cost | None:
        """The cost of the rest of a container from a state of it."""
        if isinstance(state, BetweenMembers):
            assert isinstance(container, Layout)
            bare = container.spent.searched(Fold(state.fold.must, ()), state.seen, 0)
            asked = ForObject(container, bare, opened)
            cost = self.answer(asked)
            if asked in self.trails:
                container.trails.add(self.trails[asked])
            return cost
        assert isinstance(state, BetweenItems)
        assert isinstance(container, ArrayLanguage)
        bare_state = BetweenItems(Fold(state.fold.must, ()), state.used)
        return self.answer(ForArray(container, bare_state, opened))

    def value(self, formula: Formula) -> Cost | None:
        """The cost of a value that fulfils a formula."""
        return self.answer(ForValue(formula))

    def start(self, kind: ValueKind, fold: Fold) -> "Question":
        """The question about a container from behind its opening byte."""
        if kind is ValueKind.OBJECT:
            layout = self.language.layout(fold)
            return _Opened(ForObject(layout, layout.start, opened=True))
        sequence = self.language.sequence(fold)
        return _Opened(ForArray(sequence, sequence.start, opened=True))

    def close(self, empty: bool) -> Cost:
        """The closing byte, on a line of its own in the pretty form unless the container is empty."""
        return Cost(1) if empty or self._indent is None else Cost(2, 1)

    def item(self, value: Cost) -> Cost:
        """A comma and an item."""
        if self._indent is None:
            return value + Cost(len(self.language.options.comma))
        return value.inside(self._indent) + Cost(2 + self._indent, 1)

    def member(self, name: Name, value: Cost) -> Cost:
        """A comma, a name, a colon and a value."""
        colon = len(self.language.options.colon)
        return self.item(value) + Cost(self.language.names.name_bytes(name) + colon)

    def without_comma(self, cost: Cost) -> Cost:
        """The rest from behind the opening byte, where the first member has no comma."""
        return Cost(cost.base - len(self.language.options.comma), cost.lines)

    def members(self, layout: Layout, others: tuple[Formula, ...]) -> dict[str, Cost]:
        """What demanded members cost under the atoms of a frame, as far as it is known."""
        return self._members.setdefault((layout, others), {})

    def answer(self, question: Question) -> Cost | None:
        """The cost, None if there is no way. At the limit of steps: a guess."""
        if question in self._known:
            return self._known[question]
        return self._search(question)

    def _search(self, question: Question) -> Cost | None:
        """Depth first, with the questions that wait for others on a stack."""
        stack: list[tuple[Question, Search]] = [(question, question.search(self))]
        lowest = [1]  # of each open question, the outermost open one its hopeless answers rest on
        place = {question: 0}
        value: Cost | None = None
        steps = 0
        while stack:
            steps += 1
            asked, search = stack[-1]
            try:
                wanted = search.send(value)
            except StopIteration as stop:
                value = stop.value
                stack.pop()
                del place[asked]
                low = lowest.pop()
                if value is not None or low >= len(stack):
                    self._known[asked] = value
                elif lowest:
                    lowest[-1] = min(lowest[-1], low)
                continue
            value = None
            if wanted in self._known:
                value = self._known[wanted]
            elif steps > MOST_STEPS:
                value = GUESS
            elif wanted in place:
                lowest[-1] = min(lowest[-1], place[wanted])
            else:
                place[wanted] = len(stack)
                stack.append((wanted, wanted.search(self)))
                lowest.append(len(stack))
        return value


@dataclass(frozen=True, slots=True)
class _Opened:
    """A container with its opening byte still to come."""

    rest: ForObject | ForArray

    def search(self, costs: "Costs") -> Search:  # noqa: ARG002
        rest = yield self.rest
        return None if rest is None else rest + Cost(1)
