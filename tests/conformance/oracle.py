"""Masks by trying every token byte by byte: the meaning of `grammar.machine.rule` without machine, trie, rows or cache.

Does: follow rules on immutable configurations; find the legal tokens of one, with all configurations they lead to.
Does not: share code with what it checks. Inside a leaf all tokens take a byte at once (numpy), which is what a table
means and nothing more; everywhere else bytes are taken one by one.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
from intaglio.grammar.automata import Dfa
from intaglio.grammar.machine.rule import Call, End, Goto, Rule, Target

Ids: TypeAlias = npt.NDArray[np.int64]
DONE: Final = None  # the configuration after the whole output


@dataclass(frozen=True)
class Frame:
    """A rule or leaf being read; `below` called it. `seen`: keys of texts remembered in this activation.

    `texts` tells whether what follows may depend on the text read: then `begun`, where the frame's text starts, counts.
    """

    callee: int
    state: Hashable
    call: Call | None
    below: "Frame | None"
    begun: int = 0
    seen: frozenset[Hashable] = frozenset()
    texts: bool = False


Configuration: TypeAlias = Frame | None


@dataclass
class Found:
    """The legal tokens, and for each configuration they lead to one of them."""

    legal: list[Ids]
    leads: dict[Configuration, int]


class Tokens:
    """A vocabulary as a matrix of bytes."""

    def __init__(self, texts: tuple[bytes | None, ...]) -> None:
        self.texts = texts
        known = [token for token, text in enumerate(texts) if text is not None]
        self.ids: Ids = np.array(known, np.int64)
        self.lengths = np.array([len(text or b"") for text in texts], np.int64)
        self.bytes = np.zeros((len(texts), int(self.lengths.max())), np.uint8)
        for token in known:
            text = texts[token]
            assert text is not None
            self.bytes[token, : len(text)] = np.frombuffer(text, np.uint8)


class Interpreter:
    """The rules of one grammar. Configurations are comparable only within one interpreter."""

    def __init__(self, root: Rule | Dfa) -> None:
        self._numbers: dict[object, int] = {}
        self._callees: list[Rule | Dfa] = []
        self._arcs: dict[tuple[int, Hashable], dict[int, Target | Call]] = {}
        self._ends: dict[tuple[int, Hashable], tuple[Call | None, int | None]] = {}
        self._live: dict[tuple[Dfa, frozenset[int] | range], Dfa] = {}
        self._alive: dict[tuple[int, Hashable], bool] = {}
        self._classes: dict[int, npt.NDArray[np.int32]] = {}
        self._last: dict[int, npt.NDArray[np.bool_]] = {}
        self._masks: dict[Configuration, Found] = {}
        self.start: Configuration = self._enter(root, None, None, 0)

    def read(self, at: Configuration, before: bytes, text: bytes) -> tuple[bool, Configuration]:
        """(whether `text` is legal after `before`, where it leads)."""
        for place, byte in enumerate(text):
            legal, at = self._step(at, before + text[:place], byte)
            if not legal:
                return False, at
        return True, at

    def can_end(self, at: Configuration, text: bytes) -> bool:
        """Whether the output may end here."""
        while at is not None:
            callee = self._callees[at.callee]
            if isinstance(callee, Dfa):
                outcome: int | None = int(callee.outcome[at.state])  # type: ignore[call-overload]
            else:
                outcome = self._expansion(at)[1]
            if outcome is None or outcome < 0:
                return False
            left, at = self._leave(at, text, outcome)
            if not left:
                return False
        return True

    def masks(self, at: Configuration, text: bytes, tokens: Tokens) -> Found:
        """The legal tokens (without end tokens)."""
        found = self._masks.get(at) if at is None or not at.texts else None
        if found is None:
            found = Found([], {})
            self._try(at, text, tokens, tokens.ids, 0, found)
            if at is None or not at.texts:
                self._masks[at] = found
        return found

    def _try(
        self, at: Configuration, text: bytes, tokens: Tokens, ids: Ids, done: int, found: Found
    ) -> None:
        """Every token of `ids`, which have `done` equal bytes behind them."""
        over = tokens.lengths[ids] == done
        if over.any():
            found.legal.append(ids[over])
            found.leads.setdefault(at, int(ids[over][0]))
            ids = ids[~over]
        if at is None or not len(ids):
            return
        if isinstance(self._callees[at.callee], Dfa):
            self._try_leaf(at, text, tokens, ids, done, found)
            return
        column = tokens.bytes[ids, done]
        for byte in np.unique(column).tolist():
            legal, following = self._step(at, text, byte)
            if legal:
                more = text + bytes([byte])
                self._try(following, more, tokens, ids[column == byte], done + 1, found)

    def _try_leaf(
        self, at: Frame, text: bytes, tokens: Tokens, ids: Ids, done: int, found: Found
    ) -> None:
        dfa = self._callees[at.callee]
        assert isinstance(dfa, Dfa)
        classes, last = self._classes[at.callee], self._last[at.callee]
        states = np.full(len(ids), at.state, np.int64)
        place = done
        while True:
            over = tokens.lengths[ids] == place
            for state in np.unique(states[over]).tolist():
                found.leads.setdefault(self._in(at, state), int(ids[over & (states == state)][0]))
            found.legal.append(ids[over])
            ids, states = ids[~over], states[~over]
            if not len(ids):
                return
            of = classes[tokens.bytes[ids, place]]
            following = np.full(len(ids), -1, np.int64)
            known = of >= 0
            following[known] = dfa.table[states[known], of[known]]
            out = following < 0
            self._try_ends(at, text, tokens, (ids[out], states[out]), (done, place), found)
            ids, states = ids[~out], following[~out]
            place += 1
            ended = last[states]
            self._try_ends(at, text, tokens, (ids[ended], states[ended]), (done, place), found)
            ids, states = ids[~ended], states[~ended]

    def _try_ends(
        self,
        at: Frame,
        text: bytes,
        tokens: Tokens,
        ending: tuple[Ids, Ids],
        span: tuple[int, int],
        found: Found,
    ) -> None:
        """Tokens that leave a leaf after their byte `span[1]`; those with equal futures go on together."""
        dfa = self._callees[at.callee]
        assert isinstance(dfa, Dfa)
        groups: dict[tuple[int, bytes], list[int]] = {}
        for token, state in zip(ending[0].tolist(), ending[1].tolist(), strict=True):
            whole = tokens.texts[token]
            assert whole is not None
            read = whole[span[0] : span[1]] if at.texts else b""
            groups.setdefault((int(dfa.outcome[state]), read), []).append(token)
        for (outcome, read), group in groups.items():
            if outcome < 0:
                continue
            legal, following = self._leave(at, text + read, outcome)
            if legal:
                ids = np.array(group, np.int64)
                self._try(following, text + read, tokens, ids, span[1], found)

    def _step(self, at: Configuration, text: bytes, byte: int) -> tuple[bool, Configuration]:
        """One byte after `text`; leaves that can take no further byte are left at once."""
        while at is not None:
            callee = self._callees[at.callee]
            if isinstance(callee, Dfa):
                of = int(self._classes[at.callee][byte])
                following = int(callee.table[at.state, of]) if of >= 0 else -1  # type: ignore[index]
                if following >= 0 and self._last[at.callee][following]:
                    more = text + bytes([byte])
                    return self._leave(at, more, int(callee.outcome[following]))
                if following >= 0:
                    return True, self._in(at, following)
                outcome = int(callee.outcome[at.state])  # type: ignore[call-overload]
                left, at = self._leave(at, text, outcome) if outcome >= 0 else (False, at)
                if not left:
                    return False, None
                continue
            call, ending = self._expansion(at)
            target = self._arcs[at.callee, at.state].get(byte)
            if isinstance(target, Call):
                call = target
            elif target is not None:
                return self._go(at, text + bytes([byte]), target)
            if call is not None:
                at = self._enter(call.callee, call, at, len(text))
                if at is None:
                    return False, None
                continue
            left, at = self._leave(at, text, ending) if ending is not None else (False, at)
            if not left:
                return False, None
        return False, None

    def _go(self, at: Frame, text: bytes, target: Target | None) -> tuple[bool, Configuration]:
        if target is None:
            return False, None
        if isinstance(target, End):
            return self._leave(at, text, target.outcome)
        assert isinstance(target, Goto)
        key = (at.callee, target.key)
        if key not in self._alive:
            rule = self._callees[at.callee]
            assert not isinstance(rule, Dfa)
            self._alive[key] = rule.least(target.key) is not None
        return (True, self._in(at, target.key)) if self._alive[key] else (False, None)

    def _leave(self, at: Frame, text: bytes, outcome: int) -> tuple[bool, Configuration]:
        """End the innermost callee with an outcome and go on in its caller."""
        below, call = at.below, at.call
        if below is None:
            return True, DONE
        assert call is not None
        read = text[at.begun :]
        if call.judge is not None:
            outcome = call.judge(outcome, read)
            if outcome < 0:
                return False, None
        twin = False
        if call.same is not None:
            key = call.same(read)
            twin = key in below.seen
            seen = below.seen | {key}
            below = Frame(
                below.callee, below.state, below.call, below.below, below.begun, seen, texts=True
            )
        caller = self._callees[below.callee]
        assert not isinstance(caller, Dfa)
        return self._go(below, text, caller.resume(call.back, outcome, twin))

    def _enter(
        self, callee: Rule | Dfa, call: Call | None, below: Configuration, begun: int
    ) -> Configuration:
        if call is not None and call.live is not None:
            assert isinstance(callee, Dfa)
            living = (callee, call.live)
            if living not in self._live:
                self._live[living] = callee.restrict(call.live)
            callee = self._live[living]
        name: object = id(callee) if isinstance(callee, Dfa) else callee
        number = self._numbers.setdefault(name, len(self._callees))
        if number == len(self._callees):
            self._callees.append(callee)
            if isinstance(callee, Dfa):
                self._classes[number] = callee.class_of
                self._last[number] = (callee.outcome >= 0) & (callee.table < 0).all(axis=1)
        if callee.empty if isinstance(callee, Dfa) else callee.least(callee.start) is None:
            return None
        looked = call is not None and (call.same is not None or call.judge is not None)
        texts = looked or (below is not None and below.texts)
        start = 0 if isinstance(callee, Dfa) else callee.start
        return Frame(number, start, call, below, begun if texts else 0, texts=texts)

    def _expansion(self, at: Frame) -> tuple[Call | None, int | None]:
        key = (at.callee, at.state)
        if key not in self._ends:
            rule = self._callees[at.callee]
            assert not isinstance(rule, Dfa)
            expansion = rule.expand(at.state)
            arcs: tuple[tuple[bytes, Target | Call], ...] = (*expansion.arcs, *expansion.calls)
            self._arcs[key] = {byte: target for taken, target in arcs for byte in taken}
            self._ends[key] = expansion.call, expansion.outcome
        return self._ends[key]

    @staticmethod
    def _in(at: Frame, state: Hashable) -> Frame:
        return Frame(at.callee, state, at.call, at.below, at.begun, at.seen, at.texts)
