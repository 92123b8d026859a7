"""Free text with a search for given strings (Aho-Corasick), as an automaton over bytes.

Does: follow UTF-8 text and report the strings that end at each state. Does not: minimise; the states are few.

The strings are found by the method of Aho and Corasick ("Efficient string matching", 1975), in step with an automaton
of well-formed UTF-8 (Unicode 15, table 3-7).
"""

from collections import deque
from collections.abc import Sequence
from typing import Final

Mask = int  # bit b: byte b is in the set


def byte_range(low: int, high: int) -> Mask:
    """The set of the bytes from `low` to `high`."""
    return (1 << high + 1) - (1 << low)


# By state of a character: (bytes, the next state). In state 0 a character begins.
_CHARACTER: Final[tuple[tuple[tuple[Mask, int], ...], ...]] = (
    (
        (byte_range(0x00, 0x7F), 0),
        (byte_range(0xC2, 0xDF), 1),
        (byte_range(0xE0, 0xE0), 4),
        (byte_range(0xE1, 0xEC) | byte_range(0xEE, 0xEF), 2),
        (byte_range(0xED, 0xED), 5),
        (byte_range(0xF0, 0xF0), 6),
        (byte_range(0xF1, 0xF3), 3),
        (byte_range(0xF4, 0xF4), 7),
    ),
    ((byte_range(0x80, 0xBF), 0),),
    ((byte_range(0x80, 0xBF), 1),),
    ((byte_range(0x80, 0xBF), 2),),
    ((byte_range(0xA0, 0xBF), 1),),
    ((byte_range(0x80, 0x9F), 1),),
    ((byte_range(0x90, 0xBF), 2),),
    ((byte_range(0x80, 0x8F), 2),),
)
_STATES: Final = len(_CHARACTER)


class TextAutomaton:
    """The automaton of free text; state 0 is the start. `strings`: the strings to search for, none empty."""

    def __init__(self, strings: Sequence[str]) -> None:
        self._children: list[dict[int, int]] = [{}]
        self._hits: list[set[int]] = [set()]
        for number, text in enumerate(strings):
            node = 0
            for byte in text.encode():
                if byte not in self._children[node]:
                    self._children[node][byte] = len(self._children)
                    self._children.append({})
                    self._hits.append(set())
                node = self._children[node][byte]
            self._hits[node].add(number)
        self._moves = self._links()

    def _links(self) -> list[dict[int, int]]:
        """For each node, the bytes that lead to a node other than the root."""
        moves: list[dict[int, int]] = [dict(self._children[0])] + [{}] * (len(self._children) - 1)
        waiting = deque((child, 0) for child in self._children[0].values())
        while waiting:
            node, shorter = waiting.popleft()  # `shorter`: its longest proper suffix in the trie
            self._hits[node] |= self._hits[shorter]
            moves[node] = {**moves[shorter], **self._children[node]}
            for byte, child in self._children[node].items():
                waiting.append((child, moves[shorter].get(byte, 0)))
        return moves

    def hits(self, state: int) -> frozenset[int]:
        """The numbers of the strings that end in a state."""
        return frozenset(self._hits[state // _STATES]) if state % _STATES == 0 else frozenset()

    def may_end(self, state: int) -> bool:
        """Whether the text so far consists of whole characters."""
        return state % _STATES == 0

    def arcs(self, state: int) -> list[tuple[Mask, int]]:
        """(byte set, target) pairs of a state."""
        node, character = divmod(state, _STATES)
        moves, found = self._moves[node], []
        known = sum(1 << byte for byte in moves)
        for mask, after in _CHARACTER[character]:
            if mask & ~known:
                found.append((mask & ~known, after))
            found += [
                (1 << byte, target * _STATES + after)
                for byte, target in moves.items()
                if mask >> byte & 1
            ]
        return found
