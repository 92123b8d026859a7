"""The rules of a machine as a graph for searches: their moves, and the completions found so far.

Does: read moves and targets from the tables, which it expands on demand, and keep results by state for all outputs.
Does not: search (`search`).
"""

from collections.abc import Iterator
from threading import RLock
from typing import Final, NamedTuple

import numpy as np

from ..automata import Dfa
from ..machine.lazy_tables import (
    ALPHABET,
    DEAD,
    FLAGS,
    LEAF,
    REMEMBERS,
    ROW,
)
from ..machine.machine import Machine, returned
from ..machine.rule import UNKNOWN, Call
from .rope import Rope
from .shortest_texts import texts_from

MOST_BYTES: Final = 1 << 17  # of a completion
_POSTPONED: Final = 256  # bytes that a search rather writes than a text that was seen before
_PLACE_BYTES: Final = 250  # estimate for a state or text


class Completion(NamedTuple):
    """A text from a state to the end of its rule: its length, the outcome, the text."""

    bytes: int
    outcome: int
    text: Rope


class RuleGraph:
    """The moves of a machine's rules as a graph, and the completions found so far, shared by all outputs."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.lock = RLock()
        self.known: dict[int, Completion] = {}
        self._least: dict[int, int] = {}
        self._moves: dict[int, tuple[tuple[int, bytes], ...]] = {}
        self._parts: dict[int, tuple[bytes, ...]] = {}  # by alphabet
        self._nearest: dict[int, tuple[dict[int, bytes], bytes]] = {}

    @property
    def nbytes(self) -> int:
        """Estimated memory of the results kept."""
        texts = sum(len(found) for found, _ in list(self._nearest.values()))
        return _PLACE_BYTES * (len(self.known) + len(self._least) + len(self._moves) + texts)

    def targets(self, site: int, outcome: int) -> Iterator[tuple[int, int]]:
        """(target of a call site after an outcome: a state or `ENDED` - outcome; bytes by which to postpone it).

        That after a new text first. A search does not know which texts were seen, so it relies on one last.
        """
        target, late = returned(self.machine, site, outcome, twin=False), 0
        if target != DEAD:
            yield target, 0
            late = _POSTPONED
        if int(self.machine.tables.sites[site, FLAGS]) & REMEMBERS:
            twin = returned(self.machine, site, outcome, twin=True)
            if twin not in (DEAD, target):
                yield twin, late

    def target(self, site: int, outcome: int) -> int:
        """The first of `targets`; `DEAD` if there is none."""
        return next((target for target, _ in self.targets(site, outcome)), DEAD)

    def bytes_to_end(self, state: int, otherwise: int) -> int:
        """Bytes from a state of a rule to its end, as the rule reports; `otherwise` if it does not know."""
        known = self._least.get(state)
        if known is None:
            named = self.machine.name(state)
            assert named is not None
            least = named[0].least(named[1])
            known = self._least[state] = MOST_BYTES + 1 if least is None else least
        return max(otherwise, 0) if known == UNKNOWN else known

    def moves(self, state: int) -> tuple[tuple[int, bytes], ...]:
        """(move, the bytes that make it) for each move of a state of a rule except `DEAD` and needless ones."""
        moves = self._moves.get(state)
        if moves is None:
            if self.machine.tables.states[state, ROW] < 0:
                self.machine.expand(state)
            tables = self.machine.tables
            parts = self._parts_of(tables.states.item(state, ALPHABET))
            cells = tables.cells[tables.states.item(state, ROW) :][: len(parts)].tolist()
            found = dict.fromkeys(cells, b"")
            for move, part in zip(cells, parts, strict=True):
                found[move] += part
            found.pop(DEAD, None)
            needless = self.machine.special.needless
            moves = tuple(move for move in found.items() if move[0] not in needless)
            self._moves[state] = moves
        return moves

    def _parts_of(self, alphabet: int) -> tuple[bytes, ...]:
        """The bytes of each class."""
        parts = self._parts.get(alphabet)
        if parts is None:
            classes = self.machine.tables.alphabets[alphabet]
            numbers = range(int(classes.max()) + 1)
            parts = tuple(np.flatnonzero(classes == c).astype(np.uint8).tobytes() for c in numbers)
            self._parts[alphabet] = parts
        return parts

    def leaf(self, state: int) -> tuple[Dfa, int] | None:
        """The automaton of the leaf of a machine's state, and the state's number there; None for states of rules."""
        number = self.machine.tables.states[state, LEAF]
        if number < 0:
            return None
        leaf = self.machine.leaves[number]
        return leaf.dfa, state - leaf.base

    def shortest_texts(
        self, entry: int, dfa: Dfa, taken: bytes, call: Call | None = None
    ) -> Iterator[tuple[int, bytes]]:
        """(outcome, its shortest text that begins with a byte of `taken`) of a leaf, shortest first.

        Of `call`, only live outcomes, and `due` ones before the others.
        """
        known = self._nearest.get(entry)
        if known is None:
            texts = dict(texts_from(dfa, 0, bytes(range(256))))
            known = self._nearest[entry] = texts, bytes({text[0] for text in texts.values()})
        texts, firsts = known
        if not set(firsts) <= set(taken):
            texts = dict(texts_from(dfa, 0, taken))
        if call is None or call.live is None:
            return iter(texts.items())
        due = call.due
        found = ((outcome, texts[outcome]) for outcome in call.live if outcome in texts)
        return iter(sorted(found, key=lambda each: (each[0] not in due, len(each[1]), each[0])))
