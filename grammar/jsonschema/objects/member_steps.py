"""How members change what is left to show of an object.

Does: say what an atom asks of a member's value, and derive folds by a name, by a value, by a member that does not come.
Does not: choose members (`objects`).
"""

from typing import Final

from ..logic.atoms import Members, Names, OtherMembers, Props, Required, Sub
from ..logic.formula import Atom, Formula, Pool
from ..logic.residual import Fold, deep_atoms, substitute_all
from ..logic.value_plan import Truths
from .names import Name, covers

# What a member changes: by its name, by not coming, by its value.
_TOLD_BY_NAMES: Final = frozenset({Required, Members, Names})
_DEMANDS: Final = frozenset({Required})
_TOLD_BY_VALUES: Final = frozenset({Props})


class MemberSteps:
    """Derivatives of folds by members."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        # By identity: atoms with many names hash slowly. Of a layout both live as long as this.
        self._tables: dict[int, dict[str | None, Sub]] = {}
        self._deep: dict[Fold, tuple[Atom, ...]] = {}
        self._asked: dict[tuple[int, int], list[Formula]] = {}

    def begun(self, fold: Fold, name: Name) -> Fold:
        """The fold once a member of this name has begun."""
        return substitute_all(
            self._pool, fold, lambda atom: self._named(atom, name), _TOLD_BY_NAMES
        )

    def passed(self, fold: Fold, text: str) -> Fold:
        """The fold where the member of this name will not come any more."""

        def meaning(atom: Atom) -> Formula | None:
            if isinstance(atom, Required) and text in atom.names:
                return self._pool.false
            return None

        return substitute_all(self._pool, fold, meaning, _DEMANDS)

    def children(self, fold: Fold, name: Name) -> tuple[Formula, ...]:
        """The formulas whose truth of the member's value counts, constants left out."""
        atoms = self._deep.get(fold)
        if atoms is None:
            atoms = self._deep[fold] = tuple(deep_atoms(fold))
        found: dict[Formula, None] = {}
        for atom in atoms:
            found.update(dict.fromkeys(self.asked(atom, name)))
        return tuple(f for f in found if f not in (self._pool.true, self._pool.false))

    def asked(self, atom: Atom, name: Name) -> list[Formula]:
        """The formulas the atom wants to hold of the member's value."""
        if isinstance(atom, Props) and not atom.patterns:
            return [sub.formula for sub in self._selected(atom, name)]
        if isinstance(atom, Props):
            key = id(atom), id(name)
            found = self._asked.get(key)
            if found is None:
                found = self._asked[key] = [sub.formula for sub in self._selected(atom, name)]
            return found
        if isinstance(atom, OtherMembers) and self.uncovered(atom, name) is not self._pool.true:
            return [atom.sub.formula]
        return []

    def kept(self, parts: tuple[Formula, ...], name: Name) -> Truths:
        """What is known of a member's value that keeps all these atoms."""
        return {formula: True for part in parts for formula in self.asked(part.atom, name)}

    def needs(self, atom: Atom, name: Name) -> Formula:
        """What the value has to be if the atom is to stay true, as far as the member alone tells."""
        if isinstance(atom, Props):
            return self._pool.all(self.asked(atom, name))
        return self._pool.true

    def _selected(self, props: Props, name: Name) -> list[Sub]:
        table = self._tables.get(id(props))
        if table is None:
            table = self._tables[id(props)] = dict(props.named)
        found = [table[name.text]] if name.text in table else []
        hit = [sub for source, sub in props.patterns if source in name.patterns]
        if found or hit or props.rest is None:
            return found + hit
        return [props.rest]

    def uncovered(self, atom: OtherMembers, name: Name) -> Formula:
        """What has to hold for the member to count as evaluated."""
        return self._pool.any(holds for cover, holds in atom.covers if covers(cover, name))

    def _named(self, atom: Atom, name: Name) -> Formula | None:
        """An atom once a member of this name has begun."""
        pool = self._pool
        if isinstance(atom, Required) and name.text in atom.names:
            left = atom.names - {name.text}
            return pool.of(Required(left)) if left else pool.true
        if isinstance(atom, Members):
            if atom.most == 0:
                return pool.false
            fewer = Members(max(atom.least - 1, 0), None if atom.most is None else atom.most - 1)
            return pool.true if fewer == Members() else pool.of(fewer)
        if isinstance(atom, Names) and atom.sub.formula not in name.valid:
            return pool.false
        return None

    def valued(self, fold: Fold, name: Name, truths: Truths) -> Fold:
        """The fold once the member's value is known."""
        pool = self._pool

        def true(formula: Formula) -> bool:
            return formula is pool.true or (formula is not pool.false and truths[formula])

        def meaning(atom: Atom) -> Formula | None:
            if all(map(true, self.asked(atom, name))):
                return None
            if isinstance(atom, Props):
                return pool.false
            assert isinstance(atom, OtherMembers)
            return pool.all([pool.of(atom), self.uncovered(atom, name)])

        return substitute_all(pool, fold, meaning, _TOLD_BY_VALUES)
