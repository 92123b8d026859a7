"""What a front end hands to the machine: rules that recognise one piece of text each, expanded state by state.

Does: the vocabulary between front ends (JSON Schema, grammars) and `machine`: rules, leaves, arcs, calls, ends,
outcomes. Does not: keep tables or follow text (`machine`), build leaves (`automata`, `regex`, `leaves`).

A rule reads bytes from its start state until it *ends* with an **outcome**, a small integer that says what the text was
(for a value judged against several schemas at once: the bit vector of those that hold). A caller goes on where its
`resume` says for that outcome, so Boolean structure over nested values is plain branching in the caller: a
determinised visibly pushdown automaton (Alur and Madhusudan, "Visibly pushdown languages", 2004).
"""

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Protocol

from ..automata import Dfa

UNKNOWN: Final = -1  # from `Rule.least`: the rule cannot tell cheaply, the machine has to search


@dataclass(frozen=True, slots=True)
class Goto:
    """Go on in another state of the same rule.

    `soon`: text that comes here mostly goes on within the same token, so the state is expanded together with the one
    before it. `sure`: an end can be reached from there, so `least` need not be asked.
    """

    key: Hashable
    soon: bool = False
    sure: bool = False


@dataclass(frozen=True, slots=True)
class End:
    """The rule ends here, with this outcome (0 or more)."""

    outcome: int


Target = Goto | End


class Comparison(Protocol):
    """What is known of a function `Call.same` without asking it: how texts with equal keys are written.

    All answers may err on one side: a text that could be equal is never said not to be.
    """

    def alike(self, begun: bytes, seen: bytes) -> bool:
        """Whether a text that begins so may come to have the key of a whole one."""
        ...

    def rest(self, begun: bytes, seen: bytes) -> bytes | None:
        """How a text goes on that begins so and gets the key of `said`, if no backslash follows; None: any way."""
        ...

    def ends(self, begun: bytes, ahead: Iterable[bytes]) -> Iterator[bytes | None]:
        """The whole text that has begun so, for each piece ahead in which it may end; None: it does not end there."""
        ...

    def weight(self, text: bytes) -> Hashable | None:
        """Something that is the same for all whole texts with one key, found without asking for it; None: unknown."""
        ...


@dataclass(frozen=True, slots=True)
class Call:
    """Another rule or a leaf reads the next byte and on; afterwards `resume` of the caller says where to go on.

    `same`: the text the callee read is remembered in this activation of the caller under the key `same(text)`;
    `twin` is true when an earlier call of this activation left an equal key. None: nothing is remembered and `twin` is
    always false. `as_written` compares bytes and costs nothing in masks; other functions are asked at each end.
    `judge`: the callee's outcome is replaced by `judge(outcome, text)` (-1: the text is refused); for what no automaton
    can tell. Asked at each possible end, so it costs; text refused this way may leave a dead end.
    `comparison`: what is known of texts with equal keys beforehand; None: nothing.
    `live`: the outcomes of a leaf that count at this place; None: all. Only texts with one of them are read, as if the
    leaf were `restrict`ed to them, but all places share one leaf and its tables.
    `usual`: an outcome that the callee will probably end with (`bounds`); None: nothing is known of that.
    `renew`: asked with the begun text after each token that ends within the callee, a leaf whose text is not looked
    at: a state of the caller from which all that can follow is read as well; None: to go on within the leaf.
    """

    callee: "Rule | Dfa"
    back: Hashable
    same: Callable[[bytes], Hashable] | None = None
    judge: Callable[[int, bytes], int] | None = None
    live: frozenset[int] | None = None
    comparison: Comparison | None = None
    usual: int | None = None
    renew: Callable[[bytes], Hashable | None] | None = None


def as_written(text: bytes) -> Hashable:
    """The memory key of texts that are equal only when their bytes are."""
    return text


@dataclass(frozen=True, slots=True)
class Expansion:
    """All that can happen in one state.

    `arcs`: pairs of (the byte values, as `bytes`, and the target after reading one of them); no byte twice.
    `calls`: pairs of (byte values, the call entered on one of them); the callee, which must be able to begin with each,
    reads the byte. No byte of `arcs`.
    `call`: entered on every byte no arc or other call takes; the callee reads that byte.
    `outcome`: the rule may end here *without* reading a byte; it does when no arc takes the next byte (longest match,
    as numbers need) or the output ends. A state has `call` or an outcome, never both.
    """

    arcs: tuple[tuple[bytes, Target], ...] = ()
    call: Call | None = None
    outcome: int | None = None
    calls: tuple[tuple[bytes, Call], ...] = ()


class Rule(Protocol):
    """One rule. Equal rules (`==`, `hash`) are the same rule: its states are made once and shared.

    States are named by hashable keys that mean something to the rule alone. All methods are pure. Every state that
    an arc or `resume` offers must be able to reach an end its callers can use, or `least` must say None for it: the
    machine drops such arcs, so what a mask lets through can always be completed.
    """

    @property
    def start(self) -> Hashable:
        """Key of the first state."""
        ...

    def expand(self, key: Hashable) -> Expansion:
        """What can happen in the state `key`. Asked once a state, when text first reaches it."""
        ...

    def resume(self, back: Hashable, outcome: int, twin: bool) -> Target | None:
        """Where to go on when a call made with `back` has ended with `outcome`; None refuses that end.

        The callee's end that is refused must not be its only one: filter leaves by outcome
        (`Dfa.restrict`) and rules by the outcomes asked of them, so that nothing is begun that cannot be used.
        """
        ...

    def least(self, key: Hashable) -> int | None:
        """Bytes that suffice to reach a useful end from `key` (0 if it is one; the fewest if that is cheap to tell).

        None: no such end can be reached. `UNKNOWN`: the machine searches (`reach`), expanding as much as it needs.
        """
        ...
