"""The member names of an object, in classes that the schema treats alike.

Does: order the names of the schema, classify all other names, number both by labels. Does not: derive obligations
(`member_steps`).
"""

from collections.abc import Callable, Collection, Hashable
from functools import cached_property
from typing import Final, NamedTuple

from ...automata import Dfa
from ...machine.rule import Call
from ..logic.atoms import Properties, PropertyNames, Required, UnevaluatedMembers
from ..logic.evaluate import holds, matches
from ..logic.formula import Atom, Formula
from ..logic.residual import Obligation, deep_atoms
from .member_steps import MemberSteps
from .name_leaves import NameLeaves
from .names import Name, covers

# Leaves of many names are divided: a call site has room for every outcome of its leaf, and each name has a site.
_MANY: Final = 128
_BLOCK: Final = 64  # names in one part; every half a block another part begins


Labels = frozenset[int] | range
"""Numbers of names; a range for names next to one another, of which large objects have as many sets as names."""


def first_of(labels: Collection[int]) -> int:
    """The smallest of some labels."""
    return labels[0] if isinstance(labels, range) else min(labels)


def last_of(labels: Collection[int]) -> int:
    """The greatest of some labels."""
    return labels[-1] if isinstance(labels, range) else max(labels)


class NameLeaf(NamedTuple):
    """An automaton of names in quotes; the label of a name is its outcome + `first`."""

    dfa: Dfa
    first: int

    def call(
        self,
        back: Hashable,
        labels: Labels,
        due: frozenset[int],
        same: Callable[[bytes], Hashable] | None,
    ) -> Call:
        """The call that reads one of the names with these labels; see `Call` for the others."""
        live, usual = self._outcomes(labels), first_of(labels) - self.first
        wanted = frozenset(self._outcomes(due))
        return Call(self.dfa, back, same=same, live=live, usual=usual, due=wanted)

    def _outcomes(self, labels: Labels) -> Labels:
        if isinstance(labels, range):
            return range(labels[0] - self.first, labels[-1] - self.first + 1)
        return frozenset(label - self.first for label in labels) if self.first else labels


class PropertyClasses:
    """The names of the objects that an obligation is about. The label of a name is its index in `all_names`."""

    def __init__(
        self, leaves: NameLeaves, steps: MemberSteps, obligation: Obligation, extra_properties: bool
    ) -> None:
        """`extra_properties`: see `Options`."""
        self.atoms = tuple(deep_atoms(obligation))
        self._leaves = leaves
        self._steps = steps
        self._extra = extra_properties
        self._leaf_of: dict[frozenset[int] | None, Dfa] = {}
        self.parts = NameParts(leaves)

    @cached_property
    def order(self) -> tuple[str, ...]:
        """The names of the schema: declared names in their order, required names, names that patterns single out."""
        known = self._mentioned
        if not self.patterns and not self.name_formulas:
            return known
        return (*known, *self._leaves.singled_out(known, self.patterns, self.name_formulas))

    @cached_property
    def _mentioned(self) -> tuple[str, ...]:
        names: dict[str, None] = {}
        for atom in self.atoms:
            if isinstance(atom, Properties):
                names.update((name, None) for name, _ in atom.named)
        for atom in self.atoms:
            if isinstance(atom, Required):
                rank = self._leaves.rank
                names.update(
                    (name, None) for name in sorted(atom.names, key=lambda n: rank.get(n, 0))
                )
            elif isinstance(atom, UnevaluatedMembers):
                for cover, _ in atom.covers:
                    names.update((name, None) for name in sorted(cover.names))
        return tuple(names)

    @cached_property
    def patterns(self) -> tuple[str, ...]:
        """The patterns that distinguish names."""
        found: dict[str, None] = {}
        for atom in self.atoms:
            if isinstance(atom, Properties):
                found.update((source, None) for source, _ in atom.patterns)
            elif isinstance(atom, UnevaluatedMembers):
                for cover, _ in atom.covers:
                    found.update((source, None) for source in cover.patterns)
        return tuple(found)

    @cached_property
    def name_formulas(self) -> tuple[Formula, ...]:
        """The formulas of `propertyNames`."""
        found = (atom.sub.formula for atom in self.atoms if isinstance(atom, PropertyNames))
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
        """The classes of names that the schema does not mention, unless it admits none."""
        if not self._extra and self._silent:
            return ()
        return self._leaves.other_names(self.order, self.patterns, self.name_formulas)

    @property
    def _silent(self) -> bool:
        """Whether members are declared and no keyword is about other members."""
        props = [atom for atom in self.atoms if isinstance(atom, Properties)]
        spoken = any(isinstance(atom, PropertyNames | UnevaluatedMembers) for atom in self.atoms)
        spoken = spoken or any(atom.patterns or atom.rest is not None for atom in props)
        return not spoken and any(atom.named for atom in props)

    @cached_property
    def all_names(self) -> tuple[Name, ...]:
        """Named members in order, then the classes of other names; the index is the label."""
        return (*self.names, *self.others)

    @cached_property
    def label_of(self) -> dict[str | None, int]:
        """The labels of named members."""
        return {name.text: label for label, name in enumerate(self.names)}

    @cached_property
    def demanded(self) -> frozenset[str]:
        """The names that a part of the obligation requires."""
        found = [atom.names for atom in self.atoms if isinstance(atom, Required)]
        return frozenset().union(*found)

    @cached_property
    def effects(self) -> tuple[Hashable, ...]:
        """For each label a value that is equal for names with the same effect on every obligation."""
        return tuple(
            name
            if name.text in self.demanded
            else tuple(self._effect(atom, name) for atom in self.atoms)
            for name in self.all_names
        )

    def _effect(self, atom: Atom, name: Name) -> Hashable:
        if isinstance(atom, UnevaluatedMembers):
            return tuple(covers(cover, name) for cover, _ in atom.covers)
        if isinstance(atom, PropertyNames):
            return atom.sub.formula in name.valid
        return tuple(self._steps.value_formulas(atom, name))

    @cached_property
    def search_order(self) -> tuple[int, ...]:
        """The labels of named members, required ones first: the order of searches."""
        demanded = self.demanded
        return tuple(
            sorted(range(len(self.names)), key=lambda label: self.order[label] not in demanded)
        )

    def leaf(self, labels: frozenset[int] | None) -> Dfa:
        """The names with these labels (None: all), in quotes; the outcome is the label."""
        found = self._leaf_of.get(labels)
        if found is None:
            able = range(len(self.all_names)) if labels is None else labels
            found = self._leaf_of[labels] = self._leaves.leaf(
                self.order, self.patterns, self.name_formulas, able
            )
        return found


class NameParts:
    """The automata of names next to one another, for objects with many."""

    def __init__(self, leaves: NameLeaves) -> None:
        self._leaves = leaves
        self._known: dict[int, NameLeaf] = {}

    def of(self, labels: Collection[int], whole: Dfa, names: tuple[str, ...]) -> NameLeaf:
        """An automaton that has the names with these labels; `whole` if there are few names, or these are far apart.

        `names`: all of the schema, in order, the same in every call.
        """
        begin, end = first_of(labels), last_of(labels)
        first = begin - begin % (_BLOCK // 2)
        if len(names) < _MANY or end >= min(first + _BLOCK, len(names)):
            return NameLeaf(whole, 0)
        if first not in self._known:
            dfa = self._leaves.named(names[first : first + _BLOCK])
            self._known[first] = NameLeaf(dfa, first)
        return self._known[first]
