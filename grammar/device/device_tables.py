"""Device tables: a whole machine as flat integer tables, for walks that cannot compute missing entries (CUDA graphs).

Does: define the tables, and follow texts through them in Python. Does not: make them (`export`), place them in an arena
or walk them for many tokens (`kernels.grammar.arena`, `kernels.grammar.walk_masks`).

Codes, in `cells` and `returns`:

* 0: the byte is illegal;
* n > 0: the next state is n - 1;
* n < 0: with `m = -1 - n`, kind `m & 3` and value `m >> 2`: `ENDS` (the rule reads the byte and ends with this
  outcome), `LEAVES` (the rule ends before the byte, and the caller reads it), `CALLS` (the callee of this site reads
  the byte).

A site is (code of the callee's first state, offset of its returns); the code at offset + outcome is the target of its
rule: a state, 0, or `ENDS`. A configuration is a state and a stack of offsets of returns. The output ends when the
outermost rule ends, with an empty stack.
"""

from dataclasses import dataclass
from typing import Final, NamedTuple

from ..base.array_types import Bytes, Ints

ENDS: Final = 0
LEAVES: Final = 1
CALLS: Final = 2
NO_BYTE: Final = 0xFF  # never occurs in UTF-8: walks pad tokens with it
END_COLUMN: Final = 0
STAY_COLUMN: Final = 1

Configuration = tuple[int, tuple[int, ...]]
"""A state, and the stack of offsets of returns, the innermost last."""


@dataclass(frozen=True, slots=True)
class HostOnly:
    """The answer where a machine cannot be exported; `reason` says why."""

    reason: str


class Lookahead(NamedTuple):
    """Facts about states that only the host uses: bytes to the end, forced bytes. Computed by `device.lookahead`.

    `bytes[first[s] + o]`: the fewest bytes from state s to the end of its rule with outcome o, or `UNKNOWN`.
    `outcomes[b]`: the number of outcomes at a call site with returns from offset b on. Both are empty if the
    tables are too large.

    `only[s]`: the column of the only legal byte in state s; `SEVERAL` if there are more, or the rule may end; `ASK` if
    that depends on the stack. `byte_of[c]`, `bytes_in[c]`: a byte of column c, and the number of its bytes.
    """

    first: Ints
    bytes: Ints
    outcomes: Ints
    only: Ints
    byte_of: Bytes
    bytes_in: Ints


@dataclass(frozen=True, slots=True, eq=False)
class DeviceTables:
    """The device tables of one grammar; the docstring of the module defines the codes.

    `cells` int32 [states, columns]: column `END_COLUMN` holds the code of an end without reading a byte (0: none),
    `STAY_COLUMN` leads back to the state itself, and the column of byte b is `column_of[b]` (uint8 [256], where
    `NO_BYTE` has `STAY_COLUMN`). `sites` int32 [sites, 2], `returns` int32 [n]. `start`: the first state. `chain`: the
    most calls that one byte can need. `lookahead`: for the host only.
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
        """Memory of the tables, in bytes."""
        arrays = (self.cells, self.sites, self.returns, self.column_of, *self.lookahead)
        return sum(array.nbytes for array in arrays)

    @property
    def over(self) -> int:
        """The state after the end of the output."""
        return len(self.cells)

    def follow(self, configuration: Configuration, text: bytes) -> Configuration | None:
        """The configuration after `text`; None if `text` is illegal."""
        state, stack = configuration
        for byte in text:
            unread = True
            while unread:
                if state == self.over or byte == NO_BYTE:
                    return None
                found = int(self.cells[state, self.column_of[byte]])
                kind, value = operation(found)
                unread = found < 0 and kind != ENDS
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
        """(code of the next state or 0, stack) after the innermost rule has ended."""
        while stack:
            found = int(self.returns[stack[-1] + outcome])
            stack = stack[:-1]
            if found >= 0:
                return found, stack
            _, outcome = operation(found)
        return self.over + 1, stack


def code(kind: int, value: int) -> int:
    """The code of a kind and a value; see the module's docstring."""
    return -1 - (value << 2 | kind)


def operation(code: int) -> tuple[int, int]:
    """(kind, value) of a code that is not a state; the inverse of `code`."""
    return -1 - code & 3, -1 - code >> 2
