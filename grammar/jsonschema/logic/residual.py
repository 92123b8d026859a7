"""Residual formulas: for one kind of value, after atoms are decided, and at the end of a container.

Does: restrict formulas to a kind of value, substitute atoms (also inside the conditions of `unevaluated*`), evaluate
obligations at the end of containers. Does not: know how objects and arrays are written (`objects`, `arrays`).
"""

from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from ..read.values import List, Map, Value
from .atoms import (
    KIND_OF,
    PLAIN_INTEGER,
    Contains,
    Integer,
    ItemCount,
    Items,
    MemberCount,
    OneOf,
    Properties,
    Required,
    SubSchema,
    Types,
    UnevaluatedItems,
    UnevaluatedMembers,
    ValueKind,
)
from .formula import Atom, Formula, Pool, evaluate

_COVERED: Final = (UnevaluatedMembers, UnevaluatedItems)
_COUNTS: Final = (MemberCount, ItemCount, Contains)
Meaning = Callable[[Atom], Formula | None]
Kinds = Container[type]


@dataclass(frozen=True, slots=True)
class Obligation:
    """The requirements on the rest of a container: `must` has to hold, and the truth of `queries` is reported."""

    must: Formula
    queries: tuple[Formula, ...]


def substitute(
    pool: Pool, formula: Formula, meaning: Meaning, about: Kinds | None = None
) -> Formula:
    """Replace atoms by their `meaning`; None leaves an atom unchanged.

    Atoms in the conditions of covers are replaced first, then the atom with the covers. `about`: the only classes of
    atoms that change (except atoms with covers); None: any class.
    """
    changed: dict[Formula, Formula] = {}
    for part in formula.atoms:
        atom, kind = part.atom, part.atom.__class__
        if kind in _COVERED:
            assert isinstance(atom, _COVERED)
            new = _covered(pool, atom, meaning, about)
        elif about is None or kind in about:
            new = meaning(atom)
        else:
            continue
        if new is not None and new is not part:
            changed[part] = new
    return pool.put(formula, changed) if changed else formula


def _covered(
    pool: Pool, atom: UnevaluatedMembers | UnevaluatedItems, meaning: Meaning, about: Kinds | None
) -> Formula | None:
    conditions = [substitute(pool, holds, meaning, about) for _, holds in atom.covers]
    covers = [cover for cover, _ in atom.covers]
    pairs = [pair for pair in zip(covers, conditions, strict=True) if pair[1] is not pool.false]
    if any(cover.everything and holds is pool.true for cover, holds in pairs):
        return pool.true
    new: Atom = replace(atom, covers=tuple(pairs))  # type: ignore[arg-type]  # covers of its own kind
    found = meaning(new)
    return pool.of(new) if found is None and new != atom else found


def substitute_all(
    pool: Pool, obligation: Obligation, meaning: Meaning, about: Kinds | None = None
) -> Obligation:
    """`substitute` in all formulas of an obligation."""
    must = substitute(pool, obligation.must, meaning, about)
    if must is pool.false:
        return Obligation(must, ())
    return Obligation(
        must, tuple(substitute(pool, ask, meaning, about) for ask in obligation.queries)
    )


class Restriction:
    """Restricts formulas to one kind of value: atoms about other kinds hold, constants become structure."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._done: dict[tuple[Formula, ValueKind], Formula] = {}

    def to(self, formula: Formula, kind: ValueKind) -> Formula:
        """`formula` for values of this kind (NUMBER, STRING, ARRAY or OBJECT)."""
        known = self._done.get((formula, kind))
        if known is None:
            known = substitute(self._pool, formula, lambda atom: self._meaning(atom, kind))
            self._done[formula, kind] = known
        return known

    def _meaning(self, atom: Atom, kind: ValueKind) -> Formula | None:
        pool = self._pool
        if isinstance(atom, Types):
            if kind is ValueKind.NUMBER and "number" not in atom.names:
                if PLAIN_INTEGER in atom.names:
                    return pool.of(Integer(plainly=True))
                return pool.of(Integer()) if "integer" in atom.names else pool.false
            return pool.constant(kind.value in atom.names)
        if isinstance(atom, OneOf):
            return self._one_of(atom, kind)
        return None if KIND_OF.get(type(atom)) is kind else pool.true

    def _one_of(self, atom: OneOf, kind: ValueKind) -> Formula:
        pool = self._pool
        if kind is ValueKind.OBJECT:
            maps = [value for value in atom.values if isinstance(value, Map)]
            return pool.any([self._map(value) for value in sorted(maps, key=repr)])
        if kind is ValueKind.ARRAY:
            lists = [value for value in atom.values if isinstance(value, List)]
            return pool.any([self._list(value) for value in sorted(lists, key=repr)])
        wanted = str if kind is ValueKind.STRING else int | Fraction
        values = frozenset(value for value in atom.values if isinstance(value, wanted))
        return pool.of(OneOf(values)) if values else pool.false

    def _map(self, value: Map) -> Formula:
        pool = self._pool
        members = sorted(value.members, key=lambda member: member[0])
        named = tuple((name, self._constant(part)) for name, part in members)
        closed = pool.of(Properties(named, (), SubSchema("nothing", "", lambda _: pool.false)))
        if not members:
            return closed
        return pool.all([closed, pool.of(Required(frozenset(name for name, _ in members)))])

    def _list(self, value: List) -> Formula:
        pool = self._pool
        prefix = tuple(self._constant(item) for item in value.items)
        count = pool.of(ItemCount(len(prefix), len(prefix)))
        return pool.all([pool.of(Items(prefix, None)), count])

    def _constant(self, value: Value) -> SubSchema:
        pool = self._pool
        return SubSchema(("constant", value), "", lambda _: pool.of(OneOf(frozenset({value}))))


def ended(obligation: Obligation) -> int | None:
    """The outcome if the container ends now (bit i: `queries[i]` holds); None if it may not end."""
    if not evaluate(obligation.must, _holds_at_end):
        return None
    return sum(1 << i for i, ask in enumerate(obligation.queries) if evaluate(ask, _holds_at_end))


def _holds_at_end(atom: Atom) -> bool:
    """Whether an atom about containers holds if no member or item follows."""
    if isinstance(atom, _COUNTS):
        return atom.least == 0
    return not isinstance(atom, Required)


def deep_atoms(obligation: Obligation) -> Iterator[Atom]:
    """The atoms of an obligation and of the conditions in their covers, each once."""
    seen: set[Formula] = set()
    todo = [*obligation.queries[::-1], obligation.must]
    while todo:
        for part in todo.pop().atoms:
            if part in seen:
                continue
            seen.add(part)
            yield part.atom
            if isinstance(part.atom, UnevaluatedMembers | UnevaluatedItems):
                todo += [holds for _, holds in part.atom.covers]
