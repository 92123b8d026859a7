"""Ways to the end of objects that searches have found, held against other places of the same objects.

Does: remember which members, with what of their values, brought an object to an end; see whether they would from
another place as well, by the truth of its formula, with nothing derived. Does not: search (`costs`), and never says no:
where no way it knows fits, there may be another.
"""

from collections.abc import Mapping
from typing import Final

from ..logic.atoms import Members, Names, OtherMembers, Props, Required
from ..logic.formula import Atom, Formula, Pool, evaluate
from ..logic.value_plan import Truths
from .member_steps import MemberSteps
from .names import OTHER, Name, Seen
from .property_classes import PropertyClasses

# Labels of members that are still written, with the truth of formulas about their values.
Trail = Mapping[int, Truths]
# Those tried, the one that fitted last first.
_TRIED: Final = 3


class Trails:
    """Of the objects of one layout."""

    def __init__(self, pool: Pool, steps: MemberSteps, vocabulary: PropertyClasses) -> None:
        self._pool = pool
        self._steps = steps
        self._vocabulary = vocabulary
        self._last: list[Trail] = []

    def add(self, trail: Trail) -> None:
        """Remember a way that was found."""
        if trail not in self._last:
            self._last = [trail, *self._last[: _TRIED - 1]]

    def lead(self, must: Formula, seen: Seen) -> bool:
        """Whether one surely leads to the end where `must` is left to show."""
        return any(self._holds(must, self._left(trail, seen)) for trail in self._last)

    def ends_after(self, must: Formula, label: int, truths: Truths) -> bool:
        """Whether an object surely may end after one more member."""
        return self._holds(must, [(self._vocabulary.all_names[label], truths)])

    def lead_after(self, must: Formula, seen: Seen, label: int, truths: Truths) -> bool:
        """The same before a member with this label whose value has these truths; `seen` is that after it."""
        member = (self._vocabulary.all_names[label], truths)
        for at, trail in enumerate(self._last):
            if self._holds(must, [member, *self._left(trail, seen)]):
                if at:
                    self._last.insert(0, self._last.pop(at))
                return True
        return False

    def _left(self, trail: Trail, seen: Seen) -> list[tuple[Name, Truths]]:
        """Those members of a trail that may still come."""
        names, named = self._vocabulary.all_names, len(self._vocabulary.names)
        if isinstance(seen, int):
            begin = named if seen == OTHER else seen
            return [(names[label], truths) for label, truths in trail.items() if label >= begin]
        return [
            (names[label], truths)
            for label, truths in trail.items()
            if label >= named or names[label].text not in seen
        ]

    def _holds(self, must: Formula, members: list[tuple[Name, Truths]]) -> bool:
        """Whether `must` is true of an object that ends after these members; False also where that is not known."""
        texts = {name.text for name, _ in members}
        true, false, steps = self._pool.true, self._pool.false, self._steps

        def fulfils(formula: Formula, truths: Truths) -> bool:
            return formula is true or (formula is not false and truths[formula])

        def holds(atom: Atom) -> bool:
            if isinstance(atom, Props):
                return all(
                    fulfils(f, truths) for name, truths in members for f in steps.asked(atom, name)
                )
            if isinstance(atom, Required):
                return atom.names <= texts
            if isinstance(atom, Members):
                return atom.least <= len(members) and (
                    atom.most is None or len(members) <= atom.most
                )
            if isinstance(atom, Names):
                return all(atom.sub.formula in name.valid for name, _ in members)
            assert isinstance(atom, OtherMembers)
            return all(
                fulfils(f, truths) or evaluate(steps.uncovered(atom, name), holds)
                for name, truths in members
                for f in steps.asked(atom, name)
            )

        try:
            return evaluate(must, holds)
        except KeyError:  # of a value something is asked that it was not asked on the way
            return False
