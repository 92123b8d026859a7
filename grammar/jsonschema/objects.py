"""Objects, member by member: what each name asks of its value and what is left to show afterwards.

Does: order and class names, derive folds by members. Does not: write punctuation (`rules`), search for ends (`costs`).
"""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

from .atoms import KeyCover, Members, Names, OtherMembers, Props, Required, Sub
from .formula import Atom, Formula
from .plain import Frame, frame_of
from .plans import ENUMERATED, Plan, Truths, exact_plan, ways, wide_plan
from .residual import Fold, deep_atoms, ended, substitute_all

if TYPE_CHECKING:
    from .language import Language

Seen = int | frozenset[str]
OTHER = -1  # the position after all named members: only other names may follow


@dataclass(frozen=True, slots=True)
class Between:
    """A place between members: `seen` tells which named members may still come.

    In the declared order it is the position from which on they may, else the frozenset of names used.
    """

    fold: Fold
    seen: Seen


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
        self._plans: dict[Hashable, Plan | None] = {}
        self._ways: dict[Hashable, list[tuple[Formula, Fold | None]]] = {}
        self._plain: dict[Formula, Plan] = {}
        self._frames: dict[Formula, Frame | None] = {}
        self._needed: dict[tuple[tuple[Formula, ...], int], Formula | None] = {}
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
                rank = self.language.normal.demanded
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
    def all_names(self) -> tuple[Name, ...]:
        """Named members in order, then the classes of others; the index is a name's label."""
        return (*self.names, *self.others)

    @cached_property
    def label_of(self) -> dict[str | None, int]:
        """The labels of named members."""
        return {name.text: label for label, name in enumerate(self.names)}

    @cached_property
    def _demanded(self) -> frozenset[str]:
        """Names that something demands."""
        found = [atom.names for atom in self.atoms if isinstance(atom, Required)]
        return frozenset().union(*found)

    @cached_property
    def _effects(self) -> tuple[Hashable, ...]:
        """Of each label something that is equal where names do the same to every fold."""
        return tuple(
            name
            if name.text in self._demanded
            else tuple(self._effect(atom, name) for atom in self.atoms)
            for name in self.all_names
        )

    def _effect(self, atom: Atom, name: Name) -> Hashable:
        if isinstance(atom, OtherMembers):
            return tuple(_covers(cover, name) for cover, _ in atom.covers)
        if isinstance(atom, Names):
            return atom.sub.formula in name.valid
        return tuple(self._asked(atom, name))

    def options(self, state: Between) -> Iterator[tuple[Fold, int]]:
        """The labels of names that may come next by order and uniqueness, each with the fold it derives from.

        In the declared order, demands for names that were passed over are lost.
        """
        count, total = len(self.names), len(self.all_names)
        if isinstance(state.seen, frozenset):
            for label, name in enumerate(self.all_names):
                if label >= count or name.text not in state.seen:
                    yield state.fold, label
            return
        fold = state.fold
        for label in range(count if state.seen == OTHER else state.seen, count):
            yield fold, label
            fold = self._passed(fold, self.names[label].text or "")
            if fold.must is self._pool.false:
                return
        yield from ((fold, label) for label in range(count, total))

    def search_options(
        self, state: Between, begun: int
    ) -> Iterator[tuple[Fold, int, Between, int]]:
        """The members a search for an end tries: (fold, label, where the state after it goes on, its `begun`).

        In any order a set of members can be written one way or another, so the search takes them in one order only,
        demanded ones first; those before `begun` are passed over.
        """
        if isinstance(state.seen, int):
            for fold, label in self.options(state):
                yield fold, label, Between(fold, self.seen_after(state.seen, label)), 0
            return
        fold, order = state.fold, self._search_order
        for at in range(begun, len(order)):
            text = self.names[order[at]].text or ""
            if text in state.seen:
                continue
            yield fold, order[at], Between(fold, state.seen), at + 1
            fold = self._passed(fold, text)
            if fold.must is self._pool.false:
                return
        for label in range(len(order), len(self.all_names)):
            yield fold, label, Between(fold, state.seen), len(order)

    @cached_property
    def _search_order(self) -> tuple[int, ...]:
        demanded = self._demanded
        return tuple(
            sorted(range(len(self.names)), key=lambda label: self.order[label] not in demanded)
        )

    def seen_after(self, seen: Seen, label: int) -> Seen:
        """Which named members may come once the one with this label has."""
        if label >= len(self.names):
            return OTHER if isinstance(seen, int) else seen
        if isinstance(seen, int):
            return label + 1
        return seen | {self.names[label].text or ""}

    def _passed(self, fold: Fold, text: str) -> Fold:
        """The fold where the member of this name will not come any more."""
        if text not in self._demanded:
            return fold

        def meaning(atom: Atom) -> Formula | None:
            if isinstance(atom, Required) and text in atom.names:
                return self._pool.false
            return None

        return substitute_all(self._pool, fold, meaning)

    def plan(self, fold: Fold, seen: Seen, label: int) -> Plan | None:
        """What a member is asked of its value where `options` offers it with `fold`; None: it cannot be.

        `seen` is that after the member. Where it does not matter, plans are shared by all names that do the same.
        """
        frame = None if fold.asks else self.frame(fold.must)
        if frame is not None and frame.suffices and frame.most is None:
            needs = self.needs(frame.others, label)
            if needs is not None:
                return self._plain_plan(needs)
        shared = (fold, self._effects[label])
        if shared in self._plans:
            return self._plans[shared]
        own = (fold, self._effects[label], seen)
        if own not in self._plans:
            plan, free = self._make_plan(fold, seen, self.all_names[label])
            self._plans[shared if free else own] = plan
            return plan
        return self._plans[own]

    def _make_plan(self, fold: Fold, seen: Seen, name: Name) -> tuple[Plan | None, bool]:
        """The plan, and whether it is the same whatever was seen."""
        pool, free = self._pool, True
        fold = self._begun(fold, name)
        if fold.must is pool.false:
            return None, True
        children = self.children(fold, name)

        def after(truths: Truths, twin: bool) -> Fold | None:  # noqa: ARG001 - values may be equal
            new = self._valued(fold, name, truths)
            return None if new.must is pool.false else new

        def alive(new: Fold) -> bool:
            nonlocal free
            if ended(pool, Fold(new.must, ())) is not None:
                return True
            free = False
            return self.language.costs.of_state(self, Between(new, seen)) is not None

        if len(children) > ENUMERATED:
            needs = partial(self._needs, name=name)
            return wide_plan(pool, fold.must, children, needs, after), True
        plan = exact_plan(pool, children, after, alive)
        return plan, free

    def ways(self, fold: Fold, label: int) -> list[tuple[Formula, Fold | None]]:
        """What the member's value can be and what it leaves; None: something that cannot be told in advance."""
        key = (fold, self._effects[label])
        if key not in self._ways:
            self._ways[key] = list(self._find_ways(fold, self.all_names[label]))
        return self._ways[key]

    def _find_ways(self, fold: Fold, name: Name) -> Iterator[tuple[Formula, Fold | None]]:
        fold = self._begun(fold, name)
        if fold.must is self._pool.false:
            return
        children = self.children(fold, name)
        needs = partial(self._needs, name=name)
        for literal, truths in ways(self.language, fold.must, children, needs):
            new = None if truths is None else self._valued(fold, name, truths)
            if new is None or new.must is not self._pool.false:
                yield literal, new

    def frame(self, must: Formula) -> Frame | None:
        """The plain conjunction that `must` is, if it is one."""
        if must not in self._frames:
            self._frames[must] = frame_of(must)
        return self._frames[must]

    def needs(self, others: tuple[Formula, ...], label: int) -> Formula | None:
        """What the atoms of a frame ask of a member's value, `false` where it cannot be.

        None where that depends on the rest of the object.
        """
        key = (others, label)
        if key not in self._needed:
            self._needed[key] = self._all_asked(others, self.all_names[label])
        return self._needed[key]

    def _all_asked(self, others: tuple[Formula, ...], name: Name) -> Formula | None:
        pool = self._pool
        asked: list[Formula] = []
        for part in others:
            atom = part.atom
            if isinstance(atom, Names) and atom.sub.formula not in name.valid:
                return pool.false
            if isinstance(atom, OtherMembers):
                covered = self._uncovered(atom, name)
                if covered is not pool.true and covered is not pool.false:
                    return None
            asked += self._asked(atom, name)
        return pool.all(asked)

    def _plain_plan(self, needs: Formula) -> Plan | None:
        """The plan of a member of a plain object that can still come to its end.

        A member leaves it so: the other demanded ones can be written whatever comes before them.
        """
        if needs is self._pool.false:
            return None
        if needs not in self._plain:
            self._plain[needs] = Plan(needs, (), None)
        return self._plain[needs]

    def after(self, plan: Plan, fold: Fold, label: int, outcome: int) -> Fold | None:
        """The fold after a member, begun with `fold`, whose value had this outcome."""
        if plan.always:
            return self._begun(fold, self.all_names[label])
        return plan.after(outcome, False)  # noqa: FBT003

    def _begun(self, fold: Fold, name: Name) -> Fold:
        return substitute_all(self._pool, fold, lambda atom: self._named(atom, name))

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
        return self._pool.any(holds for cover, holds in atom.covers if _covers(cover, name))

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


def _covers(cover: KeyCover, name: Name) -> bool:
    """Whether a member of this name counts as evaluated under a cover."""
    return (
        cover.everything or name.text in cover.names or not name.patterns.isdisjoint(cover.patterns)
    )
