"""A whole machine as flat integer tables, for walks where nothing can be looked up: on a device, in a captured graph.

Does: say what the tables mean, and follow texts through them. Does not: make them (`export`, which is loaded when the
first ones are asked for), place them in an arena or walk them for many tokens (`kernels.grammar.arena`,
`kernels.grammar.walk_masks`).

Codes, in `cells` and `returns`:

* 0: no text goes on;
* n > 0: go on in state n - 1;
* n < 0: with `m = -1 - n`, kind `m & 3` and value `m >> 2`: `ENDS` (the byte is read, the rule ends with this outcome),
  `LEAVES` (the same before the byte, which the caller reads), `CALLS` (the site's callee reads the byte).

A site is (code of the callee's first state, offset of its returns); the code at offset + outcome tells where its rule
goes on: a state, 0, or `ENDS`. A configuration is a state and a stack of offsets of returns; the end of the outermost
rule, whose stack is empty, is the end of the output.
"""

from dataclasses import dataclass
from typing import Final, NamedTuple

from ..base.array_types import Bytes, Ints

ENDS: Final = 0
LEAVES: Final = 1
CALLS: Final = 2
NO_BYTE: Final = 0xFF  # no text holds this byte: walks use it to fill the ends of tokens
END_COLUMN: Final = 0
STAY_COLUMN: Final = 1

Configuration = tuple[int, tuple[int, ...]]
"""A state, and the stack of offsets of returns, the innermost last."""


@dataclass(frozen=True, slots=True)
class HostOnly:
    """The machine stays on the host; `reason` says why."""

    reason: str


class Lookahead(NamedTuple):
    """What the host asks of tables besides (`outlook` finds it, `followers` uses it).

    How many bytes end a rule: `bytes[first[s] + o]` from state s with outcome o, or `outlook.UNKNOWN`; `outcomes[b]`:
    how many outcomes are told apart where the returns begin at b. Of tables that are too large none are.

    `only[s]`: the column of the only byte that can come in state s; or `outlook.SEVERAL`, also where the rule may end;
    or `outlook.ASK`: it depends on the stack. `byte_of[c]`, `bytes_in[c]`: a byte of column c, and how many it has.
    """

    first: Ints
    bytes: Ints
    outcomes: Ints
    only: Ints
    byte_of: Bytes
    bytes_in: Ints


@dataclass(frozen=True, slots=True, eq=False)
class DeviceTables:
    """See the module.

    `cells` int32 [states, columns]: column `END_COLUMN` is the code of the end that may come without reading (0: none),
    `STAY_COLUMN` leads back to the state itself, and the column of byte b is `column_of[b]` (uint8 [256], where
    `NO_BYTE` has `STAY_COLUMN`). `sites` int32 [sites, 2], `returns` int32 [n]. `start` is a state. `chain` is how many
    calls one byte can need. `outlook` is for the host alone.
    """

    cells: Ints
    column_of: Bytes
    sites: Ints
    returns: Ints
    start: int
    chain: int
    lookahead: Lookahead

    @property
    def nbytes(self) -> int:
        """Memory of the tables."""
        arrays = (self.cells, self.sites, self.returns, self.column_of, *self.lookahead)
        return sum(array.nbytes for array in arrays)

    @property
    def over(self) -> int:
        """The state after the end of the output."""
        return len(self.cells)

    def follow(self, configuration: Configuration, text: bytes) -> Configuration | None:
        """Where `text` leads from a configuration; None if it is refused."""
        state, stack = configuration
        for byte in text:
            waits = True
            while waits:
                if state == self.over or byte == NO_BYTE:
                    return None
                found = int(self.cells[state, self.column_of[byte]])
                kind, value = operation(found)
                waits = found < 0 and kind != ENDS
                if found < 0 and kind == CALLS:
                    found, back = self.sites[value].tolist()
                    stack = (*stack, back)
                elif found < 0:
                    found, stack = self._ended(value, stack)
                if found == 0:
                    return None
                state = found - 1
        return state, stack

    def can_end(self, configuration: Configuration) -> bool:
        """Whether the output may end in a configuration."""
        state, stack = configuration
        while state != self.over:
            end = int(self.cells[state, END_COLUMN])
            found, stack = self._ended(operation(end)[1], stack) if end else (0, stack)
            if found == 0:
                return False
            state = found - 1
        return True

    def _ended(self, outcome: int, stack: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
        """(code of the state or 0, the stack) after the innermost rule has ended."""
        while stack:
            found = int(self.returns[stack[-1] + outcome])
            stack = stack[:-1]
            if found >= 0:
                return found, stack
            _, outcome = operation(found)
        return self.over + 1, stack


def code(kind: int, value: int) -> int:
    """The code of an operation."""
    return -1 - (value << 2 | kind)


def operation(code: int) -> tuple[int, int]:
    """(kind, value) of a code that is not a state; the inverse of `code`."""
    return -1 - code & 3, -1 - code >> 2
