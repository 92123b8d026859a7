"""Patterns over bytes, matched by walking the vocabulary through a table.

Does: have outlines-core make a deterministic byte automaton of a pattern, keep it as one integer table, find the legal
tokens of a state by running every token's bytes through it at once. Does not: parse patterns (`ecma`).

outlines-core follows leftmost-first alternatives, so that `a|ab` would lose `ab`. A sentinel that no output may hold
is put behind the pattern: then only whole matches count, and the language is the pattern's.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt
import outlines_core

from ..errors import Unsatisfiable, Violation
from ..masks import MaskRow, allow, empty_rows, is_allowed
from ..vocabulary import Vocabulary
from .chars import LAST
from .ecma import Chars, Choice, Node, Repeat, Sequence, parse, whole
from .positions import Positions, lengths, matches_nothing, without
from .spelling import Speller

Table = npt.NDArray[np.int32]  # [states, 256], DEAD where there is no way on

DEAD = -1
_SENTINEL = chr(LAST)
_MOST_STATES = 4_000
_MOST_STEPS = 10_000_000  # states x tokens up to which the fewest tokens are found by search


@dataclass(frozen=True, slots=True)
class ByteAutomaton:
    """A deterministic automaton over bytes; every state can reach an accepting one. State 0 is the start.

    `distance[state]` is the fewest bytes from there to the end of an output; 0 where it may end.
    """

    next: Table
    distance: npt.NDArray[np.int32]  # [states]


def automaton(pattern: str) -> ByteAutomaton:
    """The automaton of all texts that `pattern` matches as a whole.

    Raises:
        InvalidConstraint, UnsupportedConstraint: see `ecma.parse`.
        ConstraintTooLarge: it has too many states.
        Unsatisfiable: no text matches.
    """
    node = without(whole(parse(pattern), search=False), ((LAST, LAST),))
    if matches_nothing(node):
        raise Unsatisfiable("no text matches the pattern")
    Positions(node).check_states(_MOST_STATES)
    bytes_only = outlines_core.Vocabulary(256, {bytes([byte]): [byte] for byte in range(256)})
    index = outlines_core.Index(_rust(Sequence((node, Chars(((LAST, LAST),))))), bytes_only)
    return _trimmed(index.get_initial_state(), index.get_transitions())


def _trimmed(start: int, arcs: dict[int, dict[int, int]]) -> ByteAutomaton:
    """Number the states from the start, take the sentinel out, drop what leads nowhere."""
    numbers = {start: 0}
    order = [start]
    for state in order:
        for byte, target in sorted(arcs.get(state, {}).items()):
            if byte < 256 and target not in numbers:
                numbers[target] = len(order)
                order.append(target)
    table = np.full((len(order), 256), DEAD, dtype=np.int32)
    for state, number in numbers.items():
        for byte, target in arcs.get(state, {}).items():
            if byte < 256:
                table[number, byte] = numbers[target]
    *lead, last = _SENTINEL.encode()
    at = np.arange(len(order))
    for byte in lead:
        at = np.where(at == DEAD, DEAD, table[at, byte])
    accepting = (at != DEAD) & (table[at, last] != DEAD)
    table[at[accepting], last] = DEAD
    distance = _distance(table, accepting)
    table[(table != DEAD) & (distance[table] < 0)] = DEAD
    return _reachable(table, distance)


def _distance(table: Table, accepting: npt.NDArray[np.bool_]) -> npt.NDArray[np.int32]:
    """Fewest bytes to acceptance, DEAD where there is no way; breadth first, backwards."""
    distance = np.where(accepting, 0, DEAD).astype(np.int32)
    step = 0
    while True:
        reached = (table != DEAD) & (distance[table] == step)
        new = reached.any(axis=1) & (distance == DEAD)
        if not new.any():
            return distance
        step += 1
        distance[new] = step


def _reachable(table: Table, distance: npt.NDArray[np.int32]) -> ByteAutomaton:
    keep = np.zeros(len(table), dtype=np.bool_)
    keep[0] = True
    while True:
        targets = np.unique(table[keep])
        before = keep.sum()
        keep[targets[targets != DEAD]] = True
        if keep.sum() == before:
            break
    numbers = np.where(keep, np.cumsum(keep) - 1, DEAD).astype(np.int32)
    kept = table[keep]
    return ByteAutomaton(np.where(kept == DEAD, DEAD, numbers[kept]), distance[keep])


def _rust(node: Node) -> str:
    """The tree as a pattern of the regex crate, with nothing left to its defaults."""
    match node:
        case Chars(ranges):
            return (
                "[" + "".join(f"\\x{{{a:x}}}-\\x{{{b:x}}}" for a, b in ranges) + "]"
                if ranges
                else "[^\\s\\S]"
            )
        case Sequence(parts):
            return "".join(_rust(part) for part in parts)
        case Choice(parts):
            return "(?:" + "|".join(_rust(part) for part in parts) + ")"
        case Repeat(body, least, most):
            if lengths(body)[1] == 0:
                return ""
            return f"(?:{_rust(body)}){{{least},{'' if most is None else most}}}"
        case _:
            raise AssertionError("anchors are resolved before")


class TokenBytes:
    """The bytes of a vocabulary in columns, sorted for the walk. Immutable."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        ids = [index for index, token in enumerate(vocabulary.tokens) if token]
        ids.sort(key=lambda index: -len(vocabulary.tokens[index] or b""))
        sizes = np.array([len(vocabulary.tokens[index] or b"") for index in ids], dtype=np.int64)
        self.ids = np.array(ids, dtype=np.int64)
        self.columns: list[npt.NDArray[np.uint8]] = []
        for at in range(int(sizes.max(initial=0))):
            alive = int((sizes > at).sum())
            column = bytes((vocabulary.tokens[index] or b"")[at] for index in ids[:alive])
            self.columns.append(np.frombuffer(column, dtype=np.uint8))

    def targets(self, table: Table, state: int) -> Table:
        """Where each token of `ids` leads from `state`; int32 [tokens], DEAD for those that are not legal."""
        at = np.full(len(self.ids), state, dtype=np.int32)
        for column in self.columns:
            alive = len(column)
            here = at[:alive]
            live = np.flatnonzero(here != DEAD)
            here[live] = table[here[live], column[live]]
        return at


