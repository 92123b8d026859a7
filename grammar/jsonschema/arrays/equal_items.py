"""Formulas that two equal items of an array may make true, as `not` of `uniqueItems` does.

Does: tell whether an array may gain by a repeated item. Does not: derive obligations (`item_steps`), or find the places
where only a repeated item is legal (`array_language`).
"""

from collections.abc import Callable, Iterator
from itertools import product

from ...contract.errors import Refusal, UnsupportedConstraint
from ..logic.atoms import (
    Contains,
    SubSchema,
    UnevaluatedItems,
    UnevaluatedMembers,
    Unique,
    ValueKind,
    subs_of,
)
from ..logic.formula import Atom, Formula, Op, Pool
from ..logic.residual import Obligation, Restriction
from ..logic.value_plan import Truths
from ..writing.byte_cost import Cost

Signed = tuple[Formula, bool]
"""A formula, and the truth value required of it."""


def gains_by_repeats(must: Formula) -> bool:
    """Whether an array may satisfy a formula because two of its items are equal."""
    return any(
        isinstance(atom, Unique) and not truth for atom, truth in _atoms([(must, True)], set())
    )


def may_gain_anywhere(root: Formula, restriction: Restriction) -> bool:
    """Whether an array anywhere in a value may have to hold equal items; never False where one does."""
    seen: set[Signed] = set()
    todo: list[Signed] = [(root, True)]
    done: set[Signed] = set()
    while todo:
        formula, truth = signed = todo.pop()
        if signed in done:
            continue
        done.add(signed)
        for kind in (ValueKind.ARRAY, ValueKind.OBJECT):
            for atom, true in _atoms([(restriction.to(formula, kind), truth)], seen):
                if isinstance(atom, Unique) and not true:
                    return True
                todo += ((sub.formula, each) for sub, each in _below(atom, true))
    return False


def refused() -> UnsupportedConstraint:
    """The error where an item is legal only because it equals an earlier one."""
    reason = "the schema requires two equal items, which cannot be enforced"
    hint = "require equal items by `const` or `enum`, or set no upper bound on the number of items"
    return UnsupportedConstraint(reason, (Refusal("", "uniqueItems", reason, hint),))


def refuse_forced_repeats(
    pool: Pool,
    children: tuple[Formula, ...],
    after: Callable[[Truths, bool], Obligation | None],
    alive: Callable[[Obligation], bool],
    cost_of: Callable[[Formula], Cost | None],
) -> None:
    """Refuse an array with a place for an item that is legal only because it equals an earlier one.

    `after` gives the obligation after an item by the truths of `children` and whether it is repeated, `alive` whether
    an array can end with it, `cost_of` the length of the shortest value of a formula, None without one.

    Raises:
        UnsupportedConstraint: there is such an item.
    """
    for truth in product((True, False), repeat=len(children)):
        truths = dict(zip(children, truth, strict=True))
        new, repeated = (after(truths, is_repeat) for is_repeat in (False, True))
        if repeated is None or not alive(repeated) or (new is not None and alive(new)):
            continue
        literals = (child if holds else pool.no(child) for child, holds in truths.items())
        if cost_of(pool.all(literals)) is not None:
            raise refused()


def _atoms(todo: list[Signed], seen: set[Signed]) -> Iterator[tuple[Atom, bool]]:
    """The atoms of formulas, also of the conditions of covers, each with the truth value required of it."""
    while todo:
        formula, truth = signed = todo.pop()
        if signed in seen:
            continue
        seen.add(signed)
        if formula.op is Op.ATOM:
            yield formula.atom, truth
            if isinstance(formula.atom, UnevaluatedItems | UnevaluatedMembers):
                todo += ((holds, truth) for _, holds in formula.atom.covers)
        elif formula.op is Op.ONE:
            todo += ((part, either) for part in formula.args for either in (True, False))
        else:
            todo += ((part, truth is (formula.op is not Op.NOT)) for part in formula.args)


def _below(atom: Atom, truth: bool) -> Iterator[tuple[SubSchema, bool]]:
    """The sub-schemas of an atom, each with the truth value required of it."""
    for sub in subs_of(atom):
        if not isinstance(atom, Contains):
            yield sub, truth
            continue
        if atom.least > 0:
            yield sub, truth
        if atom.most is not None:
            yield sub, not truth
