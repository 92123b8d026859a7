"""All that is known of the names of an object's members before any is read.

Does: order the names a schema mentions and class all others, number them by labels. Does not: derive folds
(`member_steps`).
"""

from collections.abc import Hashable
from functools import cached_property
from typing import TYPE_CHECKING

from ..logic.atoms import Names, OtherMembers, Props, Required
from ..logic.evaluate import holds, matches
from ..logic.formula import Atom, Formula
from ..logic.residual import Fold, deep_atoms
from .member_steps import MemberSteps
from .names import Name, covers

if TYPE_CHECKING:
    from ..rules.language import Language


class PropertyClasses:
    """The names of the objects that a fold is about. A name's label is its index in `all_names`."""

    def __init__(self, language: "Language", steps: MemberSteps, fold: Fold) -> None:
        self._language = language
        self._steps = steps
        self.atoms = tuple(deep_atoms(fold))

    @cached_property
    def order(self) -> tuple[str, ...]:
        """Names the schema mentions: declared ones in their order, those demanded, those that patterns single out."""
        known = self._mentioned
        if not self.patterns and not self.name_formulas:
            return known
        return (*known, *self._language.finite.names(known, self.patterns, self.name_formulas))

    @cached_property
    def _mentioned(self) -> tuple[str, ...]:
        names: dict[str, None] = {}
        for atom in self.atoms:
            if isinstance(atom, Props):
                names.update((name, None) for name, _ in atom.named)
        for atom in self.atoms:
            if isinstance(atom, Required):
                rank = self._language.normal.demanded
                names.update(
                    (name, None) for name in sorted(atom.names, key=lambda n: rank.get(n, 0))
                )
            elif isinstance(atom, OtherMembers):
                for cover, _ in atom.covers:
                    names.update((name, None) for name in sorted(cover.names))
        return tuple(names)

    @cached_property
    def patterns(self) -> tuple[str, ...]:
        """Patterns that tell names apart."""
        found: dict[str, None] = {}
        for atom in self.atoms:
            if isinstance(atom, Props):
                found.update((source, None) for source, _ in atom.patterns)
            elif isinstance(atom, OtherMembers):
                for cover, _ in atom.covers:
                    found.update((source, None) for source in cover.patterns)
        return tuple(found)

    @cached_property
    def name_formulas(self) -> tuple[Formula, ...]:
        """What `propertyNames` asks of names."""
        found = (atom.sub.formula for atom in self.atoms if isinstance(atom, Names))
        return tuple(dict.fromkeys(found))

    @cached_property
    def names(self) -> tuple[Name, ...]:
        """The named members, in order."""
        return tuple(
            Name(
                text,
                frozenset(p for p in self.patterns if matches(p, text)),
                frozenset(f for f in self.name_formulas if holds(f, text)),
            )
            for text in self.order
        )

    @cached_property
    def others(self) -> tuple[Name, ...]:
        """The classes of names the schema does not mention, as far as there are such and they are let in."""
        if not self._language.options.extra_properties and self._silent:
            return ()
        return self._language.names.other_names(self.order, self.patterns, self.name_formulas)

    @property
    def _silent(self) -> bool:
        """Whether members are declared and nothing is said of others."""
        props = [atom for atom in self.atoms if isinstance(atom, Props)]
        spoken = any(isinstance(atom, Names | OtherMembers) for atom in self.atoms)
        spoken = spoken or any(atom.patterns or atom.rest is not None for atom in props)
        return not spoken and any(atom.named for atom in props)

    @cached_property
    def all_names(self) -> tuple[Name, ...]:
        """Named members in order, then the classes of others; the index is a name's label."""
        return (*self.names, *self.others)

    @cached_property
    def label_of(self) -> dict[str | None, int]:
        """The labels of named members."""
        return {name.text: label for label, name in enumerate(self.names)}

    @cached_property
    def demanded(self) -> frozenset[str]:
        """Names that something demands."""
        found = [atom.names for atom in self.atoms if isinstance(atom, Required)]
        return frozenset().union(*found)

    @cached_property
    def effects(self) -> tuple[Hashable, ...]:
        """Of each label something that is equal where names do the same to every fold."""
        return tuple(
            name
            if name.text in self.demanded
            else tuple(self._effect(atom, name) for atom in self.atoms)
            for name in self.all_names
        )

    def _effect(self, atom: Atom, name: Name) -> Hashable:
        if isinstance(atom, OtherMembers):
            return tuple(covers(cover, name) for cover, _ in atom.covers)
        if isinstance(atom, Names):
            return atom.sub.formula in name.valid
        return tuple(self._steps.asked(atom, name))

    @cached_property
    def search_order(self) -> tuple[int, ...]:
        """The labels of named members, demanded ones first."""
        demanded = self.demanded
        return tuple(
            sorted(range(len(self.names)), key=lambda label: self.order[label] not in demanded)
        )
