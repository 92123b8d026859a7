"""One member or item about to be read: what its value has to be, what is asked of it, and where each answer leads.

Does: turn "these formulas are true of the value" into the narrowest child rule. Does not: know objects from arrays.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING

from .atoms import OneOf
from .evaluate import holds
from .formula import Atom, Formula, Op, Pool
from .residual import Fold

if TYPE_CHECKING:
    from ..rules.language import Language

# Up to this many formulas about one value every combination is tried, which leaves no dead ends.
ENUMERATED = 5

Truths = Mapping[Formula, bool]
After = Callable[[Truths, bool], Fold | None]
Bits = tuple[bool, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Plan:
    """What is asked of one value. `after(outcome, twin)` is what it leaves to show, None where the container is lost.

    `must` and `asks` are the child rule's; bit i of an outcome says whether `asks[i]` holds.
    """

    must: Formula
    asks: tuple[Formula, ...]
    _after: Callable[[int, bool], Fold | None] | None
    _known: dict[tuple[int, bool], Fold | None] = field(default_factory=dict)

    @property
    def always(self) -> bool:
        """Whether every value it lets through leads on in the same way."""
        return self._after is None

    def after(self, outcome: int, twin: bool) -> Fold | None:
        """The container's fold once the value has this outcome."""
        assert self._after is not None  # else `always`
        key = (outcome, twin)
        if key not in self._known:
            self._known[key] = self._after(outcome, twin)
        return self._known[key]


def bits(formulas: tuple[Formula, ...], outcome: int) -> dict[Formula, bool]:
    """The truth of each formula in an outcome."""
    return {formula: bool(outcome >> i & 1) for i, formula in enumerate(formulas)}


def exact_plan(
    pool: Pool, children: tuple[Formula, ...], after: After, alive: Callable[[Fold], bool]
) -> Plan | None:
    """The plan that lets exactly those values through that lead on; None if none can.

    `after(truths, twin)` is None where the container is lost, `alive` says whether a fold can still come to an end.
    """
    ends: dict[Bits, Fold] = {}
    for truth in product((True, False), repeat=len(children)):
        state = after(dict(zip(children, truth, strict=True)), False)  # noqa: FBT003
        if state is not None and alive(state):
            ends[truth] = state
    if not ends:
        return None
    free = [k for k in range(len(children)) if len({truth[k] for truth in ends}) == 2]
    some = next(iter(ends))
    fixed = {child: some[k] for k, child in enumerate(children) if k not in free}
    literals = [child if holds else pool.no(child) for child, holds in fixed.items()]
    rest = {tuple(truth[k] for k in free) for truth in ends}
    if len(rest) < 2 ** len(free):
        literals.append(
            pool.any(
                pool.all(
                    children[k] if holds else pool.no(children[k])
                    for k, holds in zip(free, truth, strict=True)
                )
                for truth in sorted(rest, reverse=True)
            )
        )
    asked = _needed(free, ends)
    asks = tuple(children[k] for k in asked)
    samples = {tuple(truth[k] for k in asked): truth for truth in ends}

    def following(outcome: int, twin: bool) -> Fold | None:
        truth = samples.get(tuple(bits(asks, outcome).values()))
        if truth is None:
            return None
        state = ends[truth]
        return after(dict(zip(children, truth, strict=True)), True) if twin else state  # noqa: FBT003

    return Plan(pool.all(literals), asks, following)


def _needed(free: list[int], ends: Mapping[Bits, Fold]) -> list[int]:
    """Which of the undetermined formulas have to be asked, so that the answer tells where to go on."""
    asked = list(free)
    for k in free:
        fewer = [other for other in asked if other != k]
        found: dict[Bits, Fold] = {}
        if all(
            found.setdefault(tuple(truth[j] for j in fewer), state) == state
            for truth, state in ends.items()
        ):
            asked = fewer
    return asked


def wide_plan(
    pool: Pool,
    must: Formula,
    children: tuple[Formula, ...],
    needs: Callable[[Atom], Formula],
    after: After,
) -> Plan:
    """A plan for many formulas at once: all are asked, and only what plainly loses the container is kept out.

    `needs(atom)` is what an atom of the container's `must` wants of the value if it is to stay true.
    """

    def following(outcome: int, twin: bool) -> Fold | None:
        return after(bits(children, outcome), twin)

    return Plan(_possible(pool, must, needs), children, following)


def narrowed(
    language: "Language", plan: Plan, children: tuple[Formula, ...], alive: Callable[[Fold], bool]
) -> Plan | None:
    """A wide plan without those values that lead nowhere, where it lets few through; None: all of them do.

    What tells alternatives apart is mostly such a value, and once it has been written it is too late.
    """
    values = language.finite.values(plan.must)
    if values is None:
        return plan
    lives: dict[int, bool] = {}
    kept = set()
    for value in values:
        outcome = sum(1 << i for i, child in enumerate(children) if holds(child, value))
        if outcome not in lives:
            fold = plan.after(outcome, False)  # noqa: FBT003
            lives[outcome] = fold is not None and alive(fold)
        kept |= {value} if lives[outcome] else set()
    if len(kept) == len(values):
        return plan
    pool = language.normal.pool
    must = pool.all([plan.must, pool.of(OneOf(frozenset(kept)))])
    return replace(plan, must=must) if kept else None


def ways(
    language: "Language",
    must: Formula,
    children: tuple[Formula, ...],
    needs: Callable[[Atom], Formula],
) -> Iterator[tuple[Formula, Truths | None]]:
    """The ways a value can decide the formulas about it, as what it has to be for each, for a search of ends.

    All of them while they are few; else those of some example values, and at last one that cannot be told in advance.
    """
    pool = language.normal.pool
    if len(children) <= ENUMERATED:
        for truth in product((True, False), repeat=len(children)):
            truths = dict(zip(children, truth, strict=True))
            yield pool.all(c if holds else pool.no(c) for c, holds in truths.items()), truths
        return
    possible = _possible(pool, must, needs)
    for value, outcome in language.scalars.examples(possible, children):
        yield pool.of(OneOf(frozenset({value}))), bits(children, outcome)
    yield possible, None


def _possible(pool: Pool, formula: Formula, needs: Callable[[Atom], Formula]) -> Formula:
    """What a value has to be if `formula` is to stay possible; every other atom may still become true or false."""
    if formula.op is Op.ATOM:
        return needs(formula.atom)
    parts: Iterator[Formula] = (_possible(pool, part, needs) for part in formula.args)
    if formula.op is Op.ALL:
        return pool.all(parts)
    if formula.op in {Op.ANY, Op.ONE}:
        return pool.any(parts)
    return pool.constant(formula.op is not Op.FALSE)
