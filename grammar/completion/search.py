"""Search for a short completion: a text that ends all rules on a stack, seen texts not considered.

Does: search best first. The distance that a rule reports to its end guides the search, and results are kept by state.
If the caller refuses an outcome, the search tries the next one, so it finds a completion where there is one (Knuth, "A
generalization of Dijkstra's algorithm", 1977, over the activations of rules that the search has reached, guided as in
A*). Does not: know which texts must not come twice (`shortest_end`), or guarantee the shortest completion.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from heapq import heappop, heappush
from itertools import chain, count, islice
from typing import Final, TypeAlias

from ..base.parts import Parts
from ..contract.work import JUDGED_BYTE, STEP, spend
from ..machine import byte_step as w
from ..machine.cursor import Cursor
from ..machine.lazy_tables import (
    CALLED,
    ENDED,
    ENTRY,
    FINAL,
    FLAGS,
    JUDGED,
    LEAVE,
    OUTCOME,
)
from .rope import Rope, text_of
from .rule_graph import MOST_BYTES, Completion, RuleGraph
from .shortest_texts import in_order, judged_texts, preferred_byte, texts_from

_MOST_STEPS: Final = 30_000  # states visited by one search
_MOST_EARLY: Final = 1024  # nodes of a rule that keep the nodes of other rules waiting
_EARLY_OF_BYTE: Final = 64  # nodes beyond these that postpone the next ones by a byte
_MOST_JUDGED: Final = 64  # texts of a leaf that are tried with a judge
_ALTERNATIVES: Final = 64  # ends of a begun text that are compared

Task: TypeAlias = Callable[[int], None]
"""A step of a search; its argument is the priority that it had."""


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A state reached within one rule, with the bytes read to get there and the last piece of text."""

    state: int
    bytes: int
    before: "Node | None" = None
    piece: Rope = None


@dataclass(frozen=True, slots=True, eq=False)
class Caller:
    """A caller that waits for the ends of a rule: a state of another rule, or (`part` None) a frame of the stack.

    `ahead`: known bytes from that state to the end of its own rule.
    """

    part: "Subsearch | None"
    node: Node
    site: int
    ahead: int


@dataclass(slots=True, eq=False)
class Subsearch:
    """The part of a search that looks for the ends of a rule from one entry state.

    `base`: added to the bytes of its nodes to compare them with nodes of other rules. `begun`: the priority it began
    with. `early`: how many of its nodes were visited before that, because the distance to its end was overestimated.
    """

    base: int
    begun: int
    early: int = 0
    done: set[int] = field(default_factory=set)
    ends: dict[int, Completion] = field(default_factory=dict)
    callers: list[Caller] = field(default_factory=list)

    def hasten(self, base: int, begun: int) -> None:
        """Begin with another priority, if it is lower."""
        self.base, self.begun = min(self.base, base), min(self.begun, begun)