@dataclass(frozen=True, eq=False)
class WalkGrammar:
    """A pattern compiled for one vocabulary; see `CompiledGrammar`. Rows are made when first asked for and kept."""

    automaton: ByteAutomaton
    tokens: TokenBytes
    speller: Speller
    rows: dict[int, MaskRow] = field(default_factory=dict)

    @property
    def size_bytes(self) -> int:
        """Memory held once every row has been made."""
        states = len(self.automaton.next)
        row = empty_rows(1, self.tokens.vocabulary.width).nbytes
        return self.automaton.next.nbytes + states * (row + 200)

    @property
    def least_tokens(self) -> int | None:
        """Fewest tokens of any output, the end token included."""
        return self.least(0)

    def least(self, state: int) -> int | None:
        """Fewest tokens from `state` to the end: exact where the search is small, else counted in single bytes."""
        if self._exact is not None:
            found = int(self._exact[state])
            return found + 1 if found >= 0 else None
        single = {token for token in self.tokens.vocabulary.tokens if token and len(token) == 1}
        return int(self.automaton.distance[state]) + 1 if len(single) == 256 else None

    @cached_property
    def _exact(self) -> npt.NDArray[np.int32] | None:
        table = self.automaton.next
        if len(table) * len(self.tokens.ids) > _MOST_STEPS:
            return None
        reach = np.zeros((len(table), len(table)), dtype=np.bool_)
        for state in range(len(table)):
            targets = np.unique(self.tokens.targets(table, state))
            reach[state, targets[targets != DEAD]] = True
        least = np.where(self.automaton.distance == 0, 0, DEAD).astype(np.int32)
        step = 0
        while True:
            new = reach[:, least == step].any(axis=1) & (least == DEAD)
            if not new.any():
                return least
            step += 1
            least[new] = step

    def row(self, state: int) -> MaskRow:
        """The legal tokens of a state. Two threads may both make it: they make the same."""
        found = self.rows.get(state)
        if found is None:
            vocabulary = self.tokens.vocabulary
            found = empty_rows(1, vocabulary.width)[0]
            allow(found, self.tokens.ids[self.tokens.targets(self.automaton.next, state) != DEAD])
            if self.automaton.distance[state] == 0:
                allow(found, vocabulary.end_ids)
            found.setflags(write=False)
            self.rows[state] = found
        return found

    def step(self, state: int, text: bytes) -> int:
        """Where `text` leads; DEAD where it is not legal."""
        for byte in text:
            if state == DEAD:
                break
            state = int(self.automaton.next[state, byte])
        return state

    def matcher(self) -> "WalkMatcher":
        """A new matcher at the start of the output."""
        return WalkMatcher(self, [0], [])


