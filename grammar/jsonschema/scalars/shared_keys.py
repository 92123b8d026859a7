"""What is asked of a scalar, worded without reference to a schema: what is made for it serves all schemas that ask it.

Does: word formulas about strings and numbers, hold what was made by its wording, within a bound of memory. Does not:
make it (`scalars`, `windows`).
"""

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import Final, Generic, TypeVar

from ..logic.atoms import OneOf
from ..logic.formula import Formula, Op

V = TypeVar("V")

_MOST_BYTES: Final = 12 << 20
_ENTRY_BYTES: Final = 2_000  # of an entry besides its tables and constants
_CONSTANT_BYTES: Final = 150


def schema_free_key(formula: Formula) -> Hashable:
    """A key that is equal for formulas of any pool that say the same in the same way; no atom may hold a sub-schema."""
    if formula.op is Op.ATOM:
        return formula.atom
    if formula.op in {Op.ALL, Op.ANY}:
        return formula.op, frozenset(map(schema_free_key, formula.args))
    return formula.op, tuple(map(schema_free_key, formula.args))


def constant_bytes(formula: Formula) -> int:
    """About how many bytes the constants in a formula take."""
    constants = (part.atom.values for part in formula.atoms if isinstance(part.atom, OneOf))
    return sum(_CONSTANT_BYTES * len(values) for values in constants)


class SharedCache(Generic[V]):
    """What all schemas share, by wording; the least recently used is forgotten first. Safe to share between threads."""

    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        self._found: OrderedDict[Hashable, tuple[V, int]] = OrderedDict()
        self._lock = Lock()
        self._most = most_bytes
        self._bytes = 0

    @property
    def nbytes(self) -> int:
        """Memory held."""
        return self._bytes

    def shrink(self, most_bytes: int) -> None:
        """Forget what was used least recently until no more than `most_bytes` are held."""
        with self._lock:
            self._forget(most_bytes)

    def get(self, key: Hashable) -> V | None:
        """What is kept, None if nothing is."""
        with self._lock:
            found = self._found.get(key)
            if found is None:
                return None
            self._found.move_to_end(key)
        return found[0]

    def put(self, key: Hashable, value: V, nbytes: int) -> None:
        """Keep it, unless it would take the place of very many others; `nbytes`: of its tables and constants."""
        size = nbytes + _ENTRY_BYTES
        if size > self._most // 8:
            return
        with self._lock:
            _, old = self._found.pop(key, (None, 0))
            self._found[key] = value, size
            self._bytes += size - old
            self._forget(self._most)

    def _forget(self, most_bytes: int) -> None:
        while self._bytes > most_bytes:
            _, (_, gone) = self._found.popitem(last=False)
            self._bytes -= gone
