"""The byte machine: a lazy, deterministic push-down automaton built from rules.

Does: number the states of rules when text first reaches them, fill in their rows in the tables, and embed leaves as
copies. Does not: read text (`byte_step`), follow one output (`cursor`), know JSON.

One machine serves many sequences and threads: tables only grow, under a lock, and compiled code works on snapshots.
"""

from collections.abc import Hashable
from dataclasses import dataclass, field
from threading import RLock
from typing import Final

import numpy as np

from ..automata import Dfa
from ..base.array_types import Ints, Longs
from ..contract.errors import TablesFull, Unsatisfiable
from ..contract.work import EXPANSION, MOVE, TABLE_PART, spend
from .blocks import enter
from .lazy_tables import (
    ALPHABET,
    AS_WRITTEN,
    CALLED,
    DEAD,
    ENDED,
    FINAL,
    FIRST,
    JUDGED,
    LEAF,
    LEAVE,
    LOW,
    OUTCOME,
    REMEMBERS,
    ROW,
    SIZE,
    UNRESOLVED,
    GrowingTables,
    Tables,
)
from .leaf import Leaf
from .rule import Call, End, Rule, Target, as_written

MOST_BYTES: Final = 24 << 20
# The row of a state that no text has reached.
_UNKNOWN: Final[Ints] = np.array((-1, -1, -1, -1, 0, -1), np.int32)
# States made by `renew`: a long text may need one for each character.
_MOST_RENEWED: Final = 4096
# Estimates of memory: for a state of a rule, a call site, and the data shared by all rules of a constraint.
_STATE_BYTES: Final = 500
_SITE_BYTES: Final = 600
_RULES_BYTES: Final = 30_000
# Times `most_bytes` that may be added for leaves: their construction has its own bound.
_LEAVES_MORE: Final = 6
# Outcomes of a leaf that have room at a new call site, unless all count; few of the names of a large object end there.
_ROOM: Final = 64


@dataclass(frozen=True, slots=True)
class Site:
    """A call site: the calling rule, the call, and the first state of its callee."""

    caller: Rule
    call: Call
    entry: int
    _refusals: dict[int, bool] = field(default_factory=dict, compare=False, repr=False)

    def refuses_twin(self, outcome: int) -> bool:
        """Whether a text with this outcome is refused here if, and only if, it was seen before."""
        known = self._refusals.get(outcome)
        if known is None:
            known = self._refusals[outcome] = self._find_refusal(outcome)
        return known

    def _find_refusal(self, outcome: int) -> bool:
        if self.call.live is not None and outcome not in self.call.live:
            return False
        resume, back = self.caller.resume, self.call.back
        return resume(back, outcome, True) is None and resume(back, outcome, False) is not None  # noqa: FBT003


class _Outcomes:
    """The outcomes of rules, numbered in the order of appearance."""

    def __init__(self) -> None:
        self.meanings: list[int] = []
        self._numbers: dict[int, int] = {}

    def number(self, outcome: int) -> int:
        """The number of an outcome."""
        number = self._numbers.setdefault(outcome, len(self.meanings))
        if number == len(self.meanings):
            self.meanings.append(outcome)
        return number


@dataclass(slots=True)
class _Special:
    """States and call sites that need more than a look-up.

    `needless`: the states that no short end needs (see `Goto`). `renewing`: the sites with `Call.renew`; `renewed`
    counts the states made for them. `unique_items`: by rule and entry, a call site of the rule that reads items that
    must be unique (see `exhaustion`). `spelled_apart`: whether an escape leads to another state than a character does
    with which a string begins, by state and character; `endless_strings`: by the entry of an item, whether it is a
    scalar, and the strings that begin with an escape are infinitely many (see `item_search`). `reordered`: by call site
    of an item, whether members in it may come in any order (see `member_orders`). `prefixless`: (first state, outcome)
    of texts of which none has a dead prefix, wherever it may be read later (see `dead_prefixes`).
    """

    needless: set[int] = field(default_factory=set)
    renewing: set[int] = field(default_factory=set)
    renewed: int = 0
    unique_items: dict[Rule | Dfa, dict[int, int]] = field(default_factory=dict)
    spelled_apart: dict[tuple[int, bytes], bool] = field(default_factory=dict)
    endless_strings: dict[int, bool] = field(default_factory=dict)
    reordered: dict[int, bool] = field(default_factory=dict)
    prefixless: set[tuple[int, int]] = field(default_factory=set)


