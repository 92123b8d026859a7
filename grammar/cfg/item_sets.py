"""Items of a grammar's bodies, and sets of items that are possible at once.

Does: closures, first bytes, and transitions on bytes of item sets. Does not: choose between items (`lower`).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

from .body import Label
from .form import ByteGrammar, Mask

Place = tuple[Label, int]  # a state of a rule's body, or of a leaf
Item = tuple[Place, ...]  # a stack: return places of all open calls, then the current place


class ItemSet(NamedTuple):
    """All items that are possible at once; `may_end`: the rule may also be complete."""

    items: frozenset[Item]
    may_end: bool


FINISHED: Final = ItemSet(frozenset(), may_end=True)


@dataclass(frozen=True, slots=True)
class Option:
    """A callee that may begin at an item."""

    label: Label
    item: Item
    target: int

    def after(self) -> Item:
        """The item after the callee."""
        return (*self.item[:-1], (self.item[-1][0], self.target))


class ItemMoves:
    """The transitions between items of one grammar."""

    def __init__(self, form: ByteGrammar) -> None:
        self.form = form
        self._first: dict[Place, Mask] = {}

    def options(self, item: Item) -> list[Option]:
        """The callees that may begin at an item in a body."""
        body, state = item[-1]
        assert isinstance(body, str)
        return [Option(x, item, t) for x, t in self.form.bodies[body].arcs[state].items()]

    def after(self, options: Iterable[Option]) -> ItemSet:
        """The item set after any of these callees."""
        return self.closure(option.after() for option in options)

    def closure(self, places: Iterable[Item]) -> ItemSet:
        """The item set of these items and all items reachable without reading."""
        items: set[Item] = set()
        may_end = False
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
                    may_end = True
                    break
                item = item[:-1]
        return ItemSet(frozenset(items), may_end)

    def first(self, item: Item) -> Mask:
        """The possible next bytes at an item."""
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

    def mask(self, item_set: ItemSet) -> Mask:
        """The possible next bytes within the rule."""
        mask = 0
        for item in item_set.items:
            mask |= self.first(item)
        return mask

    def steps(self, inside: set[Item]) -> list[tuple[Mask, ItemSet]]:
        """(byte set, target) pairs for items inside leaves."""
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
        steps: dict[ItemSet, Mask] = {}
        for mask, items in parts:
            item_set = self.closure(items)
            steps[item_set] = steps.get(item_set, 0) | mask
        return [(mask, item_set) for item_set, mask in steps.items()]

    def rest(self, item: Item) -> int:
        """The fewest bytes from an item to the end of the rule."""
        return sum(
            int(self.form.leaves[body].dfa.distance[state])
            if isinstance(body, int)
            else self.form.rest[body][state]
            for body, state in item
        )
