"""The plan for one member or item: the rule of its value, and the obligation after each outcome of that rule.

Does: turn "these formulas are true of the value" into the narrowest child rule. Does not: distinguish objects from
arrays.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product

from ..read.values import Value
from .atoms import OneOf
from .evaluate import holds
from .formula import Atom, Formula, Op, Pool
from .residual import Obligation

# Up to this many formulas about one value, every combination is tried, so that no dead end remains.
ENUMERATED = 5

Truths = Mapping[Formula, bool]
After = Callable[[Truths, bool], Obligation | None]
Bits = tuple[bool, ...]
Examples = Callable[[Formula, tuple[Formula, ...]], list[tuple[Value, int]]]
"""Some values of a formula, each with the bits of the other formulas that hold of it."""


@dataclass(frozen=True, eq=False, slots=True)
class ValuePlan:
    """The formulas asked about one value, and the obligation of its container afterwards.

    `must` and `queries` are those of the child rule; bit i of an outcome says whether `queries[i]` holds.
    `after(outcome, is_repeat)` is the new obligation, None if no end of the container remains.
    """

    must: Formula
    queries: tuple[Formula, ...]
    _after: Callable[[int, bool], Obligation | None] | None
    _known: dict[tuple[int, bool], Obligation | None] = field(default_factory=dict)

    @property
    def always(self) -> bool:
        """Whether all values that it admits have the same effect."""
        return self._after is None

    def after(self, outcome: int, is_repeat: bool) -> Obligation | None:
        """The obligation of the container after a value with this outcome."""
        assert self._after is not None  # else `always`
        key = (outcome, is_repeat)
        if key not in self._known:
            self._known[key] = self._after(outcome, is_repeat)
        return self._known[key]


def bits(formulas: tuple[Formula, ...], outcome: int) -> dict[Formula, bool]:
    """The truth of each formula in an outcome."""
    return {formula: bool(outcome >> i & 1) for i, formula in enumerate(formulas)}


def exact_plan(
    pool: Pool, children: tuple[Formula, ...], after: After, alive: Callable[[Obligation], bool]
) -> ValuePlan | None:
    """The plan that admits exactly the values after which the container can be completed; None if there are none.

    `after(truths, is_repeat)` is None if the obligation becomes false; `alive` tests whether an obligation can be met.
    """
    ends: dict[Bits, Obligation] = {}
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
    queried = _needed(free, ends)
    queries = tuple(children[k] for k in queried)
    samples = {tuple(truth[k] for k in queried): truth for truth in ends}

    def following(outcome: int, is_repeat: bool) -> Obligation | None:
        truth = samples.get(tuple(bits(queries, outcome).values()))
        if truth is None:
            return None
        state = ends[truth]
        return after(dict(zip(children, truth, strict=True)), True) if is_repeat else state  # noqa: FBT003

    return ValuePlan(pool.all(literals), queries, following)


def _needed(free: list[int], ends: Mapping[Bits, Obligation]) -> list[int]:
    """The undetermined formulas to query, so that the outcome determines the next obligation."""
    queried = list(free)
    for k in free:
        fewer = [other for other in queried if other != k]
        found: dict[Bits, Obligation] = {}
        if all(
            found.setdefault(tuple(truth[j] for j in fewer), state) == state
            for truth, state in ends.items()
        ):
            queried = fewer
    return queried


def wide_plan(
    pool: Pool,
    must: Formula,
    children: tuple[Formula, ...],
    needs: Callable[[Atom], Formula],
    after: After,
) -> ValuePlan:
    """A plan for many formulas: all are queried, and only values that plainly break the obligation are excluded.

    `needs(atom)` is the formula that the value must satisfy to keep an atom of `must` true.
    """

    def following(outcome: int, is_repeat: bool) -> Obligation | None:
        return after(bits(children, outcome), is_repeat)

    return ValuePlan(_possible(pool, must, needs), children, following)


def narrowed(
    pool: Pool,
    plan: ValuePlan,
    values: frozenset[Value] | None,
    children: tuple[Formula, ...],
    alive: Callable[[Obligation], bool],
) -> ValuePlan | None:
    """A wide plan without the values after which the container has no end; None if no value remains.

    `values`: those of `plan.must` if they are few, else None, and the plan stays as it is. The discriminator of
    alternatives is typically such a value; a wrong one cannot be mended after it has been written.
    """
    if values is None:
        return plan
    lives: dict[int, bool] = {}
    kept = set()
    for value in values:
        outcome = sum(1 << i for i, child in enumerate(children) if holds(child, value))
        if outcome not in lives:
            obligation = plan.after(outcome, False)  # noqa: FBT003
            lives[outcome] = obligation is not None and alive(obligation)
        kept |= {value} if lives[outcome] else set()
    if len(kept) == len(values):
        return plan
    must = pool.all([plan.must, pool.of(OneOf(frozenset(kept)))])
    return replace(plan, must=must) if kept else None


def value_cases(
    pool: Pool,
    must: Formula,
    children: tuple[Formula, ...],
    needs: Callable[[Atom], Formula],
    examples: Examples,
) -> Iterator[tuple[Formula, Truths | None]]:
    """The cases of one value for a search of ends: its formula, and the truth of the formulas about it.

    All combinations if they are few; else those of some example values, then one case of unknown truth (None).
    """
    if len(children) <= ENUMERATED:
        for truth in product((True, False), repeat=len(children)):
            truths = dict(zip(children, truth, strict=True))
            yield pool.all(c if holds else pool.no(c) for c, holds in truths.items()), truths
        return
    possible = _possible(pool, must, needs)
    for value, outcome in examples(possible, children):
        yield pool.of(OneOf(frozenset({value}))), bits(children, outcome)
    yield possible, None


def _possible(pool: Pool, formula: Formula, needs: Callable[[Atom], Formula]) -> Formula:
    """The formula of the values after which `formula` may still hold; atoms without a need may become true or false."""
    if formula.op is Op.ATOM:
        return needs(formula.atom)
    parts: Iterator[Formula] = (_possible(pool, part, needs) for part in formula.args)
    if formula.op is Op.ALL:
        return pool.all(parts)
    if formula.op in {Op.ANY, Op.ONE}:
        return pool.any(parts)
    return pool.constant(formula.op is not Op.FALSE)