class WalkMatcher:
    """Follows one output; see `Matcher`."""

    def __init__(self, grammar: WalkGrammar, states: list[int], history: list[int]) -> None:
        self._grammar = grammar
        self._states = states  # one more than tokens accepted; DEAD after an end token
        self._history = history

    @property
    def finished(self) -> bool:
        """Whether an end token has been accepted."""
        return self._states[-1] == DEAD

    def fill(self, row: MaskRow) -> None:
        """Overwrite `row` with the tokens that are legal next."""
        row[:] = 0
        if not self.finished:
            legal = self._grammar.row(self._states[-1])
            row[: len(legal)] = legal

    def accept(self, token: int) -> None:
        """Advance by one token.

        Raises:
            Violation: the token is not legal here; the matcher has not moved.
        """
        vocabulary = self._grammar.tokens.vocabulary
        state = DEAD
        text = vocabulary.text(token)
        legal = False
        if not self.finished:
            if text is not None:
                state = self._grammar.step(self._states[-1], text)
                legal = state != DEAD
            else:
                legal = token in vocabulary.end_ids and is_allowed(
                    self._grammar.row(self._states[-1]), token
                )
        if not legal:
            raise Violation(f"token {token} is not legal here")
        self._states.append(state)
        self._history.append(token)

    def forced(self) -> tuple[int, ...]:
        """Tokens that must come next; see `Matcher.forced`."""
        if self.finished:
            return ()
        automaton = self._grammar.automaton
        state = self._states[-1]
        text = bytearray()
        while automaton.distance[state] > 0 and len(text) < len(automaton.next):
            ways = np.flatnonzero(automaton.next[state] != DEAD)
            if len(ways) != 1:
                break
            text.append(int(ways[0]))
            state = int(automaton.next[state, ways[0]])
        ends = self._grammar.tokens.vocabulary.end_ids
        final = bool((automaton.next[state] == DEAD).all())
        if not text:
            return ends if final and len(ends) == 1 else ()
        run = self._grammar.speller.spell(self._history, bytes(text), final=final)
        return (*run, *ends) if final and run and len(ends) == 1 else run

    def rollback(self, count: int) -> None:
        """Take back the last `count` accepted tokens."""
        if not 0 <= count <= len(self._history):
            raise ValueError(f"{count} tokens cannot be taken back of {len(self._history)}")
        if count:
            del self._states[len(self._states) - count :]
            del self._history[len(self._history) - count :]

    def fork(self) -> "WalkMatcher":
        """An independent copy at the same position."""
        return WalkMatcher(self._grammar, list(self._states), list(self._history))

    def least_tokens(self) -> int | None:
        """Fewest tokens from here to the end, the end token included; see `WalkGrammar.least`."""
        return 0 if self.finished else self._grammar.least(self._states[-1])

    def closing(self) -> tuple[int, ...] | None:
        """Not searched for by this back end."""
        return None