class Machine:
    """A rule or leaf and everything it calls, expanded as far as texts have reached."""

    def __init__(self, root: Rule | Dfa, most_bytes: int = MOST_BYTES) -> None:
        """`most_bytes` bounds the rows of the tables; copies of leaves are allowed in addition, up to a multiple of it.

        Raises:
            Unsatisfiable: no output is legal.
        """
        self.root = root
        self.most_bytes = most_bytes
        self.leaves: list[Leaf] = []
        self.sites: list[Site | None] = [None]
        self.special = _Special()
        self._growing = GrowingTables()
        self._lock = RLock()
        self._keys: list[tuple[Rule, Hashable] | None] = []
        self._numbers: dict[Hashable, int] = {}
        self._outcomes = _Outcomes()
        self._leaf_bytes = 0
        no_bytes = self._growing.alphabet(np.zeros(256, np.int32))
        self._growing.states.append((self._growing.cells.extend([DEAD]), no_bytes, -1, -1, 0, -1))
        self._keys.append(None)
        self._growing.sites.append((FINAL, 0, 0, 0, -1, 0))
        if (isinstance(root, Dfa) and root.empty) or _hopeless(root):
            raise Unsatisfiable("no output can match this constraint")
        self.start = self._entry(root, chosen=False)

    @property
    def tables(self) -> Tables:
        """The current snapshot."""
        return self._growing.tables

    @property
    def states(self) -> int:
        """Number of states made so far, including those of leaves."""
        return self._growing.states.count

    @property
    def size_bytes(self) -> int:
        """Estimated memory held: the written part of the tables, leaves, rules and their states."""
        leaves = sum(leaf.held_bytes for leaf in list(self.leaves))
        named = _STATE_BYTES * len(self._numbers) + _SITE_BYTES * len(self.sites)
        return self._growing.held_bytes + leaves + named + _RULES_BYTES

    def expand(self, state: int) -> None:
        """Make the row of a state.

        Raises:
            TablesFull: the tables have reached their limit.
        """
        with self._lock:
            growing = self._growing
            if growing.states.array.item(state, ROW) >= 0:
                return
            used = _used_bytes(self)
            named = self._keys[state]
            assert named is not None
            rule, key = named
            expansion = rule.expand(key)
            block = expansion.block
            made = 0 if block is None else len(block.keys)
            spend(EXPANSION + MOVE * (len(expansion.arcs) + len(expansion.calls) + made))
            if block is not None:
                numbered = self._outcomes.number
                enter(growing, self._numbers, self._keys, numbered, rule, block)
            # Class 0: the bytes without an arc.
            row = [DEAD if expansion.outcome is None else LEAVE]
            if expansion.call is not None:
                row = [self._call(rule, expansion.call)]
            row += [self._target(rule, target) for _, target in expansion.arcs]
            row += [self._call(rule, call) for _, call in expansion.calls]
            if expansion.outcome is not None:
                growing.states.array[state, OUTCOME] = self._outcomes.number(expansion.outcome)
            growing.states.array[state, ALPHABET] = growing.partition(
                tuple([taken for taken, _ in (*expansion.arcs, *expansion.calls)])
            )
            growing.states.array[state, ROW] = growing.cells.extend(row)
            spend((growing.used_bytes - used) // TABLE_PART)

    def _target(self, rule: Rule, target: Target | None) -> int:
        if target is None:
            return DEAD
        if isinstance(target, End):
            return ENDED - self._outcomes.number(target.outcome)
        number = self._state(rule, target.key, target.sure)
        if target.soon and number >= 0:
            self.expand(number)
        if target.needless:
            self.special.needless.add(number)
        return number

    def _state(self, rule: Rule, key: Hashable, sure: bool) -> int:
        """The number of a state of a rule; `DEAD` if no end can be reached from it."""
        name = (rule, key)
        number = self._numbers.get(name)
        if number is None:
            number = DEAD
            if sure or rule.least(key) is not None:
                number = self._growing.states.append(_UNKNOWN)
                self._keys.append(name)
            self._numbers[name] = number
        return number

    def _entry(self, callee: Rule | Dfa, chosen: bool) -> int:
        """The first state of a rule or leaf. `chosen`: see `_leaf`."""
        if isinstance(callee, Dfa):
            return self._leaf(callee, chosen)
        return self._state(callee, callee.start, sure=False)

    def _call(self, rule: Rule, call: Call) -> int:
        """The move that enters a new call site; `DEAD` if the callee has no text."""
        if _hopeless(call.callee):
            return DEAD
        flags = 0
        if call.same is not None:
            flags |= REMEMBERS | (AS_WRITTEN if call.same is as_written else 0)
        if call.judge is not None:
            flags |= JUDGED
        entry, live, low, room = self._entry(call.callee, chosen=call.live is not None), -1, 0, 1
        if isinstance(call.callee, Dfa):
            room = call.callee.outcomes[-1] + 1
        if call.live is not None and _all_count(call):
            low = min(call.live)
            room = min(room - low, _ROOM)
            first = self._growing.returns.fill(2 * room, UNRESOLVED)
        elif call.live is not None:
            assert isinstance(call.callee, Dfa)
            counts = np.zeros(room, np.uint8)
            counts[list(call.live)] = 1
            low = min(call.live)
            room = min(room - low, _ROOM)
            returns = np.full((room, 2), UNRESOLVED, np.int32)
            returns[counts[low : low + room] == 0] = DEAD
            first = self._growing.returns.extend(returns.reshape(-1))
            leaf = self.leaves[self._growing.states.array[entry, LEAF]]
            # `returns` refuses the ends of the other outcomes.
            if leaf.rest not in call.live:
                alive = leaf.alive(counts)
                live = -1 if alive[~leaf.over].all() else self._growing.alive(alive)
        else:
            first = self._growing.returns.fill(2 * room, UNRESOLVED)
        self.sites.append(Site(rule, call, entry))
        if call.renew is not None:
            self.special.renewing.add(len(self.sites) - 1)
        number = self._growing.sites.append((entry, first, room, flags, live, low))
        if flags & (REMEMBERS | JUDGED) == REMEMBERS and not isinstance(call.callee, Dfa):
            self.special.unique_items.setdefault(rule, {})[entry] = number
        return CALLED - number

    def resolve(self, site: int, outcome: int, twin: bool) -> None:
        """Fill in where the rule of a call site goes on after an outcome of its callee."""
        with self._lock:
            place = self.sites[site]
            assert place is not None
            place_in = outcome - int(self._growing.sites.array[site, LOW])
            if place_in >= self._growing.sites.array[site, SIZE]:
                self._growing.enlarge(site, place_in + 1)
            target = None
            if place.call.live is None or outcome in place.call.live:
                target = place.caller.resume(place.call.back, self.meaning(site, outcome), twin)
            at = int(self._growing.sites.array[site, FIRST]) + 2 * place_in + twin
            moved = self._target(place.caller, target)
            self._growing.returns.array[at] = moved

    def renew(self, site: int, text: bytes) -> int:
        """The state of the caller that replaces a state of a leaf that has read `text`, or -1; see `Call.renew`."""
        with self._lock:
            place = self.sites[site]
            assert place is not None
            assert place.call.renew is not None
            key = place.call.renew(text)
            if key is None:
                return -1
            state = self._numbers.get((place.caller, key))
            if state is None and self.special.renewed < _MOST_RENEWED:
                self.special.renewed += 1
                return self._state(place.caller, key, sure=True)
            return -1 if state is None else state

    def meaning(self, site: int, outcome: int) -> int:
        """The callee's own outcome behind the number `outcome`; only outcomes of rules are renumbered."""
        place = self.sites[site]
        if place is None or isinstance(place.call.callee, Dfa):
            return outcome
        return self._outcomes.meanings[outcome]

    def number(self, site: int, outcome: int) -> int:
        """The inverse of `meaning`."""
        place = self.sites[site]
        if place is None or isinstance(place.call.callee, Dfa):
            return outcome
        return self._outcomes.number(outcome)

    def _leaf(self, dfa: Dfa, chosen: bool) -> int:
        """The first state of the copy of a leaf; the first call makes the copy.

        `chosen`: only some outcomes count where it is called. Such calls have a copy of their own, because its masks
        depend on the outcomes.
        """
        name = (dfa.fingerprint, chosen)
        base = self._numbers.get(name)
        if base is not None:
            return base
        growing, base = self._growing, self._growing.states.count
        leaf = Leaf(dfa, base, chosen)
        alphabet = growing.alphabet(leaf.alphabet)
        cells, block = leaf.copied(growing.cells.count, alphabet, len(self.leaves))
        growing.cells.extend(cells.reshape(-1))
        growing.states.extend(block)
        self._keys.extend([None] * dfa.states)
        self._leaf_bytes += cells.nbytes + block.nbytes
        self.leaves.append(leaf)
        self._numbers[name] = base
        return base

    def name(self, state: int) -> tuple[Rule, Hashable] | None:
        """The rule and key of a state; None for states of leaves and for the final state."""
        return self._keys[state]


def newest_addresses(machine: Machine) -> Longs:
    """The addresses of the current snapshot, always in the same array: for loops that hold the interpreter lock.

    While such a loop runs, no thread takes another snapshot.
    """
    return machine._growing.newest


def state_of(machine: Machine, rule: Rule, key: Hashable) -> int:
    """The number of a state from which an end surely can be reached.

    Raises:
        TablesFull: the state is new, and the tables have reached their limit.
    """
    with machine._lock:
        if (rule, key) not in machine._numbers:
            _used_bytes(machine)
            spend(EXPANSION)
        return machine._state(rule, key, sure=True)


def _used_bytes(machine: Machine) -> int:
    """Size of the rows in the tables of a machine, which have not reached their limit.

    Raises:
        TablesFull: they have.
    """
    used = machine._growing.used_bytes
    if used > machine.most_bytes + min(machine._leaf_bytes, _LEAVES_MORE * machine.most_bytes):
        raise TablesFull(f"this constraint needs tables of more than {machine.most_bytes} bytes")
    return used


def returned(machine: Machine, site: int, outcome: int, *, twin: bool) -> int:
    """Where the rule of a call site goes on after an outcome of its callee, filled in if need be."""
    tables = machine.tables
    at = outcome - tables.sites.item(site, LOW)
    if at < 0:
        return DEAD
    if at < tables.sites.item(site, SIZE):  # read before the offset: see `GrowingTables.enlarge`
        found = tables.returns.item(tables.sites.item(site, FIRST) + 2 * at + twin)
        if found != UNRESOLVED:
            return found
    machine.resolve(site, outcome, twin)
    tables = machine.tables
    return tables.returns.item(tables.sites.item(site, FIRST) + 2 * at + twin)


def _all_count(call: Call) -> bool:
    """Whether all outcomes of a leaf count where it is called, as with the first name of an object."""
    assert isinstance(call.callee, Dfa)
    outcomes, live = call.callee.outcomes, call.live
    if isinstance(live, frozenset):
        return live.issuperset(outcomes)
    return live is None or (live[0] <= outcomes[0] and outcomes[-1] <= live[-1])


def _hopeless(callee: Rule | Dfa) -> bool:
    return callee.empty if isinstance(callee, Dfa) else callee.least(callee.start) is None
