"""Results of functions, remembered for all grammars of a process, within a bound of memory.

Does: keep results by argument, the least recently used given up first; say how many bytes they take; give up more where
asked. Does not: make them. `functools.lru_cache` counts results, and one automaton may be a thousand times the size of
another.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sized
from functools import update_wrapper
from threading import Lock
from typing import Final, Generic, ParamSpec, TypeVar

from .dfa import Dfa

P = ParamSpec("P")
R = TypeVar("R")

_ENTRY_BYTES: Final = 2_500  # of a result besides its tables, and of its key besides texts


def automaton_bytes(automaton: Dfa) -> int:
    """Memory of an automaton's tables."""
    return automaton.size_bytes


class Remembered(Generic[P, R]):
    """A function that remembers its results. Safe to share between threads; errors are not remembered."""

    def __init__(self, work: Callable[P, R], most_bytes: int, size: Callable[[R], int]) -> None:
        self._work = work
        self._most = most_bytes
        self._size = size
        self._known: OrderedDict[Hashable, tuple[R, int]] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()
        update_wrapper(self, work)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """What the function says."""
        key: Hashable = (args, tuple(kwargs.items())) if kwargs else args
        with self._lock:
            found = self._known.get(key)
            if found is not None:
                self._known.move_to_end(key)
                return found[0]
        result = self._work(*args, **kwargs)
        texts = sum(len(each) for each in args if isinstance(each, Sized))
        size = self._size(result) + texts + _ENTRY_BYTES
        with self._lock:
            _, old = self._known.pop(key, (None, 0))
            self._known[key] = result, size
            self._bytes += size - old
            self._give_up(self._most)
        return result

    @property
    def nbytes(self) -> int:
        """Memory held."""
        return self._bytes

    def shrink(self, most_bytes: int) -> None:
        """Give up what was used least recently until no more than `most_bytes` are held."""
        with self._lock:
            self._give_up(most_bytes)

    def _give_up(self, most_bytes: int) -> None:
        while self._bytes > most_bytes:
            _, (_, size) = self._known.popitem(last=False)
            self._bytes -= size


def remembered(
    most_bytes: int, size: Callable[[R], int]
) -> Callable[[Callable[P, R]], Remembered[P, R]]:
    """Decorator: remember the results of a function, up to `most_bytes`; `size`: the bytes of a result."""
    return lambda work: Remembered(work, most_bytes, size)
