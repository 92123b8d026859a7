"""Export of a machine as device tables: all its states are expanded, off the step path and within limits.

Does: make `DeviceTables`, or say why a machine cannot be exported. Does not: change the machine that matchers use.

Machines that a device cannot run stay on the host: machines with texts that are remembered or judged (`Call.same`,
`Call.judge`), and machines with too many states, for example objects with many names in any order.
"""

import time
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from ..automata import Dfa
from ..base.array_types import Bytes, Ints, Longs
from ..contract.errors import ConstraintTooLarge
from ..machine.lazy_tables import (
    ALPHABET,
    CALLED,
    DEAD,
    ENDED,
    ENTRY,
    FINAL,
    FLAGS,
    LEAF,
    LEAVE,
    LIVE,
    OUTCOME,
    ROW,
)
from ..machine.machine import Machine, returned
from ..machine.rule import Rule
from .device_tables import (
    CALLS,
    END_COLUMN,
    ENDS,
    LEAVES,
    NO_BYTE,
    STAY_COLUMN,
    DeviceTables,
    HostOnly,
    code,
)
from .lookahead import lookahead
from .table_step import Codes

LONGEST_CHAIN: Final = 16


@dataclass(frozen=True, slots=True)
class ExportLimits:
    """The limits of an export: states, entries of `cells`, seconds of wall-clock time."""

    states: int = 1 << 16
    cells: int = 1 << 23
    seconds: float = 2.0


def export(root: Rule | Dfa, limits: ExportLimits | None = None) -> DeviceTables | HostOnly:
    """Export `root` with everything it calls, or say why that is not possible. Works on a machine of its own."""
    work = _Export(Machine(root), limits or ExportLimits())
    try:
        return work.run()
    except _NotExportable as stays:
        return HostOnly(str(stays))
    except ConstraintTooLarge as error:
        return HostOnly(error.message)


class _NotExportable(Exception):
    """The machine cannot be exported; the message says why."""


@dataclass(slots=True)
class _Block:
    """Rows of consecutive states with one alphabet: codes `cells` int32 [states, classes], `ends` int32 [states]."""

    first: int
    alphabet: int
    cells: Ints
    ends: Ints


