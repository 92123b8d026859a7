"""Objects, member by member: what each name asks of its value and what is left to show afterwards.

Does: order and class names, derive folds by members. Does not: write punctuation (`rules`), search for ends (`costs`).
"""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from .atoms import Members, Names, OtherMembers, Props, Required, Sub
from .formula import Atom, Formula
from .plans import ENUMERATED, Plan, Truths, exact_plan, ways, wide_plan
from .residual import Fold, deep_atoms, substitute_all

if TYPE_CHECKING:
    from .language import Language

OTHER = -1  # the position after all named members: only other names may follow


@dataclass(frozen=True, slots=True)
class Between:
    """A place between members: `seen` tells which named members may still come.

    In the declared order it is the position from which on they may, else the frozenset of names used.
    """

    fold: Fold
    seen: int | frozenset[str]


@dataclass(frozen=True, slots=True)
class Name:
    """A member's name: one that the schema names, or a class of other names with what is true of them."""

    text: str | None
    patterns: frozenset[str]  # the patterns that match it
    valid: frozenset[Formula]  # the formulas of `propertyNames` that hold of it


class Layout:
    """All that can be known about the names of one object before it is read. Shared by all states of the rule."""

    def __init__(self, language: "Language", fold: Fold) -> None:
        self.language = language
        self._pool = language.normal.pool
        self.start = Between(fold, frozenset() if language.options.any_order else 0)
        self.atoms = tuple(deep_atoms(fold))
        self._plans: dict[tuple[Between, Name], Plan | None] = {}
        self._tables: dict[
            int, dict[str | None, Sub]
        ] = {}  # by identity: atoms with many names hash slowly

    @cached_property
    def order(self) -> tuple[str, ...]:
        """Names the schema mentions: declared ones in their order, then those only demanded."""
        names: dict[str, None] = {}
        for atom in self.atoms:
            if isinstance(atom, Props):
                names.update((name, None) for name, _ in atom.named)
        for atom in self.atoms:
            if isinstance(atom, Required):
                names.update((name, None) for name in sorted(atom.names))
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
        judge = self.language.judge
        return tuple(
            Name(
                text,
                frozenset(p for p in self.patterns if judge.strings.matches(p, text)),
                frozenset(f for f in self.name_formulas if judge.holds(f, text)),
            )
            for text in self.order
        )

    @cached_property
    def others(self) -> tuple[Name, ...]:
        """The classes of names the schema does not mention, as far as there are such names."""
        return self.language.leaves.other_names(self.order, self.patterns, self.name_formulas)

    @cached_property
    def label_of(self) -> dict[Name, int]:
        """The outcome each name has in the leaf of names: named ones in order, then the classes of others."""
        return {name: label for label, name in enumerate((*self.names, *self.others))}

    def options(self, state: Between) -> Iterator[tuple[Between, Name]]:
        """The names that may come next by order and uniqueness, each with the state its fold derives from.

        In the declared order, demands for names that were passed over are lost.
        """
        if isinstance(state.seen, frozenset):
            for name in self.names:
                if name.text not in state.seen:
                    yield Between(state.fold, state.seen | {name.text or ""}), name
            yield from ((state, name) for name in self.others)
            return
        fold = state.fold
        if state.seen != OTHER:
            for at in range(state.seen, len(self.names)):
                name = self.names[at]
                yield Between(fold, at + 1), name
                fold = self._passed(fold, name.text or "")
                if fold.must is self._pool.false:
                    return
        yield from ((Between(fold, OTHER), name) for name in self.others)

    def _passed(self, fold: Fold, text: str) -> Fold:
        def meaning(atom: Atom) -> Formula | None:
            if isinstance(atom, Required) and text in atom.names:
                return self._pool.false
            return None

        return substitute_all(self._pool, fold, meaning)

    def plan(self, state: Between, name: Name) -> Plan | None:
        """What the member `name` asks of its value where `options` offers it with `state`; None: it cannot be."""
        key = (state, name)
        if key not in self._plans:
            self._plans[key] = self._make_plan(state, name)
        return self._plans[key]

    def _make_plan(self, state: Between, name: Name) -> Plan | None:
        fold = self._begun(state, name)
        if fold.must is self._pool.false:
            return None
        children = self.children(fold, name)

        def after(truths: Truths, twin: bool) -> Hashable | None:  # noqa: ARG001 - values may be equal
            new = self._valued(fold, name, truths)
            return None if new.must is self._pool.false else Between(new, state.seen)

        if len(children) <= ENUMERATED:
            return exact_plan(
                self._pool, children, after, lambda new: self.language.costs.alive(self, new)
            )
        return wide_plan(
            self._pool, fold.must, children, lambda atom: self._needs(atom, name), after
        )

    def ways(self, state: Between, name: Name) -> Iterator[tuple[Formula, Between | None]]:
        """What the member's value can be and where that leads; None: somewhere that cannot be told in advance."""
        fold = self._begun(state, name)
        if fold.must is self._pool.false:
            return
        children = self.children(fold, name)

        def needs(atom: Atom) -> Formula:
            return self._needs(atom, name)

        for literal, truths in ways(self.language, fold.must, children, needs):
            if truths is None:
                yield literal, None
                continue
            new = self._valued(fold, name, truths)
            if new.must is not self._pool.false:
                yield literal, Between(new, state.seen)

    def demanded(self, state: Between, names: frozenset[str]) -> list[tuple[Name, Formula]] | None:
        """What plainly demanded members ask of their values (`false` of one that cannot come any more).

        None where it depends on more than their names.
        """
        pool, found = self._pool, []
        left = set(names)
        atoms = [part.atom for part in state.fold.must.atoms]
        for at, name in enumerate(self.names):
            if name.text not in left:
                continue
            left.discard(name.text)
            seen = state.seen
            used = name.text in seen if isinstance(seen, frozenset) else at < seen or seen == OTHER
            for atom in atoms:
                if isinstance(atom, Names):
                    used = used or atom.sub.formula not in name.valid
                elif isinstance(atom, OtherMembers):
                    covered = self._uncovered(atom, name)
                    if covered is not pool.true and covered is not pool.false:
                        return None
            asked = [formula for atom in atoms for formula in self._asked(atom, name)]
            found.append((name, pool.false if used else pool.all(asked)))
        return found

    def _begun(self, state: Between, name: Name) -> Fold:
        return substitute_all(self._pool, state.fold, lambda atom: self._named(atom, name))

    def children(self, fold: Fold, name: Name) -> tuple[Formula, ...]:
        """The formulas whose truth of the member's value counts, constants left out."""
        found: dict[Formula, None] = {}
        for atom in deep_atoms(fold):
            found.update(dict.fromkeys(self._asked(atom, name)))
        return tuple(f for f in found if f not in (self._pool.true, self._pool.false))

    def _asked(self, atom: Atom, name: Name) -> list[Formula]:
        if isinstance(atom, Props):
            return [sub.formula for sub in self._selected(atom, name)]
        if isinstance(atom, OtherMembers) and self._uncovered(atom, name) is not self._pool.true:
            return [atom.sub.formula]
        return []

    def _needs(self, atom: Atom, name: Name) -> Formula:
        if isinstance(atom, Props):
            return self._pool.all(self._asked(atom, name))
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

    def _uncovered(self, atom: OtherMembers, name: Name) -> Formula:
        """What has to hold for the member to count as evaluated."""
        return self._pool.any(
            holds
            for cover, holds in atom.covers
            if cover.everything
            or name.text in cover.names
            or not name.patterns.isdisjoint(cover.patterns)
        )

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

    def _valued(self, fold: Fold, name: Name, truths: Truths) -> Fold:
        """The fold once the member's value is known."""
        pool = self._pool

        def true(formula: Formula) -> bool:
            return formula is pool.true or (formula is not pool.false and truths[formula])

        def meaning(atom: Atom) -> Formula | None:
            if all(map(true, self._asked(atom, name))):
                return None
            if isinstance(atom, Props):
                return pool.false
            assert isinstance(atom, OtherMembers)
            return pool.all([pool.of(atom), self._uncovered(atom, name)])

        return substitute_all(pool, fold, meaning)
