"""Objects of which everything asked has to hold: the usual case, for which no combination has to be tried.

Does: see that a fold is a plain conjunction, take it apart, say what it asks of each member. Does not: handle
alternatives (`plans`).
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from ..logic.atoms import (
    AtLeast,
    AtMost,
    Integer,
    ItemCount,
    Items,
    Length,
    Members,
    MultipleOf,
    Names,
    OtherItems,
    OtherMembers,
    Props,
    Required,
    Types,
    Unique,
)
from ..logic.evaluate import holds
from ..logic.formula import Atom, Formula, Op
from ..logic.residual import Fold
from ..logic.value_plan import Plan
from ..read.values import TRUE, Value
from .member_steps import MemberSteps
from .names import Name
from .property_classes import PropertyClasses

if TYPE_CHECKING:
    from ..rules.language import Language

_PROBES: Final[tuple[Value, ...]] = (None, TRUE, "", "a", 0, 1)
# Of these atoms it is told at a glance whether a probe fulfils them.
_CHEAP: Final = (
    *(AtLeast, AtMost, Integer, Length, MultipleOf, Types),
    *(ItemCount, Items, OtherItems, Unique),
    *(Members, OtherMembers, Props, Required),
)


@dataclass(frozen=True, slots=True)
class Frame:
    """A conjunction: the atoms about all members, the names still demanded, and what is left of the counts."""

    others: tuple[Formula, ...]
    names: frozenset[str]
    least: int
    most: int | None

    @property
    def suffices(self) -> bool:
        """Whether the demanded names alone fulfil the counts."""
        count = len(self.names)
        return self.least <= count and (self.most is None or count <= self.most)


def frame_of(must: Formula) -> Frame | None:
    """The frame of a formula about objects; None if it is more than a conjunction of atoms."""
    parts = () if must.op is Op.TRUE else must.args if must.op is Op.ALL else (must,)
    others: list[Formula] = []
    names: frozenset[str] = frozenset()
    least, most = 0, None
    for part in parts:
        atom = part.atom
        if part.op is not Op.ATOM:
            return None
        if isinstance(atom, Required):
            names |= atom.names
        elif isinstance(atom, Members):
            least = max(least, atom.least)
            most = (
                atom.most if most is None else min(most, most if atom.most is None else atom.most)
            )
        elif isinstance(atom, Props | Names | OtherMembers):
            others.append(part)
        else:
            return None
    return Frame(tuple(others), names, least, most)


class PlainObjects:
    """What the frames of one layout ask of its members."""

    def __init__(
        self, language: "Language", steps: MemberSteps, vocabulary: PropertyClasses
    ) -> None:
        self._language = language
        self._pool = language.normal.pool
        self._steps = steps
        self._vocabulary = vocabulary
        self._frames: dict[Formula, Frame | None] = {}
        self._open: dict[Formula, Frame | None] = {}
        self._labels: dict[tuple[Formula, ...], frozenset[int] | None] = {}
        self._needed: dict[tuple[tuple[Formula, ...], int], Formula | None] = {}
        self._askers: dict[tuple[Formula, ...], _Askers] = {}
        self._plans: dict[Formula, Plan] = {}

    def frame(self, must: Formula) -> Frame | None:
        """The plain conjunction that `must` is, if it is one."""
        if must not in self._frames:
            self._frames[must] = frame_of(must)
        return self._frames[must]

    def _open_frame(self, fold: Fold) -> Frame | None:
        """The frame of a fold under which a member counts by itself: the others can be written whatever it is."""
        if fold.asks:
            return None
        if fold.must not in self._open:
            frame = self.frame(fold.must)
            free = frame is not None and frame.suffices and frame.most is None
            self._open[fold.must] = (
                frame if frame is not None and free and self._ends(frame) else None
            )
        return self._open[fold.must]

    def _ends(self, frame: Frame) -> bool:
        """Whether there is a value for each demanded member: an alternative that lacks one may be all that is left."""
        label_of = self._vocabulary.label_of
        asked = (self.needs(frame.others, label_of[text]) for text in frame.names)
        return all(needs is not None and self._possible(needs) for needs in asked)

    def _possible(self, needs: Formula) -> bool:
        """Whether there is a value that fulfils a formula."""
        return _plainly_possible(needs) or self._language.costs.value(needs) is not None

    def needs(self, others: tuple[Formula, ...], label: int) -> Formula | None:
        """What the atoms of a frame ask of a member's value, `false` where it cannot be.

        None where that depends on the rest of the object.
        """
        key = (others, label)
        if key not in self._needed:
            self._needed[key] = self._all_asked(others, self._vocabulary.all_names[label])
        return self._needed[key]

    def _all_asked(self, others: tuple[Formula, ...], name: Name) -> Formula | None:
        pool = self._pool
        asked: list[Formula] = []
        if others not in self._askers:
            self._askers[others] = _askers(others)
        for atom in self._askers[others].of(name):
            if isinstance(atom, Names) and atom.sub.formula not in name.valid:
                return pool.false
            if isinstance(atom, OtherMembers):
                covered = self._steps.uncovered(atom, name)
                if covered is not pool.true and covered is not pool.false:
                    return None
                if self._decides(atom, name):
                    return None
            asked += self._steps.asked(atom, name)
        return pool.all(asked)

    def _decides(self, atom: OtherMembers, name: Name) -> bool:
        """Whether the value of the member counts for which other members are evaluated."""
        conditions = (part.atom for _, holds in atom.covers for part in holds.atoms)
        return any(
            isinstance(inner, OtherMembers) or self._steps.asked(inner, name)
            for inner in conditions
        )

    def asked(self, fold: Fold, label: int) -> Formula | None:
        """What a plain object that takes more members asks of one; None where that depends on the rest of it."""
        frame = self._open_frame(fold)
        return None if frame is None else self.needs(frame.others, label)

    def plan(self, needs: Formula) -> Plan | None:
        """The plan of a member of which this is asked; None: it cannot be.

        Whatever its value, the object can still come to its end.
        """
        if needs is self._pool.false:
            return None
        if needs not in self._plans:
            self._plans[needs] = Plan(needs, (), None)
        return self._plans[needs]

    def labels(self, fold: Fold) -> frozenset[int] | None:
        """The labels of all names that a plain object takes at some time; None where that depends on the rest of it."""
        frame = self._open_frame(fold)
        if frame is None:
            return None
        if frame.others not in self._labels:
            self._labels[frame.others] = self._find_labels(frame.others)
        return self._labels[frame.others]

    def _find_labels(self, others: tuple[Formula, ...]) -> frozenset[int] | None:
        labels = []
        for label in range(len(self._vocabulary.all_names)):
            needs = self.needs(others, label)
            if needs is None:
                return None
            if self._possible(needs):
                labels.append(label)
        return frozenset(labels)


class _Askers(NamedTuple):
    """The atoms of a frame, by number: a thousand may name one member each."""

    by_name: dict[str | None, list[tuple[int, Atom]]]
    always: list[tuple[int, Atom]]

    def of(self, name: Name) -> list[Atom]:
        """Those that may ask something of a member of this name, in their order."""
        named = self.by_name.get(name.text)
        return [atom for _, atom in (sorted([*self.always, *named]) if named else self.always)]


def _askers(others: tuple[Formula, ...]) -> _Askers:
    found = _Askers({}, [])
    for number, part in enumerate(others):
        atom = part.atom
        assert atom is not None
        if isinstance(atom, Props) and not atom.patterns and atom.rest is None:
            for text, _ in atom.named:
                found.by_name.setdefault(text, []).append((number, atom))
        else:
            found.always.append((number, atom))
    return found


def _plainly_possible(formula: Formula) -> bool:
    """Whether one of a few values shows that a formula can hold: no automaton has to be made then."""
    cheap = all(isinstance(part.atom, _CHEAP) for part in formula.atoms)
    return cheap and any(holds(formula, value) for value in _PROBES)