@dataclass(slots=True, eq=False)
class _Export:
    """One export in progress. States and sites have one number in the machine and another one in the tables.

    `numbers`: number in the tables, by number in the machine and the part of the leaf that is live (`LIVE`, -1: all);
    `count`: states of the tables so far. `todo`: states of the machine without rows yet; `blocks`: the rows made.

    `outcomes`: the outcomes with which a rule can end; `callers`: the machine's call sites of a rule. By site of the
    machine, in the order of the tables: `returned`, the outcomes with which the callee can return; `entries`, its first
    state in the tables. `calls`: by state of the tables, the first states of the callees.
    """

    machine: Machine
    limits: ExportLimits
    numbers: dict[tuple[int, int], int] = field(default_factory=dict)
    blocks: list[_Block] = field(default_factory=list)
    todo: list[int] = field(default_factory=list)
    count: int = 0
    outcomes: dict[Rule, set[int]] = field(default_factory=lambda: defaultdict(set))
    callers: dict[Rule, list[int]] = field(default_factory=lambda: defaultdict(list))
    returned: dict[int, list[int]] = field(default_factory=dict)
    entries: dict[int, int] = field(default_factory=dict)
    calls: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))

    def run(self) -> DeviceTables:
        """Expand everything that can be reached, and make the tables."""
        begun = time.monotonic()
        start = self._state(self.machine.start, -1)
        while self.todo:
            self._expand(self.todo.pop())
            if self.count > self.limits.states:
                raise _NotExportable(f"it has more than {self.limits.states} states")
            if time.monotonic() - begun > self.limits.seconds:
                raise _NotExportable(f"its states took more than {self.limits.seconds} s to make")
        chain = self._chain()
        returns, firsts = self._returns()
        places = {site: number for number, site in enumerate(self.entries)}
        cells, column_of = self._cells(places)
        sites = [[1 + entry, firsts[site]] for site, entry in self.entries.items()]
        table = np.array(sites, np.int32).reshape(-1, 2)
        ahead = lookahead(Codes(cells, table, returns), column_of, start)
        return DeviceTables(cells, column_of, table, returns, start, chain, ahead)

    def _state(self, state: int, live: int) -> int:
        """The number of a state in the tables; its row is made later, but the rows of a leaf all at once."""
        number = self.numbers.get((state, live))
        if number is None:
            leaf = int(self.machine.tables.states[state, LEAF])
            if state != FINAL and leaf >= 0:
                self._leaf(leaf, live)
                return self.numbers[state, live]
            number = self.numbers[state, live] = self.count
            self.count += 1
            self.todo.append(state)
        return number

    def _leaf(self, number: int, live: int) -> None:
        """Make the rows of all states of a leaf that can be reached with the `live` outcomes."""
        leaf, tables = self.machine.leaves[number], self.machine.tables
        size = leaf.dfa.states
        rows = tables.states[leaf.base : leaf.base + size]
        width = leaf.dfa.table.shape[1] + 1
        first = int(rows[0, ROW])
        cells = tables.cells[first : first + size * width].reshape(size, width)
        inside = cells >= 0
        target = np.where(inside, cells - leaf.base, 0)
        if live >= 0:
            alive = tables.live[live : live + size] != 0
            inside &= alive[target]
        kept = np.zeros(size, np.bool_)
        kept[0] = True
        fresh = np.zeros(1, np.int64)
        while len(fresh):
            near = np.unique(target[fresh][inside[fresh]])
            fresh = near[~kept[near]]
            kept[fresh] = True
        at = np.flatnonzero(kept)
        numbers = np.full(size, -1, np.int64)
        numbers[at] = self.count + np.arange(len(at))
        codes = np.where(inside, 1 + numbers[target], 0)
        codes = np.where(cells <= ENDED, _codes(ENDS, ENDED - cells), codes)
        outcome = rows[:, OUTCOME]
        ends = np.where(outcome >= 0, _codes(ENDS, outcome), 0)
        codes = np.where(cells == LEAVE, _codes(LEAVES, outcome)[:, None], codes)
        block = (codes[at].astype(np.int32), ends[at].astype(np.int32))
        self.blocks.append(_Block(self.count, int(rows[0, ALPHABET]), *block))
        self.numbers.update(((leaf.base + int(s), live), int(numbers[s])) for s in at)
        self.count += len(at)

    def _expand(self, state: int) -> None:
        """Make the row of a state of a rule."""
        self.machine.expand(state)
        tables = self.machine.tables
        row, alphabet, outcome = tables.states[state, : OUTCOME + 1].tolist()
        classes = int(tables.alphabets[alphabet].max()) + 1
        found = np.zeros((1, classes), np.int32)
        named = self.machine.name(state)
        owner = named[0] if named is not None else None
        if outcome >= 0:
            self._ended(owner, outcome)
        for c, cell in enumerate(tables.cells[row : row + classes].tolist()):
            if cell >= 0:
                found[0, c] = 1 + self._state(cell, -1)
            elif cell == LEAVE:
                found[0, c] = code(LEAVES, outcome)
            elif cell <= CALLED:
                # The number of the site in the machine; `_cells` renumbers it.
                found[0, c] = code(CALLS, CALLED - cell)
                self._called(CALLED - cell, self.numbers[state, -1])
            elif cell != DEAD:
                found[0, c] = code(ENDS, ENDED - cell)
                self._ended(owner, ENDED - cell)
        end = code(ENDS, outcome) if outcome >= 0 else 0
        number = self.numbers[state, -1]
        self.blocks.append(_Block(number, alphabet, found, np.array([end], np.int32)))

    def _called(self, site: int, state: int) -> None:
        """Record that a state calls at a site."""
        if site not in self.entries:
            row = self.machine.tables.sites[site].tolist()
            if row[FLAGS]:
                raise _NotExportable(
                    "some of its texts are compared with others, or judged when they end"
                )
            place = self.machine.sites[site]
            assert place is not None
            callee = place.call.callee
            self.entries[site] = self._state(row[ENTRY], row[LIVE])
            self.returned[site] = []
            if isinstance(callee, Dfa):
                for outcome in callee.outcomes:
                    self._return(site, outcome)
            else:
                self.callers[callee].append(site)
                for outcome in sorted(self.outcomes[callee]):
                    self._return(site, outcome)
        self.calls[state].add(self.entries[site])

    def _ended(self, owner: Rule | None, outcome: int) -> None:
        """Record that a rule can end with an outcome."""
        if owner is not None and outcome not in self.outcomes[owner]:
            self.outcomes[owner].add(outcome)
            for site in list(self.callers[owner]):
                self._return(site, outcome)

    def _return(self, site: int, outcome: int) -> None:
        """Record that a callee can return to a site with an outcome."""
        if outcome in self.returned[site]:
            return
        self.returned[site].append(outcome)
        target = returned(self.machine, site, outcome, twin=False)
        if target >= 0:
            self._state(target, -1)
        elif target <= ENDED:
            place = self.machine.sites[site]
            assert place is not None
            self._ended(place.caller, ENDED - target)

    def _returns(self) -> tuple[Ints, dict[int, int]]:
        """(the codes after every outcome at every site, the offset of each site's codes)."""
        codes: list[int] = []
        firsts = {}
        for site, known in self.returned.items():
            here = [0] * (max(known, default=-1) + 1)
            for outcome in known:
                target = returned(self.machine, site, outcome, twin=False)
                if target >= 0:
                    here[outcome] = 1 + self.numbers[target, -1]
                elif target <= ENDED:
                    here[outcome] = code(ENDS, ENDED - target)
            firsts[site] = len(codes)
            codes += here
        return np.array(codes, np.int32), firsts

    def _chain(self) -> int:
        """The most calls in a row that one byte can need."""
        depth: dict[int, int] = {}
        for begin in list(self.calls):
            stack = [(begin, False)]
            open_states = set()
            while stack:
                state, done = stack.pop()
                if done:
                    open_states.discard(state)
                    depth[state] = 1 + max((depth.get(s, 0) for s in self.calls[state]), default=0)
                elif state not in depth and state in self.calls:
                    if state in open_states:
                        raise _NotExportable(
                            "its rules may call one another without reading a byte"
                        )
                    open_states.add(state)
                    stack.append((state, True))
                    stack += [(s, False) for s in self.calls[state] if s not in depth]
        longest = max(depth.values(), default=0)
        if longest > LONGEST_CHAIN:
            raise _NotExportable(f"one byte may need {longest} calls")
        return longest

    def _cells(self, places: dict[int, int]) -> tuple[Ints, Bytes]:
        """(cells by column, the column of each byte); `places`: the number in the tables of each site."""
        alphabets = self.machine.tables.alphabets
        used = sorted({block.alphabet for block in self.blocks})
        stacked = alphabets[used]
        _, samples, column = np.unique(stacked, axis=1, return_index=True, return_inverse=True)
        if len(samples) + 2 > 256 or self.count * (len(samples) + 2) > self.limits.cells:
            raise _NotExportable(f"its tables have more than {self.limits.cells} entries")
        cells = np.zeros((self.count, len(samples) + 2), np.int32)
        for block in self.blocks:
            columns = alphabets[block.alphabet][samples]
            span = slice(block.first, block.first + len(block.cells))
            cells[span, 2:] = block.cells[:, columns]
            cells[span, END_COLUMN] = block.ends
        column_of = (column.reshape(-1) + 2).astype(np.uint8)
        # `LEAVES` and `CALLS` do not read the byte; only the state that reads it matters.
        bad = cells[:, column_of[NO_BYTE]]
        if ((bad > 0) | ((bad < 0) & (-1 - bad & 3 == ENDS))).any():
            raise _NotExportable("it reads bytes that are not UTF-8")
        column_of[NO_BYTE] = STAY_COLUMN
        cells[:, STAY_COLUMN] = 1 + np.arange(self.count)
        renamed = np.zeros(max(places, default=0) + 1, np.int64)
        renamed[list(places)] = list(places.values())
        value = -1 - cells[:, 2:].astype(np.int64)
        calls = (value >= 0) & (value & 3 == CALLS)
        cells[:, 2:][calls] = _codes(CALLS, renamed[value[calls] >> 2])
        return cells, column_of


def _codes(kind: int, values: npt.NDArray[np.integer]) -> Longs:
    """`code` for many values."""
    return -1 - (values.astype(np.int64) << 2 | kind)
