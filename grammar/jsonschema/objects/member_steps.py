"""Derivatives of the obligation of an object by its members.

Does: give the formulas that an atom asks of a member's value; derive obligations by a name, by a value, by the absence
of a member. Does not: choose members (`object_language`).
"""

from typing import Final

from ..logic.atoms import (
    MemberCount,
    Properties,
    PropertyNames,
    Required,
    SubSchema,
    UnevaluatedMembers,
)
from ..logic.formula import Atom, Formula, Pool
from ..logic.residual import Obligation, deep_atoms, substitute_all
from ..logic.value_plan import Truths
from .names import Name, covers

# The atoms that a member changes by its name, by its absence, by its value.
_CHANGED_BY_NAMES: Final = frozenset({Required, MemberCount, PropertyNames})
_DEMANDS: Final = frozenset({Required})
_CHANGED_BY_VALUES: Final = frozenset({Properties})


class MemberSteps:
    """Derivatives of obligations by members."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        # By identity: atoms with many names hash slowly. Atoms and names live as long as this object.
        self._tables: dict[int, dict[str | None, SubSchema]] = {}
        self._deep: dict[Obligation, tuple[Atom, ...]] = {}
        self._value_formulas: dict[tuple[int, int], list[Formula]] = {}

    def begun(self, obligation: Obligation, name: Name) -> Obligation:
        """The obligation once a member of this name has begun."""
        return substitute_all(
            self._pool, obligation, lambda atom: self._named(atom, name), _CHANGED_BY_NAMES
        )

    def passed(self, obligation: Obligation, text: str) -> Obligation:
        """The obligation if no member of this name comes any more."""

        def meaning(atom: Atom) -> Formula | None:
            if isinstance(atom, Required) and text in atom.names:
                return self._pool.false
            return None

        return substitute_all(self._pool, obligation, meaning, _DEMANDS)

    def children(self, obligation: Obligation, name: Name) -> tuple[Formula, ...]:
        """The formulas about the member's value that the obligation depends on, without constants."""
        atoms = self._deep.get(obligation)
        if atoms is None:
            atoms = self._deep[obligation] = tuple(deep_atoms(obligation))
        found: dict[Formula, None] = {}
        for atom in atoms:
            found.update(dict.fromkeys(self.value_formulas(atom, name)))
        return tuple(f for f in found if f not in (self._pool.true, self._pool.false))

    def value_formulas(self, atom: Atom, name: Name) -> list[Formula]:
        """The formulas about a member's value on which the atom depends."""
        if isinstance(atom, Properties) and not atom.patterns:
            return [sub.formula for sub in self._selected(atom, name)]
        if isinstance(atom, Properties):
            key = id(atom), id(name)
            found = self._value_formulas.get(key)
            if found is None:
                found = self._value_formulas[key] = [
                    sub.formula for sub in self._selected(atom, name)
                ]
            return found
        if (
            isinstance(atom, UnevaluatedMembers)
            and self.uncovered(atom, name) is not self._pool.true
        ):
            return [atom.sub.formula]
        return []

    def kept(self, parts: tuple[Formula, ...], name: Name) -> Truths:
        """The truths about a member's value that preserve all these atoms."""
        return {formula: True for part in parts for formula in self.value_formulas(part.atom, name)}

    def needs(self, atom: Atom, name: Name) -> Formula:
        """The formula of the values that can keep the atom true, as far as this member decides."""
        if isinstance(atom, Properties):
            return self._pool.all(self.value_formulas(atom, name))
        return self._pool.true

    def _selected(self, props: Properties, name: Name) -> list[SubSchema]:
        table = self._tables.get(id(props))
        if table is None:
            table = self._tables[id(props)] = dict(props.named)
        found = [table[name.text]] if name.text in table else []
        hit = [sub for source, sub in props.patterns if source in name.patterns]
        if found or hit or props.rest is None:
            return found + hit
        return [props.rest]

    def uncovered(self, atom: UnevaluatedMembers, name: Name) -> Formula:
        """The condition under which the member counts as evaluated."""
        return self._pool.any(holds for cover, holds in atom.covers if covers(cover, name))

    def _named(self, atom: Atom, name: Name) -> Formula | None:
        """An atom once a member of this name has begun; None if it does not change."""
        pool = self._pool
        if isinstance(atom, Required) and name.text in atom.names:
            left = atom.names - {name.text}
            return pool.of(Required(left)) if left else pool.true
        if isinstance(atom, MemberCount):
            if atom.most == 0:
                return pool.false
            fewer = MemberCount(
                max(atom.least - 1, 0), None if atom.most is None else atom.most - 1
            )
            return pool.true if fewer == MemberCount() else pool.of(fewer)
        if isinstance(atom, PropertyNames) and atom.sub.formula not in name.valid:
            return pool.false
        return None

    def valued(self, obligation: Obligation, name: Name, truths: Truths) -> Obligation:
        """The obligation once the member's value is known."""
        pool = self._pool

        def true(formula: Formula) -> bool:
            return formula is pool.true or (formula is not pool.false and truths[formula])

        def meaning(atom: Atom) -> Formula | None:
            if all(map(true, self.value_formulas(atom, name))):
                return None
            if isinstance(atom, Properties):
                return pool.false
            assert isinstance(atom, UnevaluatedMembers)
            return pool.all([pool.of(atom), self.uncovered(atom, name)])

        return substitute_all(pool, obligation, meaning, _CHANGED_BY_VALUES)
