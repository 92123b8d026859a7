"""The rules of a grammar as flat arrays, which compiled loops read.

Does: number the states of bodies and leaves throughout a grammar, and merge bytes that no leaf tells apart. Does not:
change after construction, or hold sets of items (`column_store`).
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from ..base.addresses import line
from ..base.array_types import Ints, Longs
from ..cfg.form import ByteGrammar, GrammarLeaf
from ..contract.errors import ConstraintTooLarge
from ..jit.kernel import kernel

MOST_LEAF_STATES: Final = 1 << 18  # fits the fields of an item
MOST_BODY_STATES: Final = 1 << 18
MOST_CELLS: Final = 1 << 23  # of `following`
FAR: Final = 1 << 28
"""A number of bytes that no text has: where no end is known."""


class RuleArrays(NamedTuple):
    """A grammar without empty texts: leaves, numbered by state, and bodies over leaves and rules, numbered by state.

    The last body state is that of the whole output: it ends without a rule. Rule 0 is the start.
    """

    class_of: Ints  # [256], class of each byte
    only: Ints  # [classes], the byte of a class, -1 where it has several
    following: Ints  # [leaf states x classes], next state of a leaf, or -1
    accepting: Ints  # [leaf states], whether a text of the leaf may end here
    goes_on: Ints  # [leaf states], whether a byte may follow
    distance: Ints  # [leaf states], fewest bytes to the end of the leaf
    first_arc: Ints  # [body states + 1], offsets into `label` and `target`
    label: Ints  # [arcs], first state of a leaf, or ~rule
    target: Ints  # [arcs], next body state
    rule_of: Ints  # [body states], the rule, -1 for the whole output
    final: Ints  # [body states], whether the rule may end here
    rest: Ints  # [body states], fewest bytes to the end of the rule
    entry: Ints  # [rules], first body state


COUNT: Final = len(RuleArrays._fields)


@kernel
def rules_at(held: Longs) -> RuleArrays:
    """The first arrays among those at the addresses `held`."""
    return RuleArrays(
        line(held, 0), line(held, 1), line(held, 2), line(held, 3), line(held, 4), line(held, 5),
        line(held, 6), line(held, 7), line(held, 8), line(held, 9), line(held, 10), line(held, 11),
        line(held, 12),
    )  # fmt: skip


def rule_arrays(form: ByteGrammar) -> RuleArrays:
    """Number a grammar.

    Raises:
        ConstraintTooLarge: it has too many states.
    """
    names = [form.start, *(name for name in form.bodies if name != form.start)]
    rules = {name: i for i, name in enumerate(names)}
    leaf_base = np.cumsum([0, *(leaf.dfa.states for leaf in form.leaves)]).tolist()
    body_base = np.cumsum([0, *(len(form.bodies[name].arcs) for name in names)]).tolist()
    if leaf_base[-1] > MOST_LEAF_STATES or body_base[-1] >= MOST_BODY_STATES:
        raise ConstraintTooLarge(
            f"the grammar has {leaf_base[-1]} states in its terminals and {body_base[-1]} in its rules: too many"
        )
    first_arc, label, target = [0], [], []
    for name, base in zip(names, body_base, strict=False):
        for row in form.bodies[name].arcs:
            for called, to in row.items():
                label.append(~rules[called] if isinstance(called, str) else leaf_base[called])
                target.append(base + to)
            first_arc.append(len(label))
    sizes = [len(form.bodies[name].arcs) for name in names]
    rest = [each for name in names for each in form.rest[name][: len(form.bodies[name].arcs)]]
    final = [each for name in names for each in form.bodies[name].final]
    return RuleArrays(
        *_leaf_arrays(form.leaves),
        _ints([*first_arc, len(label)]),
        _ints(label),
        _ints(target),
        np.append(np.repeat(np.arange(len(names)), sizes), -1).astype(np.int32),
        _ints([*final, True]),
        _ints([*(min(each, FAR) for each in rest), 0]),
        _ints(body_base[:-1]),
    )


def _ints(values: Sequence[int]) -> Ints:
    return np.array(values, np.int32)


def _leaf_arrays(leaves: Sequence[GrammarLeaf]) -> tuple[Ints, Ints, Ints, Ints, Ints, Ints]:
    """The fields of `RuleArrays` up to `distance`."""
    if not leaves:  # only the empty text
        none = np.empty(0, np.int32)
        return np.zeros(256, np.int32), np.full(1, -1, np.int32), none, none, none, none
    columns = np.array([leaf.dfa.class_of for leaf in leaves], np.int32)
    _, first, inverse = np.unique(columns, axis=1, return_index=True, return_inverse=True)
    class_of: Ints = inverse.reshape(-1).astype(np.int32)
    width = len(first)
    counts = np.bincount(class_of, minlength=width)
    only = np.where(counts == 1, first, -1).astype(np.int32)
    base, blocks = 0, []
    for leaf in leaves:
        table = leaf.dfa.table
        picked = leaf.dfa.class_of[first]
        block = np.where(picked[None, :] >= 0, table[:, np.maximum(picked, 0)], -1)
        blocks.append(np.where(block >= 0, block + base, -1).astype(np.int32))
        base += leaf.dfa.states
        if base * width > MOST_CELLS:
            raise ConstraintTooLarge(
                f"the terminals of the grammar have {base} states over {width} kinds of bytes: too many"
            )
    following = np.concatenate(blocks)
    accepting = np.concatenate([leaf.dfa.outcome >= 0 for leaf in leaves]).astype(np.int32)
    distance = np.concatenate([leaf.dfa.distance for leaf in leaves]).astype(np.int32)
    goes_on: Ints = np.max(following >= 0, axis=1).astype(np.int32)
    return class_of, only, following.reshape(-1), accepting, goes_on, distance
