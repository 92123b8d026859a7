"""Short ways to the end of a machine's rules, whatever texts were met before.

Does: search for texts that end the rules on a stack, best first: how far a rule says its end is guides the search, and
what was found for a state once is known for good. An outcome that leads its caller nowhere is passed over for the next
one, so a way is found where there is one (Knuth, "A generalization of Dijkstra's algorithm", 1977, over the
activations of rules that the search has reached, with the guidance of A*). Does not: know which texts must not come
again (`closing`), or promise the very shortest way.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from heapq import heappop, heappush
from itertools import chain, count, islice
from threading import RLock
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from ..automata import Dfa
from ..machine import byte_step as w
from ..machine.cursor import Cursor
from ..machine.lazy_tables import (
    ALPHABET,
    CALLED,
    DEAD,
    ENDED,
    ENTRY,
    FINAL,
    FIRST,
    FLAGS,
    JUDGED,
    LEAF,
    LEAVE,
    OUTCOME,
    REMEMBERS,
    ROW,
    SIZE,
    UNRESOLVED,
)
from ..machine.machine import Machine
from ..machine.rule import UNKNOWN
from .rope import Rope, text_of
from .shortest_texts import in_order, preferred_byte, texts_from

MOST_BYTES: Final = 1 << 17  # of a way
_MOST_STEPS: Final = 30_000  # of one search
_MOST_JUDGED: Final = 64  # texts of a leaf that are judged, of each outcome
_PLACE_BYTES: Final = 250  # what is known of a state or text, about
_ALTERNATIVES: Final = 64  # texts that end a begun one

Task: TypeAlias = Callable[[int], None]
"""A step of a search, told the priority it had."""


class Completion(NamedTuple):
    """A way from a state to the end of its rule."""

    bytes: int
    outcome: int
    text: Rope


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A place on a way within one rule: where it is, how it came there, and how long that is."""

    state: int
    bytes: int
    before: "Node | None" = None
    piece: Rope = None


@dataclass(frozen=True, slots=True, eq=False)
class Caller:
    """Who waits for the ends of a rule: a place in another one, or (`part` None) a frame of the stack.

    `ahead`: bytes from the place to the end of its rule, as far as that is known.
    """

    part: "Subsearch | None"
    node: Node
    site: int
    ahead: int


@dataclass(slots=True, eq=False)
class Subsearch:
    """What is known within one search of the ways from a state to the ends of its rule.

    `base`: what is added to the bytes of its places to compare them with those of other rules.
    """

    base: int
    done: set[int] = field(default_factory=set)
    ends: dict[int, Completion] = field(default_factory=dict)
    callers: list[Caller] = field(default_factory=list)


class RuleGraph:
    """Ways to the end over one machine, for all its outputs; what was found is kept by state."""

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
        """Memory of what was found, by estimate."""
        texts = sum(len(found) for found, _ in list(self._nearest.values()))
        return _PLACE_BYTES * (len(self.known) + len(self._least) + len(self._moves) + texts)

    def targets(self, site: int, outcome: int) -> Iterator[int]:
        """Where a site's rule goes on after an outcome: a state or `ENDED` - outcome; first that after a new text."""
        last = DEAD
        flags = int(self.machine.tables.sites[site, FLAGS])
        for twin in (False, True)[: 1 + (flags & REMEMBERS)]:
            tables = self.machine.tables
            at = tables.sites[site, FIRST] + 2 * outcome + twin
            if outcome >= tables.sites[site, SIZE] or tables.returns[at] == UNRESOLVED:
                self.machine.resolve(site, outcome, twin)
                tables = self.machine.tables
                at = tables.sites[site, FIRST] + 2 * outcome + twin
            target = int(tables.returns[at])
            if target not in (DEAD, last):
                yield target
            last = target

    def bytes_to_end(self, state: int, otherwise: int) -> int:
        """Bytes that suffice from a rule's state to its end, by what the rule says, if it says anything."""
        known = self._least.get(state)
        if known is None:
            named = self.machine.name(state)
            assert named is not None
            least = named[0].least(named[1])
            known = self._least[state] = MOST_BYTES + 1 if least is None else least
        return max(otherwise, 0) if known == UNKNOWN else known

    def moves(self, state: int) -> tuple[tuple[int, bytes], ...]:
        """(move, the bytes that make it) of what a rule's state may do, `DEAD` left out."""
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
            moves = self._moves[state] = tuple(found.items())
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
        """The leaf a state of the machine belongs to, and its number there."""
        number = self.machine.tables.states[state, LEAF]
        if number < 0:
            return None
        leaf = self.machine.leaves[number]
        return leaf.dfa, state - leaf.base

    def shortest_texts(
        self, entry: int, dfa: Dfa, taken: bytes, live: frozenset[int] | None
    ) -> Iterator[tuple[int, bytes]]:
        """(outcome, a shortest text of it that begins with a byte of `taken`) of a leaf, the shortest first."""
        known = self._nearest.get(entry)
        if known is None:
            texts = dict(texts_from(dfa, 0, bytes(range(256))))
            known = self._nearest[entry] = texts, bytes({text[0] for text in texts.values()})
        texts, firsts = known
        if not set(firsts) <= set(taken):
            texts = dict(texts_from(dfa, 0, taken))
        if live is None:
            return iter(texts.items())
        found = ((outcome, texts[outcome]) for outcome in live if outcome in texts)
        return iter(sorted(found, key=lambda each: (len(each[1]), each[0])))