class CompletionSearch:
    """One search, from a cursor's configuration to the end of the output."""

    def __init__(self, graph: RuleGraph, cursor: Cursor) -> None:
        self._graph = graph
        self._machine = graph.machine
        self._cursor = cursor
        self._parts: dict[int, Subsearch] = {}
        # By frame: bytes of a completion of its rule that had the priority 0.
        self._totals: dict[int, int] = {}
        self._tick = count()
        self._heap: list[tuple[int, bool, int, Task]] = []
        self._found: bytes | None = None

    def text(self) -> Parts[bytes | None]:
        """Bytes that end the output if no text in them is refused as seen before; None if the search finds none."""
        try:
            yield from self._begin()
            for _ in range(_MOST_STEPS):
                if self._found is not None or not self._heap:
                    break
                with self._graph.lock:
                    spend(STEP)
                    priority, _, _, task = heappop(self._heap)
                    task(priority)
                yield
        finally:
            # The tasks refer to this search: without that cycle, the machine is freed together with its grammar.
            self._heap.clear()
        return self._found

    def _begin(self) -> Parts[None]:
        """Schedule the first steps, from the state of the cursor."""
        cursor = self._cursor
        frame = cursor.depth - 1
        place = Caller(None, Node(frame, 0), int(cursor.frames[frame, w.SITE]), 0)
        with self._graph.lock:
            leaf = self._graph.leaf(cursor.state)
            if cursor.state == FINAL:
                self._found = b""
            elif leaf is None:
                self._request(cursor.state, place, 0)
        if leaf is None or cursor.state == FINAL:
            return
        if self._machine.tables.sites[place.site, FLAGS] & JUDGED:
            begun = bytes(cursor.output[int(cursor.frames[frame, w.BEGUN]) :])
            every = in_order(leaf[0], begun, _MOST_JUDGED)
            texts: Iterator[tuple[int, bytes]] = (
                (outcome, text[len(begun) :]) for outcome, text in every
            )
            yield from self._begin_in_leaf(place, texts)
            return
        dfa, state = leaf
        now = int(dfa.outcome[state])
        texts = texts_from(dfa, state, bytes(range(256)))
        texts = texts if now < 0 else chain([(now, b"")], texts)
        yield from self._begin_in_leaf(place, texts, _ALTERNATIVES)

    def _begin_in_leaf(
        self, place: Caller, texts: Iterator[tuple[int, bytes]], together: int = 1
    ) -> Parts[None]:
        """`together`: how many of the texts compete at once; the search decides between them by what follows."""
        with self._graph.lock:
            live = self._live(place.site)
            chosen = (t for t in texts if live is None or t[0] in live)
            # Of equal priorities, the last task added runs first: that is the shortest text.
            competing = [*islice(chosen, together - 1)][::-1]
        for outcome, text in competing:
            yield  # names that were not used yet are expensive: what follows them is planned now
            with self._graph.lock:
                self._return_in_stack(place.node, Completion(len(text), outcome, (text, None)), 0)
        with self._graph.lock:
            self._try_texts(place, chosen, 0)

    def _schedule(self, priority: int, task: "Task", *, ends: bool = False) -> None:
        """Add a task. Of equal priorities, ends of rules come first, then the newest: nothing is expanded in vain."""
        heappush(self._heap, (priority, not ends, -next(self._tick), task))

    def _request(self, state: int, caller: Caller, priority: int) -> None:
        """Search from a state for the ends of its rule, on behalf of a caller."""
        part, ahead = self._parts.get(state), self._graph.bytes_to_end(state, 0)
        if part is None:
            part = self._parts[state] = Subsearch(priority - ahead, priority)
        if not part.done and ahead <= MOST_BYTES:
            # Requested again before its turn came: it must not wait behind all that was scheduled in between.
            part.hasten(priority - ahead, priority)
            self._schedule(priority, partial(self._step, part, Node(state, 0), ahead))
        part.callers.append(caller)
        for found in list(part.ends.values()):
            self._schedule(priority, partial(self._resume, caller, found))

    def _step(self, part: Subsearch, node: Node, ahead: int, priority: int) -> None:
        """Visit a state of a rule."""
        if node.state in part.done:
            return
        part.early += priority < part.begun or part.early >= _MOST_EARLY
        postponed = part.begun + (part.early - _MOST_EARLY) // _EARLY_OF_BYTE
        if part.early > _MOST_EARLY and priority < postponed:
            self._schedule(postponed, partial(self._step, part, node, ahead))
            return
        part.done.add(node.state)
        found = self._graph.known.get(node.state)
        if found is None:
            self._expand(part, node, ahead, priority)
            return
        self._schedule(priority + 1, partial(self._expand, part, node, ahead))
        end = partial(self._end, part, node, found)
        self._schedule(part.base + node.bytes + found.bytes, end, ends=True)

    def _expand(self, part: Subsearch, node: Node, ahead: int, priority: int) -> None:
        """Follow every move of a state of a rule."""
        for move, taken in self._graph.moves(node.state):
            if move == LEAVE:
                outcome = int(self._machine.tables.states[node.state, OUTCOME])
                end = partial(self._end, part, node, Completion(0, outcome, None))
                self._schedule(part.base + node.bytes, end, ends=True)
            elif move > CALLED:
                self._move(
                    part, node, move, Completion(1, 0, (preferred_byte(taken), None)), ahead - 1
                )
            else:
                caller = Caller(part, node, CALLED - move, ahead)
                entry = int(self._machine.tables.sites[caller.site, ENTRY])
                leaf = self._graph.leaf(entry)
                if leaf is None:
                    self._request(entry, caller, priority)
                    continue
                place = self._machine.sites[caller.site]
                assert place is not None
                live, texts = (
                    place.call.live,
                    self._graph.shortest_texts(entry, leaf[0], taken, place.call),
                )
                if place.call.judge is not None:
                    every = chain(
                        judged_texts(leaf[0], taken),
                        (t for t in in_order(leaf[0], b"", _MOST_JUDGED) if t[1][0] in taken),
                    )
                    texts = (t for t in every if not live or t[0] in live)
                self._try_texts(caller, texts, priority)

    def _live(self, site: int) -> frozenset[int] | range | None:
        place = self._machine.sites[site]
        return None if place is None else place.call.live

    def _try_texts(self, caller: Caller, texts: Iterator[tuple[int, bytes]], priority: int) -> None:
        """Try the first of these texts of a leaf, and schedule the others."""
        for outcome, text in texts:
            # A judge may refuse many texts: what follows those that it lets in is not kept waiting.
            place = self._machine.sites[caller.site]
            later = int(place is not None and place.call.judge is not None)
            self._schedule(priority + later, partial(self._try_texts, caller, texts))
            self._resume(caller, Completion(len(text), outcome, (text, None)), priority)
            return

    def _resume(self, caller: Caller, found: Completion, priority: int) -> None:
        """Go on in the caller where a call has ended."""
        part, node, site = caller.part, caller.node, caller.site
        if part is None:
            self._return_in_stack(node, found, priority)
            return
        place, outcome = self._machine.sites[site], found.outcome
        assert place is not None
        if place.call.judge is not None:
            outcome = self._judged(site, outcome, text_of(found.text))
        if outcome >= 0:
            for target, late in self._graph.targets(site, outcome):
                self._move(part, node, target, found, caller.ahead, late)

    def _judged(self, site: int, outcome: int, text: bytes) -> int:
        """The outcome of a text after the judge of its call site; -1 if the judge refuses it."""
        place = self._machine.sites[site]
        assert place is not None
        assert place.call.judge is not None
        spend(JUDGED_BYTE * len(text))
        verdict = place.call.judge(self._machine.meaning(site, outcome), text)
        return verdict if verdict < 0 else self._machine.number(site, verdict)

    def _move(
        self, part: Subsearch, node: Node, target: int, by: Completion, ahead: int, late: int = 0
    ) -> None:
        """Go from one state of a rule to the next, or to its end; `late`: see `RuleGraph.targets`."""
        total = node.bytes + by.bytes
        if total > MOST_BYTES:
            return
        reached = Node(target, total, node, by.text)
        if target <= ENDED:
            end = partial(self._end, part, reached, Completion(0, ENDED - target, None))
            self._schedule(part.base + total + late, end, ends=True)
            return
        left = self._graph.bytes_to_end(target, ahead)
        if total + left <= MOST_BYTES:
            step = partial(self._step, part, reached, left)
            self._schedule(part.base + total + left + late, step)

    def _end(self, part: Subsearch, node: Node, rest: Completion, priority: int) -> None:
        """Record a completion of a rule: for this search, and for each state on the path, for all searches."""
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
            self._resume(caller, found, priority)

    def _return_in_stack(self, node: Node, found: Completion, priority: int) -> None:
        """Go on in the caller's frame of the stack, where the rule of a frame has ended."""
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
        for target, postponed in self._graph.targets(site, outcome):
            ahead = 0 if target <= ENDED else self._graph.bytes_to_end(target, 0)
            # The frames below are the same for all paths to here: only the bytes to the end of this rule differ.
            total = here.bytes + ahead
            late = total - self._totals.setdefault(parent, total - priority) + postponed
            if target <= ENDED:
                rest = Completion(0, ENDED - target, None)
                self._schedule(late, partial(self._return_in_stack, place, rest))
            else:
                self._request(target, Caller(None, place, 0, 0), late)


def _text_to(node: Node) -> bytes:
    """The text read on the path to a node."""
    pieces, at = [], node
    while at.before is not None:
        pieces.append(text_of(at.piece))
        at = at.before
    return b"".join(reversed(pieces))
