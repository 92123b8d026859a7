"""Memory budget of the automata that all grammars of a process share.

Does: list every cache of automata that outlives a grammar, sum up their memory, shrink them. Does not: make or cache
automata.
"""

from typing import Protocol


class _AutomatonCache(Protocol):
    """A cache of automata that can be shrunk."""

    @property
    def nbytes(self) -> int: ...

    def shrink(self, most_bytes: int) -> None: ...


def _caches() -> tuple[_AutomatonCache, ...]:
    from ..automata.encode import spellings
    from ..jsonschema.scalars import common_automata, scalar_leaves, windows
    from ..leaves import numbers
    from ..regex import pattern

    return (
        spellings,
        numbers.number,
        numbers.compare,
        numbers.multiples,
        numbers.compare_normalised,
        pattern.search,
        pattern.whole,
        *common_automata.kept(),
        scalar_leaves.known_scalars(),
        windows.window,
        windows.leaves(),
    )


def automata_bytes() -> int:
    """Memory of all shared automata."""
    return sum(cache.nbytes for cache in _caches())


def shrink_automata(most_bytes: int) -> None:
    """Evict the least recently used automata of each cache, in proportion, until at most `most_bytes` are held."""
    caches = _caches()
    held = sum(cache.nbytes for cache in caches)
    if held > most_bytes:
        for cache in caches:
            cache.shrink(cache.nbytes * most_bytes // held)