class CompletionSearch:
    """One search, from a cursor's configuration to the end of the output."""

    def __init__(self, graph: RuleGraph, cursor: Cursor) -> None:
        self._graph = graph
        self._machine = graph.machine
        self._cursor = cursor
        self._parts: dict[int, Subsearch] = {}
        # By frame: bytes of a way to the end of its rule that had the priority 0.
        self._totals: dict[int, int] = {}
        self._tick = count()
        self._heap: list[tuple[int, int, Task]] = []
        self._found: bytes | None = None

    def text(self) -> bytes | None:
        """Bytes that end the output if no text is refused for one that came before; None if none were found."""
        with self._graph.lock:
            self._begin()
            for _ in range(_MOST_STEPS):
                if self._found is not None or not self._heap:
                    break
                priority, _, task = heappop(self._heap)
                task(priority)
        self._heap.clear()  # its tasks refer to this search, and so to the machine, which should go with its grammar
        return self._found

    def _begin(self) -> None:
        cursor = self._cursor
        frame = cursor.depth - 1
        place = Caller(None, Node(frame, 0), int(cursor.frames[frame, w.SITE]), 0)
        leaf = self._graph.leaf(cursor.state)
        if cursor.state == FINAL:
            self._found = b""
        elif leaf is None:
            self._demand(cursor.state, place, 0)
        elif self._machine.tables.sites[place.site, FLAGS] & JUDGED:
            begun = bytes(cursor.output[int(cursor.frames[frame, w.BEGUN]) :])
            every = in_order(leaf[0], begun, _MOST_JUDGED)
            self._begin_in_leaf(place, ((outcome, text[len(begun) :]) for outcome, text in every))
        else:
            dfa, state = leaf
            now = int(dfa.outcome[state])
            texts = texts_from(dfa, state, bytes(range(256)))
            texts = texts if now < 0 else chain([(now, b"")], texts)
            self._begin_in_leaf(place, texts, _ALTERNATIVES)

    def _begin_in_leaf(
        self, place: Caller, texts: Iterator[tuple[int, bytes]], together: int = 1
    ) -> None:
        """`beside`: how many of the texts are weighed against each other at once, by all that comes after them."""
        live = self._live(place.site)
        chosen = (t for t in texts if live is None or t[0] in live)
        # The last to be put in is the first to be looked at: of equals, that is the shortest text.
        for outcome, text in reversed([*islice(chosen, together - 1)]):
            self._left(place.node, Completion(len(text), outcome, (text, None)), 0)
        self._next(place, chosen, 0)

    def _later(self, priority: int, task: "Task") -> None:
        heappush(self._heap, (priority, -next(self._tick), task))  # the newest first

    def _demand(self, state: int, caller: Caller, priority: int) -> None:
        """Look for ways from a state to the end of its rule, for somebody who goes on from there."""
        part = self._parts.get(state)
        if part is None:
            ahead = self._graph.bytes_to_end(state, 0)
            part = self._parts[state] = Subsearch(priority - ahead)
            if ahead <= MOST_BYTES:
                self._later(priority, partial(self._step, part, Node(state, 0), ahead))
        part.callers.append(caller)
        for found in list(part.ends.values()):
            self._later(priority, partial(self._returned, caller, found))

    def _step(self, part: Subsearch, node: Node, ahead: int, priority: int) -> None:
        """Reach a state of a rule."""
        if node.state in part.done:
            return
        part.done.add(node.state)
        found = self._graph.known.get(node.state)
        if found is None:
            self._open(part, node, ahead, priority)
            return
        self._later(priority + 1, partial(self._open, part, node, ahead))
        self._later(part.base + node.bytes + found.bytes, partial(self._end, part, node, found))

    def _open(self, part: Subsearch, node: Node, ahead: int, priority: int) -> None:
        """Go on from a state of a rule in every way."""
        for move, taken in self._graph.moves(node.state):
            if move == LEAVE:
                outcome = int(self._machine.tables.states[node.state, OUTCOME])
                end = partial(self._end, part, node, Completion(0, outcome, None))
                self._later(part.base + node.bytes, end)
            elif move > CALLED:
                self._move(
                    part, node, move, Completion(1, 0, (preferred_byte(taken), None)), ahead - 1
                )
            else:
                caller = Caller(part, node, CALLED - move, ahead)
                entry = int(self._machine.tables.sites[caller.site, ENTRY])
                leaf = self._graph.leaf(entry)
                if leaf is None:
                    self._demand(entry, caller, priority)
                    continue
                live = self._live(caller.site)
                texts = self._graph.shortest_texts(entry, leaf[0], taken, live)
                if self._machine.tables.sites[caller.site, FLAGS] & JUDGED:
                    every = in_order(leaf[0], b"", _MOST_JUDGED)
                    texts = (t for t in every if t[1][0] in taken and (not live or t[0] in live))
                self._next(caller, texts, priority)

    def _live(self, site: int) -> frozenset[int] | None:
        place = self._machine.sites[site]
        return None if place is None else place.call.live

    def _next(self, caller: Caller, texts: Iterator[tuple[int, bytes]], priority: int) -> None:
        """Try the texts of a leaf one after the other."""
        for outcome, text in texts:
            self._later(priority, partial(self._next, caller, texts))
            self._returned(caller, Completion(len(text), outcome, (text, None)), priority)
            return

    def _returned(self, caller: Caller, found: Completion, priority: int) -> None:
        """Go on where a call has ended."""
        part, node, site = caller.part, caller.node, caller.site
        if part is None:
            self._left(node, found, priority)
            return
        place, outcome = self._machine.sites[site], found.outcome
        assert place is not None
        if place.call.judge is not None:
            outcome = self._judged(site, outcome, text_of(found.text))
        if outcome >= 0:
            for target in self._graph.targets(site, outcome):
                self._move(part, node, target, found, caller.ahead)

    def _judged(self, site: int, outcome: int, text: bytes) -> int:
        """The outcome that a text has in the end, -1 if it is refused."""
        place = self._machine.sites[site]
        assert place is not None
        assert place.call.judge is not None
        verdict = place.call.judge(self._machine.meaning(site, outcome), text)
        return verdict if verdict < 0 else self._machine.number(site, verdict)

    def _move(self, part: Subsearch, node: Node, target: int, by: Completion, ahead: int) -> None:
        """Come from one state of a rule to the next, or to its end."""
        total = node.bytes + by.bytes
        if total > MOST_BYTES:
            return
        reached = Node(target, total, node, by.text)
        if target <= ENDED:
            end = partial(self._end, part, reached, Completion(0, ENDED - target, None))
            self._later(part.base + total, end)
            return
        left = self._graph.bytes_to_end(target, ahead)
        if total + left <= MOST_BYTES:
            self._later(part.base + total + left, partial(self._step, part, reached, left))

    def _end(self, part: Subsearch, node: Node, rest: Completion, priority: int) -> None:
        """Note a way to the end of a rule, for this search and, of each state on it, for all."""
        if rest.outcome in part.ends:
            return
        known, total = self._graph.known, node.bytes + rest.bytes
        found, at = rest, node
        while True:
            if at.state > 0:
                known.setdefault(at.state, found)
            if at.before is None:
                break
            found = Completion(total - at.before.bytes, rest.outcome, (at.piece, found.text))
            at = at.before
        part.ends[rest.outcome] = found
        for caller in list(part.callers):
            self._returned(caller, found, priority)

    def _left(self, node: Node, found: Completion, priority: int) -> None:
        """Go on in the stack, where the rule of a frame has ended."""
        frames, frame, outcome = self._cursor.frames, node.state, found.outcome
        here = Node(frame, node.bytes + found.bytes, node, found.text)
        if here.bytes > MOST_BYTES:
            return
        if frame == 0:
            self._found = _text_to(here)
            return
        site, parent = int(frames[frame, w.SITE]), int(frames[frame, w.PARENT])
        if self._machine.tables.sites[site, FLAGS] & JUDGED:
            whole = bytes(self._cursor.output) + _text_to(here)
            outcome = self._judged(site, outcome, whole[int(frames[frame, w.BEGUN]) :])
        if outcome < 0:
            return
        place = Node(parent, here.bytes, here)
        for target in self._graph.targets(site, outcome):
            ahead = 0 if target <= ENDED else self._graph.bytes_to_end(target, 0)
            # What is below is the same for all ways to here: they compare by what they take to the end of this rule.
            total = here.bytes + ahead
            late = total - self._totals.setdefault(parent, total - priority)
            if target <= ENDED:
                rest = Completion(0, ENDED - target, None)
                self._later(late, partial(self._left, place, rest))
            else:
                self._demand(target, Caller(None, place, 0, 0), late)


def _text_to(node: Node) -> bytes:
    """What was read on the way to a place."""
    pieces, at = [], node
    while at.before is not None:
        pieces.append(text_of(at.piece))
        at = at.before
    return b"".join(reversed(pieces))
