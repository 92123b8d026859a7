"""Answers kept by question, within a bound of memory.

Does: forget all of them at once when they have grown too large; what is asked again then is found anew. Does not: find
answers.
"""

from collections.abc import Hashable
from typing import Final, Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

_MOST_BYTES: Final = 1 << 21
_ENTRY_BYTES: Final = 300  # of an entry besides the text in its key and value


class Kept(Generic[K, V]):
    """A dictionary of bounded size."""

    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        self._answers: dict[K, V] = {}
        self._bytes = 0
        self._most = most_bytes

    def get(self, key: K) -> V | None:
        """The answer, None where it is not known (any more)."""
        return self._answers.get(key)

    def put(self, key: K, value: V, text_bytes: int) -> None:
        """Keep an answer; `text_bytes`: how much text its key and value hold."""
        self._bytes += _ENTRY_BYTES + text_bytes
        if self._bytes > self._most:
            self._answers.clear()
            self._bytes = _ENTRY_BYTES + text_bytes
        self._answers[key] = value

    @property
    def nbytes(self) -> int:
        """Memory held, about."""
        return self._bytes

    def __len__(self) -> int:
        return len(self._answers)
