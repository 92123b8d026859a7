"""The rules of a grammar as flat arrays, which compiled loops read.

Does: number the states of bodies and leaves throughout a grammar, merging bytes that no leaf tells apart and states of
bodies with the same texts ahead; put rules in the order of their first calls. Does not: change after construction, or
hold sets of items (`column_store`).
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from ..base.addresses import line, longs
from ..base.array_types import Ints, Longs
from ..cfg.form import ByteGrammar, GrammarLeaf
from ..cfg.order import components
from ..contract.errors import ConstraintTooLarge
from ..jit.kernel import kernel
from .byte_kinds import byte_kinds, stable_kinds

MOST_LEAF_STATES: Final = 1 << 18  # fits the fields of an item
MOST_BODY_STATES: Final = 1 << 18
MOST_CELLS: Final = 1 << 23  # of `following`
INFINITE: Final = 1 << 28
"""A number of bytes that no text has: where no end is known."""


class RuleArrays(NamedTuple):
    """A grammar without empty texts: leaves, numbered by state, and bodies over leaves and rules, numbered by state.

    The last body state is that of the whole output: it ends without a rule. Rule 0 is the start.

    Rules that begin with one another, in a circle, are a *group*; most groups are a single rule that begins with leaves
    or with rules of later groups.
    """

    class_of: Ints  # [256], class of each byte
    only: Ints  # [classes], the byte of a class, -1 where it has several
    following: Ints  # [leaf states x classes], next state of a leaf, or -1
    accepting: Ints  # [leaf states], whether a text of the leaf may end here
    continues: Ints  # [leaf states], whether a byte may follow
    distance: Ints  # [leaf states], fewest bytes to the end of the leaf
    stable: Longs  # [leaf states], the kinds of bytes of which any text leaves the leaf in the same state, as bits
    first_arc: Ints  # [body states + 1], offsets into `label` and `target`
    label: Ints  # [arcs], first state of a leaf, or ~rule
    target: Ints  # [arcs], next body state
    final: Ints  # [body states], whether the rule may end here
    ends: Ints  # [body states], whether the rule can only end here
    rest: Ints  # [body states], fewest bytes to the end of the rule
    entry: Ints  # [rules], first body state
    group: Ints  # [rules], by the order in which rules begin with one another, callers first
    place: Ints  # [rules], the place of the rule in its group
    first_member: Ints  # [groups + 1], offsets into `member`
    member: Ints  # [rules], the rules of each group by their places
    loops: Ints  # [groups], whether a rule of the group begins with a rule of the group


COUNT: Final = len(RuleArrays._fields)


@kernel
def rules_at(held: Longs) -> RuleArrays:
    """The first arrays among those at the addresses `held`."""
    return RuleArrays(
        line(held, 0), line(held, 1), line(held, 2), line(held, 3), line(held, 4), line(held, 5),
        longs(held, 6), line(held, 7), line(held, 8), line(held, 9), line(held, 10), line(held, 11),
        line(held, 12), line(held, 13), line(held, 14), line(held, 15), line(held, 16), line(held, 17),
        line(held, 18),
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
    final = [each for name in names for each in form.bodies[name].final]
    rest = [each for name in names for each in form.rest[name][: len(form.bodies[name].arcs)]]
    arcs = [
        tuple(
            (~rules[called] if isinstance(called, str) else leaf_base[called], base + to)
            for called, to in row.items()
        )
        for name, base in zip(names, body_base, strict=False)
        for row in form.bodies[name].arcs
    ]
    merged = _merged(arcs, final)
    first_arc, label, target, kept = [0], [], [], sorted(set(merged))
    number = {state: i for i, state in enumerate(kept)}
    for state in kept:
        label += [called for called, _ in arcs[state]]
        target += [number[merged[to]] for _, to in arcs[state]]
        first_arc.append(len(label))
    return RuleArrays(
        *_leaf_arrays(form.leaves),
        _ints([*first_arc, len(label)]),
        _ints(label),
        _ints(target),
        _ints([*(final[state] for state in kept), True]),
        _ints([*(final[state] and not arcs[state] for state in kept), False]),
        _ints([*(min(rest[state], INFINITE) for state in kept), 0]),
        _ints([number[merged[base]] for base in body_base[:-1]]),
        *_groups(form, rules),
    )


def _merged(arcs: Sequence[tuple[tuple[int, int], ...]], final: Sequence[bool]) -> list[int]:
    """For each body state, the first one that has the same texts ahead of it, as far as labels tell."""
    found = [int(each) for each in final]
    count = len(set(found))
    while True:
        kinds: dict[object, int] = {}
        found = [
            kinds.setdefault((found[state], frozenset((x, found[to]) for x, to in row)), state)
            for state, row in enumerate(arcs)
        ]
        if len(kinds) == count:
            return found
        count = len(kinds)


def _groups(form: ByteGrammar, rules: Mapping[str, int]) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """The fields of `RuleArrays` from `group` on."""
    begins = {
        name: [called for called in form.bodies[name].arcs[0] if isinstance(called, str)]
        for name in rules
    }
    group, place = [0] * len(rules), [0] * len(rules)
    first_member: list[int] = [0]
    member: list[int] = []
    loops: list[bool] = []
    for names in reversed(list(components(begins))):
        for name in names:
            group[rules[name]], place[rules[name]] = len(loops), len(member) - first_member[-1]
            member.append(rules[name])
        first_member.append(len(member))
        loops.append(len(names) > 1 or names[0] in begins[names[0]])
    return _ints(group), _ints(place), _ints(first_member), _ints(member), _ints(loops)


def _ints(values: Sequence[int]) -> Ints:
    return np.array(values, np.int32)


def _leaf_arrays(leaves: Sequence[GrammarLeaf]) -> tuple[Ints, Ints, Ints, Ints, Ints, Ints, Longs]:
    """The fields of `RuleArrays` up to `stable`."""
    if not leaves:  # only the empty text
        none = np.empty(0, np.int32)
        return (
            np.zeros(256, np.int32),
            np.full(1, -1, np.int32),
            none,
            none,
            none,
            none,
            none.astype(np.int64),
        )
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
    continues: Ints = np.max(following >= 0, axis=1).astype(np.int32)
    flat = following.reshape(-1)
    stable = stable_kinds(flat, class_of, byte_kinds(), width)
    return class_of, only, flat, accepting, continues, distance, stable
