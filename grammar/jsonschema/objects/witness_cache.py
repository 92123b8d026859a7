"""Remembers how searches completed an object, to show that other states of the object can be completed too.

Does: keep witnesses (members, with the truth of formulas about their values, that complete an object); test by plain
evaluation whether one also completes another state. Does not: search (`rules.costs`), or prove that there is no end: if
no known witness fits, another may exist.
"""

from collections.abc import Mapping
from typing import Final

from ..logic.atoms import MemberCount, Properties, PropertyNames, Required, UnevaluatedMembers
from ..logic.formula import Atom, Formula, Pool, evaluate
from ..logic.value_plan import Truths
from .member_steps import MemberSteps
from .names import OTHER, Name, Seen
from .property_classes import PropertyClasses

# The labels of the members still to be written, with the truth of formulas about their values.
Witness = Mapping[int, Truths]
# Witnesses kept, the most recently used first.
_KEPT: Final = 3


class WitnessCache:
    """The witnesses of the objects of one obligation."""

    def __init__(self, pool: Pool, steps: MemberSteps, properties: PropertyClasses) -> None:
        self._pool = pool
        self._steps = steps
        self._properties = properties
        self._last: list[Witness] = []

    def add(self, witness: Witness) -> None:
        """Remember a witness."""
        if witness not in self._last:
            self._last = [witness, *self._last[: _KEPT - 1]]

    def completes(self, must: Formula, seen: Seen) -> bool:
        """Whether a witness completes an object with the obligation `must`."""
        return any(self._holds(must, self._left(witness, seen)) for witness in self._last)

    def ends_after(self, must: Formula, label: int, truths: Truths) -> bool:
        """Whether an object may certainly end after one more member."""
        return self._holds(must, [(self._properties.all_names[label], truths)])

    def completes_after(self, must: Formula, seen: Seen, label: int, truths: Truths) -> bool:
        """Whether a witness completes the object after a member with this label and these truths; `seen`: after it."""
        member = (self._properties.all_names[label], truths)
        for at, witness in enumerate(self._last):
            if self._holds(must, [member, *self._left(witness, seen)]):
                if at:
                    self._last.insert(0, self._last.pop(at))
                return True
        return False

    def _left(self, witness: Witness, seen: Seen) -> list[tuple[Name, Truths]]:
        """The members of a witness that may still come."""
        names, named = self._properties.all_names, len(self._properties.names)
        if isinstance(seen, int):
            begin = named if seen == OTHER else seen
            return [(names[label], truths) for label, truths in witness.items() if label >= begin]
        return [
            (names[label], truths)
            for label, truths in witness.items()
            if label >= named or names[label].text not in seen
        ]

    def _holds(self, must: Formula, members: list[tuple[Name, Truths]]) -> bool:
        """Whether `must` holds for an object that ends after these members; False also if that is unknown."""
        texts = {name.text for name, _ in members}
        true, false, steps = self._pool.true, self._pool.false, self._steps

        def fulfils(formula: Formula, truths: Truths) -> bool:
            return formula is true or (formula is not false and truths[formula])

        def holds(atom: Atom) -> bool:
            if isinstance(atom, Properties):
                return all(
                    fulfils(f, truths)
                    for name, truths in members
                    for f in steps.value_formulas(atom, name)
                )
            if isinstance(atom, Required):
                return atom.names <= texts
            if isinstance(atom, MemberCount):
                return atom.least <= len(members) and (
                    atom.most is None or len(members) <= atom.most
                )
            if isinstance(atom, PropertyNames):
                return all(atom.sub.formula in name.valid for name, _ in members)
            assert isinstance(atom, UnevaluatedMembers)
            return all(
                fulfils(f, truths) or evaluate(steps.uncovered(atom, name), holds)
                for name, truths in members
                for f in steps.value_formulas(atom, name)
            )

        try:
            return evaluate(must, holds)
        except KeyError:  # the witness does not record the truth of a formula about a value
            return False
