"""Places in the bodies of a grammar, and sets of them that are all possible at once.

Does: what may begin there, which bytes come first, where bytes lead. Does not: decide between them (`lower`).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

from .body import Label
from .form import Form, Mask

Place = tuple[Label, int]  # a state of a rule's body, or of a leaf
Item = tuple[Place, ...]  # where to go on after the callee is through, for each but the last


class Spot(NamedTuple):
    """All places that are possible at once, and whether the rule may be over."""

    items: frozenset[Item]
    over: bool


OVER: Final = Spot(frozenset(), over=True)


@dataclass(frozen=True, slots=True)
class Option:
    """A callee that may begin at a place."""

    label: Label
    item: Item
    target: int

    def after(self) -> Item:
        """The place after the callee."""
        return (*self.item[:-1], (self.item[-1][0], self.target))


class Places:
    """The places of one form."""

    def __init__(self, form: Form) -> None:
        self.form = form
        self._first: dict[Place, Mask] = {}

    def options(self, item: Item) -> list[Option]:
        """The callees that may begin at a place in a body."""
        body, state = item[-1]
        assert isinstance(body, str)
        return [Option(x, item, t) for x, t in self.form.bodies[body].arcs[state].items()]

    def after(self, options: Iterable[Option]) -> Spot:
        """What is possible after any of these callees."""
        return self.spot(option.after() for option in options)

    def spot(self, places: Iterable[Item]) -> Spot:
        """Places with those that are reached without reading."""
        items: set[Item] = set()
        over = False
        for item in places:
            while True:
                body, state = item[-1]
                if isinstance(body, int):
                    leaf = self.form.leaves[body]
                    ends, more = leaf.ends(state), bool(leaf.arcs(state))
                else:
                    ends = self.form.bodies[body].final[state]
                    more = bool(self.form.bodies[body].arcs[state])
                if more:
                    items.add(item)
                if not ends:
                    break
                if len(item) == 1:
                    over = True
                    break
                item = item[:-1]
        return Spot(frozenset(items), over)

    def first(self, item: Item) -> Mask:
        """The bytes that may come next at a place."""
        place = item[-1]
        mask = self._first.get(place)
        if mask is None:
            body, state = place
            if isinstance(body, int):
                mask = self.form.leaves[body].taken(state)
            else:
                mask = self.form.firsts(self.form.bodies[body].arcs[state], self.form.first)
            self._first[place] = mask
        return mask

    def mask(self, spot: Spot) -> Mask:
        """The bytes that may come next, within the rule."""
        mask = 0
        for item in spot.items:
            mask |= self.first(item)
        return mask

    def steps(self, inside: set[Item]) -> list[tuple[Mask, Spot]]:
        """Where bytes lead that are read here and not by a callee."""
        parts: list[tuple[Mask, set[Item]]] = []
        for item in inside:
            number, state = item[-1]
            assert isinstance(number, int)
            for mask, target in self.form.leaves[number].arcs(state):
                moved: Item = (*item[:-1], (number, target))
                split: list[tuple[Mask, set[Item]]] = []
                left = mask
                for known, items in parts:
                    if known & mask:
                        split.append((known & mask, items | {moved}))
                    if known & ~mask:
                        split.append((known & ~mask, items))
                    left &= ~known
                parts = split + ([(left, {moved})] if left else [])
        steps: dict[Spot, Mask] = {}
        for mask, items in parts:
            spot = self.spot(items)
            steps[spot] = steps.get(spot, 0) | mask
        return [(mask, spot) for spot, mask in steps.items()]

    def rest(self, item: Item) -> int:
        """The fewest bytes from a place to the end of the rule."""
        return sum(
            int(self.form.leaves[body].dfa.distance[state])
            if isinstance(body, int)
            else self.form.rest[body][state]
            for body, state in item
        )
