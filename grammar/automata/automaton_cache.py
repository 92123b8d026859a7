"""A function cache for all grammars of a process, bounded in bytes, least recently used results evicted first.

Does: keep results by argument; report their bytes; evict more on request. Does not: compute results.
`functools.lru_cache` counts results, and one automaton may be a thousand times the size of another.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sized
from functools import update_wrapper
from threading import Lock
from typing import Final, Generic, ParamSpec, TypeVar

from ..contract.work import Price, making, take
from .dfa import Dfa

P = ParamSpec("P")
R = TypeVar("R")

# The overhead of a result beyond its tables, and of its key beyond its texts.
_ENTRY_BYTES: Final = 2_500


def automaton_bytes(automaton: Dfa) -> int:
    """Bytes of an automaton's tables."""
    return automaton.size_bytes


class SizeBoundedCache(Generic[P, R]):
    """A function with a cache of its results. Thread-safe; errors are not cached."""

    def __init__(self, work: Callable[P, R], most_bytes: int, size: Callable[[R], int]) -> None:
        self._work = work
        self._most = most_bytes
        self._size = size
        self._known: OrderedDict[Hashable, tuple[R, int, Price]] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()
        update_wrapper(self, work)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """The function's result, from the cache if it is there."""
        key: Hashable = (args, tuple(kwargs.items())) if kwargs else args
        with self._lock:
            found = self._known.get(key)
            if found is not None:
                self._known.move_to_end(key)
        if found is not None:
            take(found[2])
            return found[0]
        with making((id(self), key)) as made:
            result = self._work(*args, **kwargs)
        texts = sum(len(each) for each in args if isinstance(each, Sized))
        size = self._size(result) + texts + _ENTRY_BYTES
        with self._lock:
            gone = self._known.pop(key, None)
            old = 0 if gone is None else gone[1]
            self._known[key] = result, size, made.price
            self._bytes += size - old
            self._give_up(self._most)
        return result

    @property
    def nbytes(self) -> int:
        """Bytes of all cached results."""
        return self._bytes

    def shrink(self, most_bytes: int) -> None:
        """Evict the least recently used results until at most `most_bytes` are held."""
        with self._lock:
            self._give_up(most_bytes)

    def _give_up(self, most_bytes: int) -> None:
        while self._bytes > most_bytes:
            _, (_, size, _) = self._known.popitem(last=False)
            self._bytes -= size


def size_bounded_cache(
    most_bytes: int, size: Callable[[R], int]
) -> Callable[[Callable[P, R]], SizeBoundedCache[P, R]]:
    """Decorator that caches up to `most_bytes` of a function's results; `size` gives the bytes of a result."""
    return lambda work: SizeBoundedCache(work, most_bytes, size)
