"""The chart of a grammar: the columns that its outputs have reached, and questions about them.

Does: own the columns and repeat a compiled loop that ran out of room. Does not: know vocabularies (`masks`), follow
single outputs (`backends`).
"""

from collections.abc import Callable
from threading import Lock
from typing import Final

import numpy as np

from ..base.array_types import Bytes
from ..cfg.form import ByteGrammar
from ..contract.errors import ConstraintTooLarge
from . import walk_tokens as walks
from .close_items import first_column
from .column_store import COLUMNS, DONE, FULL, NO_ROOM, ColumnStore
from .rule_arrays import rule_arrays

MOST_BYTES: Final = 96 << 20
_MOST_FORCED: Final = 512


class Chart:
    """All columns of one grammar, by number. Thread-safe. `first`: the column before the first byte."""

    def __init__(self, form: ByteGrammar, most_bytes: int = MOST_BYTES) -> None:
        """Raises ConstraintTooLarge if the grammar has too many states, or its first column too many items."""
        self.form = form
        self._most_bytes = most_bytes
        self._store = ColumnStore(rule_arrays(form), most_bytes)
        self.lock = Lock()
        self._forced = np.empty(_MOST_FORCED, np.uint8)
        self.first = self.run(first_column, form.nullable)
        if self.first < 0:
            raise ConstraintTooLarge("too many rules of this grammar can begin at its first byte")

    def empty_copy(self) -> "Chart":
        """A chart of the same grammar without any columns."""
        return Chart(self.form, self._most_bytes)

    @property
    def nbytes(self) -> int:
        """Memory of the columns."""
        return self._store.nbytes

    @property
    def columns(self) -> int:
        """Number of columns."""
        return int(self._store.columns.note[COLUMNS])

    @property
    def refused(self) -> int:
        """Number of moves that were refused because the column would have had too many items."""
        return int(self._store.columns.note[FULL])

    def run(self, loop: Callable[..., int], *arguments: object) -> int:
        """The result of a compiled loop, which is given room for new columns as it needs them.

        Raises:
            TablesFull: the bound on memory is reached.
        """
        with self.lock:
            return self.run_locked(loop, *arguments)

    def run_locked(self, loop: Callable[..., int], *arguments: object) -> int:
        """`run` for a caller that holds `lock`."""
        while True:
            found = loop(self._store.held, *arguments)
            if found != NO_ROOM:
                return found
            self._store.grow()

    def read(self, column: int, text: Bytes) -> int:
        """The column after a text; negative if the text is refused."""
        return self.run(walks.read, column, text)

    def may_end(self, column: int) -> bool:
        """Whether an output may end in a column."""
        return bool(self._store.columns.flags[column] & DONE)

    def is_over(self, column: int) -> bool:
        """Whether an output in this column can only end."""
        columns = self._store.columns
        return bool(columns.first[column + 1] == columns.first[column])

    def least(self, column: int) -> int:
        """The fewest bytes that complete an output."""
        return walks.least(self._store.held, column)

    def closing(self, column: int) -> bytes | None:
        """A shortest text that completes an output; None if it has too many readings."""
        text = np.empty(self.least(column), np.uint8)
        count = self.run(walks.close_with, column, text)
        return None if count < 0 else text[:count].tobytes()

    def forced(self, column: int) -> bytes:
        """The bytes that must come next because no others are legal."""
        with self.lock:
            count = self.run_locked(walks.force, column, self._forced)
            return self._forced[:count].tobytes()
