"""A structural tag as a nondeterministic automaton: bytes, free text, and calls of contents.

Does: build the automaton from a tree, and give the moves of each position. Does not: compile contents, or make the
automaton deterministic (`tag_rules`).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol

from ..cfg.form import GrammarLeaf
from ..contract.errors import ConstraintTooLarge
from .tag_tree import Choice, Content, FixedText, FreeText, Part, Series, Times
from .text_automaton import Mask, TextAutomaton

MOST_NODES: Final = 1 << 16
_ENDS_AT_ONCE: Final = -1


class CalledContent(Protocol):
    """A compiled content that is called: the bytes it may begin with, and whether it has the empty text."""

    @property
    def first(self) -> Mask: ...

    @property
    def nullable(self) -> bool: ...


class Position(NamedTuple):
    """A node of the automaton, and a state inside it if it is an automaton itself."""

    node: int
    state: int = 0


class CallMove(NamedTuple):
    """The call of a content from a position, and the positions after it."""

    content: Content
    after: frozenset[Position]


@dataclass(slots=True)
class _Jump:
    targets: list[int]


@dataclass(frozen=True, slots=True)
class _Byte:
    byte: int
    target: int


@dataclass(frozen=True, slots=True)
class _Inside:
    leaf: GrammarLeaf
    target: int


@dataclass(frozen=True, slots=True)
class _Text:
    """Free text: `exits` are the nodes after each searched string; -1: the string must not occur."""

    automaton: TextAutomaton
    exits: tuple[int, ...]
    target: int  # after text that may end anywhere; -1 if it ends at a string


@dataclass(frozen=True, slots=True)
class _Call:
    content: Content
    target: int


_Node = _Jump | _Byte | _Inside | _Text | _Call


class Positions:
    """The automaton of one tree. `compiled` gives the automaton of a content, or the rule to call for it."""

    def __init__(
        self, tree: Part, compiled: Callable[[Content], GrammarLeaf | CalledContent]
    ) -> None:
        """
        Raises:
            ConstraintTooLarge: the automaton has too many nodes.
        """
        self._compiled = compiled
        self._nodes: list[_Node] = [_Jump([])]  # node 0: the end
        self._closed: dict[Position, frozenset[Position]] = {}
        self.start = self.closure([Position(self._build(tree, 0))])

    def _add(self, node: _Node) -> int:
        if len(self._nodes) >= MOST_NODES:
            raise ConstraintTooLarge(f"the structural tag has more than {MOST_NODES} places")
        self._nodes.append(node)
        return len(self._nodes) - 1

    def _build(self, part: Part, after: int) -> int:
        """The node before `part`; `after` is the node behind it."""
        match part:
            case FixedText(text):
                for byte in reversed(text.encode()):
                    after = self._add(_Byte(byte, after))
                return after
            case Series(parts):
                for inner in reversed(parts):
                    after = self._build(inner, after)
                return after
            case Choice(parts):
                return self._add(_Jump([self._build(inner, after) for inner in parts]))
            case Times():
                return self._times(part, after)
            case FreeText(without, exits):
                automaton = TextAutomaton([*without, *(text for text, _ in exits)])
                nodes = [self._build(inner, after) for _, inner in exits]
                target = -1 if exits else after
                return self._add(_Text(automaton, (*[-1] * len(without), *nodes), target))
        compiled = self._compiled(part)
        if isinstance(compiled, GrammarLeaf):
            return self._add(_Inside(compiled, after))
        call = self._add(_Call(part, after))
        return self._add(_Jump([call, after])) if compiled.nullable else call

    def _times(self, part: Times, after: int) -> int:
        if part.high is None:
            hub = _Jump([after])
            node = self._add(hub)
            hub.targets.append(self._build(part.part, node))
        else:
            node = after
            for _ in range(part.high - part.low):
                node = self._add(_Jump([after, self._build(part.part, node)]))
        for _ in range(part.low):
            node = self._build(part.part, node)
        return node

    def closure(self, positions: Iterable[Position]) -> frozenset[Position]:
        """All positions that can be reached without reading a byte, except those that only lead on."""
        found: set[Position] = set()
        for position in positions:
            known = self._closed.get(position)
            if known is None:
                known = self._closed[position] = self._close(position)
            found |= known
        return frozenset(found)

    def _close(self, first: Position) -> frozenset[Position]:
        seen, waiting = {first}, [first]
        while waiting:
            node, state = waiting.pop()
            for target in self._silent(node, state):
                if target >= 0 and Position(target) not in seen:
                    seen.add(Position(target))
                    waiting.append(Position(target))
        return frozenset(p for p in seen if self._keeps(p))

    def _silent(self, node: int, state: int) -> Iterable[int]:
        """The nodes reached from a position without reading a byte."""
        match self._nodes[node]:
            case _Jump(targets):
                return targets
            case _Inside(leaf, target):
                return [target] if leaf.ends(state) else []
            case _Text(automaton, exits, target):
                hits = automaton.hits(state)
                if hits:
                    return [exits[hit] for hit in hits] if self._passes(exits, hits) else []
                return [target] if automaton.may_end(state) else []
            case _:
                return []

    @staticmethod
    def _passes(exits: tuple[int, ...], hits: frozenset[int]) -> bool:
        return all(exits[hit] >= 0 for hit in hits)

    def _keeps(self, position: Position) -> bool:
        """Whether something can be read at a position, or it is the end."""
        node = self._nodes[position.node]
        if isinstance(node, _Text):
            return not node.automaton.hits(position.state)
        return position.node == 0 or not isinstance(node, _Jump)

    def bytes_from(self, position: Position) -> list[tuple[Mask, Position]]:
        """(byte set, position after it) pairs of a position."""
        match self._nodes[position.node]:
            case _Byte(byte, target):
                return [(1 << byte, Position(target))]
            case _Inside(leaf, _):
                arcs = leaf.arcs(position.state)
                return [(mask, Position(position.node, state)) for mask, state in arcs]
            case _Text(automaton, _, _):
                inner = automaton.arcs(position.state)
                return [(mask, Position(position.node, state)) for mask, state in inner]
            case _:
                return []

    def call_from(self, position: Position) -> CallMove | None:
        """The call at a position; None if nothing is called there."""
        node = self._nodes[position.node]
        if not isinstance(node, _Call):
            return None
        return CallMove(node.content, self.closure([Position(node.target)]))

    @staticmethod
    def is_end(position: Position) -> bool:
        """Whether the output may end at a position."""
        return position.node == 0
