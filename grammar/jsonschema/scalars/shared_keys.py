"""Keys of formulas that do not refer to a schema, and caches of leaves by these keys, shared by all schemas.

Does: give formulas about strings and numbers a key, cache values by key within a bound of memory. Does not: make the
values (`scalar_leaves`, `windows`).
"""

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import Final, Generic, TypeVar

from ...contract.work import Price, take
from ..logic.atoms import OneOf
from ..logic.formula import Formula, Op

V = TypeVar("V")

_MOST_BYTES: Final = 12 << 20
_ENTRY_BYTES: Final = 2_000  # of an entry without its tables and constants
_CONSTANT_BYTES: Final = 150


def schema_free_key(formula: Formula) -> Hashable:
    """A key that is equal for formulas of the same form, from any pool; no atom may contain a sub-schema."""
    if formula.op is Op.ATOM:
        return formula.atom
    if formula.op in {Op.ALL, Op.ANY}:
        return formula.op, frozenset(map(schema_free_key, formula.args))
    return formula.op, tuple(map(schema_free_key, formula.args))


def constant_bytes(formula: Formula) -> int:
    """The approximate memory of the constants in a formula, in bytes."""
    constants = (part.atom.values for part in formula.atoms if isinstance(part.atom, OneOf))
    return sum(_CONSTANT_BYTES * len(values) for values in constants)


class SharedCache(Generic[V]):
    """A cache that all schemas share; evicts the least recently used entry first. Safe to share between threads."""

    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        self._found: OrderedDict[Hashable, tuple[V, int, Price]] = OrderedDict()
        self._lock = Lock()
        self._most = most_bytes
        self._bytes = 0

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        return self._bytes

    def shrink(self, most_bytes: int) -> None:
        """Evict the least recently used entries until at most `most_bytes` are held."""
        with self._lock:
            self._evict(most_bytes)

    def get(self, key: Hashable) -> V | None:
        """The value of a key; None if there is none."""
        with self._lock:
            found = self._found.get(key)
            if found is None:
                return None
            self._found.move_to_end(key)
        take(found[2])
        return found[0]

    def put(self, key: Hashable, value: V, nbytes: int, price: Price) -> None:
        """Keep a value unless it would displace very many others.

        `nbytes`: of its tables and constants; `price`: the work that it took, which each `get` charges.
        """
        size = nbytes + _ENTRY_BYTES
        if size > self._most // 8:
            return
        with self._lock:
            gone = self._found.pop(key, None)
            old = 0 if gone is None else gone[1]
            self._found[key] = value, size, price
            self._bytes += size - old
            self._evict(self._most)

    def _evict(self, most_bytes: int) -> None:
        while self._bytes > most_bytes:
            _, (_, gone, _) = self._found.popitem(last=False)
            self._bytes -= gone
