"""A dictionary with a bound on its memory, for results that can be computed again.

Does: store results by key, and clear them all when the bound is passed. Does not: compute results.
"""

from collections.abc import Hashable
from typing import Final, Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

_MOST_BYTES: Final = 1 << 21
_ENTRY_BYTES: Final = 300  # memory of an entry without the text in its key and value


class BoundedCache(Generic[K, V]):
    """A cache that is cleared when its entries take more than `most_bytes`."""

    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        self._values: dict[K, V] = {}
        self._bytes = 0
        self._most = most_bytes

    def get(self, key: K) -> V | None:
        """The value of a key; None if it is not stored, or no longer."""
        return self._values.get(key)

    def put(self, key: K, value: V, text_bytes: int) -> None:
        """Store a value; `text_bytes` is the length of the text in its key and value."""
        self._bytes += _ENTRY_BYTES + text_bytes
        if self._bytes > self._most:
            self._values.clear()
            self._bytes = _ENTRY_BYTES + text_bytes
        self._values[key] = value

    @property
    def nbytes(self) -> int:
        """Memory held, by estimate."""
        return self._bytes

    def __len__(self) -> int:
        return len(self._values)
