"""Rules: the interface between the front ends (JSON Schema, grammars) and the byte machine.

Does: define rules, arcs, calls, ends and outcomes. A rule recognises one piece of text, and is expanded state by state.
Does not: keep tables (`machine`), read text (`byte_step`), build leaves (`automata`, `regex`, `leaves`).

A rule reads bytes from its start state until it *ends* with an **outcome**, a small integer that classifies the text
(for a value checked against several schemas at once: the bit vector of the schemas that hold). `resume` of the caller
gives the state after that outcome, so Boolean combinations over nested values are branches in the caller: a
determinised visibly pushdown automaton (Alur and Madhusudan, "Visibly pushdown languages", 2004).
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from ..automata import Dfa
from ..base.array_types import Flags, Ints

UNKNOWN: Final = -1  # from `Rule.least`: the rule has no cheap answer, so a search is needed


@dataclass(frozen=True, slots=True)
class Goto:
    """Go on in another state of the same rule.

    `soon`: most text passes through this state within one token, so it is expanded together with the state before it.
    `sure`: an end can be reached from it, so `least` need not be asked.
    `needless`: a short end never goes this way, as through optional white space; searches leave it out. Only such arcs
    lead to this state.
    """

    key: Hashable
    soon: bool = False
    sure: bool = False
    needless: bool = False


@dataclass(frozen=True, slots=True)
class End:
    """The rule ends here, with this outcome (0 or more)."""

    outcome: int


Target = Goto | End


class Comparison(Protocol):
    """Facts about a function `Call.same` that need no call of it: how texts with equal keys are written.

    The answers are conservative: they may report texts as possibly equal that are not, never the reverse.
    `any_order`: whether equal objects may be written with their members in different orders.
    """

    @property
    def any_order(self) -> bool: ...

    def alike(self, begun: bytes, seen: bytes) -> bool:
        """Whether a text that begins with `begun` may get the key of the whole text `seen`."""
        ...

    def rest(self, begun: bytes, seen: bytes) -> bytes | None:
        """The rest of a text that begins with `begun` and gets the key of `seen`, if without backslash; None: any."""
        ...

    def ends(self, begun: bytes, ahead: Iterable[bytes]) -> Iterator[bytes | None]:
        """For each piece in `ahead`, the whole text that begins with `begun` and ends in it; None: none ends there."""
        ...

    def weight(self, text: bytes) -> Hashable | None:
        """A cheap value that is equal for all whole texts with the same key; None: unknown."""
        ...


@dataclass(frozen=True, slots=True)
class Call:
    """A call: another rule or a leaf reads from the next byte on; afterwards the caller goes on by `resume`.

    `same`: the text of the callee is remembered in this activation of the caller under the key `same(text)`; `twin` is
    true if an earlier call of this activation left an equal key. None: nothing is remembered and `twin` is always
    false. `as_written` compares bytes and costs nothing in masks; other functions are called at each end.
    `judge`: the callee's outcome is replaced by `judge(outcome, text)` (-1: the text is refused), for conditions that
    no automaton can check. It is called at each possible end, so it is slow, and a refused text may leave a dead end.
    `comparison`: facts about texts with equal keys; None: no facts.
    `live`: the outcomes of a leaf that count at this call; None: all. Only texts with one of them are read, as if the
    leaf were `restrict`ed to them, but all calls share one leaf and its tables. Ranges take no memory for each outcome.
    `usual`: an outcome with which the callee will probably end (`bounds`); None: unknown.
    `due`: outcomes of a leaf that a short end probably needs; a search for an end tries them before all others.
    `renew`: for a leaf with a text that is neither compared nor judged. It is called with the text so far, after each
    token that ends within the leaf, and returns a state of the caller that reads the same continuations; None: stay in
    the leaf.
    """

    callee: "Rule | Dfa"
    back: Hashable
    same: Callable[[bytes], Hashable] | None = None
    judge: Callable[[int, bytes], int] | None = None
    live: frozenset[int] | range | None = None
    comparison: Comparison | None = None
    usual: int | None = None
    due: frozenset[int] = frozenset()
    renew: Callable[[bytes], Hashable | None] | None = None


def as_written(text: bytes) -> Hashable:
    """The key of texts that are equal only if their bytes are equal."""
    return text


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """States of one rule that are expanded together, because one by one would take long.

    `keys`: their keys; none has a call, or an outcome without reading. State i has the arcs from `first[i]` to
    `first[i + 1]` - 1: on the byte `taken`, to the state with the index `target`. If `outcome[i]` is not -1, the byte
    `close` ends the rule in state i with that outcome. `whole[i]`: whether these are all moves of state i; otherwise it
    has no arcs here, and is expanded when text reaches it.
    """

    keys: Sequence[Hashable]
    first: Ints
    taken: Ints
    target: Ints
    close: int
    outcome: Ints
    whole: Flags


@dataclass(frozen=True, slots=True)
class Expansion:
    """All moves of one state.

    `arcs`: pairs of (byte values, as `bytes`; the target after reading one of them); no byte twice.
    `calls`: pairs of (byte values; the call entered on one of them). The callee reads the byte, and must be able to
    begin with each of them. No byte of `arcs`.
    `call`: entered on every byte that has no arc or other call; the callee reads that byte.
    `outcome`: the rule may end here *without* reading a byte. It does so if the next byte has no arc (longest match,
    as numbers need) or the output ends. A state has `call` or an outcome, never both.
    `block`: states that follow, expanded together with this one; None: there are none.
    """

    arcs: tuple[tuple[bytes, Target], ...] = ()
    call: Call | None = None
    outcome: int | None = None
    calls: tuple[tuple[bytes, Call], ...] = ()
    block: Block | None = None


class Rule(Protocol):
    """One rule. Equal rules (`==`, `hash`) are the same rule: its states are made once and shared.

    States have hashable keys that only the rule can interpret. All methods are pure. From every state that an arc or
    `resume` returns, an end that the callers accept must be reachable, or `least` must return None for it. The machine
    drops such arcs, so every text that a mask allows can be completed.
    """

    @property
    def start(self) -> Hashable:
        """Key of the first state."""
        ...

    def expand(self, key: Hashable) -> Expansion:
        """The moves of the state `key`. Called once for each state, when text first reaches it."""
        ...

    def resume(self, back: Hashable, outcome: int, twin: bool) -> Target | None:
        """The target after a call made with `back` has ended with `outcome`; None refuses that end.

        A refused end must not be the only one of the callee: filter leaves by outcome (`Dfa.restrict`) and rules by
        the outcomes requested, so that no text is begun that cannot be used.
        """
        ...

    def least(self, key: Hashable) -> int | None:
        """Bytes that suffice to reach an end that callers accept from `key`: 0 at such an end, the minimum if cheap.

        None: no such end can be reached. `UNKNOWN`: an end can be reached, but its distance takes a search.
        """
        ...
