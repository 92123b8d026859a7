"""Compilation of structural tags to a rule of the byte machine.

Does: make the automaton of a tree deterministic by sets of positions, check that one byte always decides between the
contents that may begin, and compute the shortest ends. Does not: read sources (`tag_source`) or compile contents
(`contents`).
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Final

from ..cfg.form import Mask, mask_bytes
from ..cfg.table import GrammarRule
from ..contract.errors import (
    ConstraintTooLarge,
    Refusal,
    Unsatisfiable,
    UnsupportedConstraint,
)
from ..machine.rule import UNKNOWN, Call, End, Expansion, Goto, Target
from .contents import Contents, SchemaRule
from .positions import CallMove, Position, Positions
from .tag_tree import Content, Part

MOST_STATES: Final = 1 << 15
_ENDLESS: Final = 1 << 40
_UNKNOWN_BYTES: Final = 1 << 30  # of a content with a length that takes a search

Place = frozenset[Position]


@dataclass(slots=True)
class _Moves:
    """The moves of a set of positions."""

    may_end: bool
    arcs: list[tuple[Mask, Place]]
    calls: list[CallMove]
    least: int = field(default=_ENDLESS)


def tag_rule(tree: Part, schema: SchemaRule) -> GrammarRule:
    """The rule of a structural tag; `schema` makes the rule of a JSON Schema.

    Raises:
        GrammarError: a content cannot be enforced, or one byte does not decide which content begins.
    """
    return _Enforcing(tree, schema).run()


class _Enforcing:
    def __init__(self, tree: Part, schema: SchemaRule) -> None:
        self._contents = Contents(schema)
        self._positions = Positions(tree, self._contents.compiled)
        self._table: dict[Place, _Moves] = {}

    def run(self) -> GrammarRule:
        start = self._positions.start
        self._explore(start)
        self._follow()
        self._measure()
        if self._table[start].least >= _ENDLESS:
            raise Unsatisfiable("no text matches the structural tag")
        return self._rule(start)

    def _explore(self, start: Place) -> None:
        waiting = [start]
        while waiting:
            place = waiting.pop()
            if place in self._table:
                continue
            if len(self._table) >= MOST_STATES:
                raise ConstraintTooLarge(f"the structural tag has more than {MOST_STATES} states")
            moves = self._table[place] = self._moves(place)
            waiting += [target for _, target in moves.arcs]
            waiting += [call.after for call in moves.calls]

    def _moves(self, place: Place) -> _Moves:
        positions = self._positions
        parts: list[tuple[Mask, frozenset[Position]]] = []
        calls: dict[int, CallMove] = {}
        for position in sorted(place):
            for mask, target in positions.bytes_from(position):
                parts = _refined(parts, mask, target)
            call = positions.call_from(position)
            if call is not None:
                same = id(self._contents.rule(call.content).rule)
                known = calls.get(same)
                after = call.after if known is None else call.after | known.after
                calls[same] = CallMove(call.content if known is None else known.content, after)
        self._check(parts, list(calls.values()))
        arcs = [(mask, positions.closure(targets)) for mask, targets in parts]
        arcs = [(mask, target) for mask, target in arcs if target]
        return _Moves(any(map(positions.is_end, place)), arcs, list(calls.values()))

    def _check(self, parts: list[tuple[Mask, frozenset[Position]]], calls: list[CallMove]) -> None:
        """Check that the next byte decides between the contents that may begin here, and bytes read here."""
        taken, places = 0, ["fixed or free text"]
        for mask, _ in parts:
            taken |= mask
        for call in calls:
            first = self._contents.rule(call.content).first
            if taken & first:
                shown = ", ".join(repr(chr(b)) for b in mask_bytes(taken & first)[:3])
                reason = f"this content may begin with {shown}, and so may {' or '.join(places)}"
                hint = "begin each alternative with a fixed text of its own, or use one schema with anyOf"
                refusal = Refusal(call.content.where, call.content.kind, reason, hint)
                raise UnsupportedConstraint(f"{call.content.where}: {reason}", (refusal,))
            taken |= first
            places.append(call.content.where)

    def _follow(self) -> None:
        """Set for each content which bytes may follow it."""
        following: dict[Content, Mask] = {}
        for moves in self._table.values():
            for call in moves.calls:
                after = self._table[call.after]
                mask = following.get(call.content, 0)
                for more, _ in after.arcs:
                    mask |= more
                for inner in after.calls:
                    mask |= self._contents.rule(inner.content).first
                following[call.content] = mask
        for content, mask in following.items():
            self._contents.follow(content, mask)

    def _measure(self) -> None:
        """The bytes that suffice to end from each set of positions, by Dijkstra's algorithm from the ends."""
        before: dict[Place, list[tuple[int, Place]]] = {}
        heap: list[tuple[int, int, Place]] = []
        for number, (place, moves) in enumerate(self._table.items()):
            for _, target in moves.arcs:
                before.setdefault(target, []).append((1, place))
            for call in moves.calls:
                before.setdefault(call.after, []).append((self._bytes(call.content), place))
            if moves.may_end:
                moves.least = 0
                heappush(heap, (0, number, place))
        count = len(self._table)
        while heap:
            least, _, place = heappop(heap)
            if least > self._table[place].least:
                continue
            for weight, source in before.get(place, ()):
                if least + weight < self._table[source].least:
                    self._table[source].least = least + weight
                    count += 1
                    heappush(heap, (least + weight, count, source))

    def _bytes(self, content: Content) -> int:
        rule = self._contents.rule(content).rule
        least = rule.least(rule.start)
        if least is None:
            return _ENDLESS
        return _UNKNOWN_BYTES if least == UNKNOWN else least

    def _rule(self, start: Place) -> GrammarRule:
        live = [place for place, moves in self._table.items() if moves.least < _ENDLESS]
        live.sort(key=lambda place: place != start)
        numbers = {place: number for number, place in enumerate(live)}

        def target(place: Place) -> Target:
            moves = self._table[place]
            if moves.may_end and not moves.arcs and not moves.calls:
                return End(0)
            return Goto(numbers[place], sure=True)

        rule, returns = GrammarRule(), list[tuple[Target, ...]]()
        expansions = [self._expansion(place, target, numbers, returns) for place in live]
        least = [self._table[place].least for place in live]
        rule.settle(expansions, returns, [UNKNOWN if n >= _UNKNOWN_BYTES else n for n in least])
        return rule

    def _expansion(
        self,
        place: Place,
        target: Callable[[Place], Target],
        numbers: dict[Place, int],
        returns: list[tuple[Target, ...]],
    ) -> Expansion:
        moves = self._table[place]
        calls = []
        for call in moves.calls:
            if call.after in numbers:
                content = self._contents.rule(call.content)
                made = Call(content.rule, len(returns), usual=0)
                calls.append((mask_bytes(content.first), made))
                returns.append((target(call.after),))
        arcs: dict[Target, Mask] = {}
        for mask, after in moves.arcs:
            if after in numbers:
                arcs[target(after)] = arcs.get(target(after), 0) | mask
        taken = tuple((mask_bytes(mask), after) for after, mask in arcs.items())
        return Expansion(taken, None, 0 if moves.may_end else None, tuple(calls))


def _refined(
    parts: list[tuple[Mask, frozenset[Position]]], mask: Mask, target: Position
) -> list[tuple[Mask, frozenset[Position]]]:
    """The partition of the bytes by target sets, after the bytes in `mask` also lead to `target`."""
    found = []
    for known, targets in parts:
        if known & mask:
            found.append((known & mask, targets | {target}))
        if known & ~mask:
            found.append((known & ~mask, targets))
        mask &= ~known
    if mask:
        found.append((mask, frozenset((target,))))
    return found
