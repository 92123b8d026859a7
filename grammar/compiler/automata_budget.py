"""Automata that all grammars of a process share: how much memory they take, and how to have less of it.

Does: name every place where some are kept beyond the grammar that asked for them. Does not: keep or make any.
"""

from typing import Protocol


class _Place(Protocol):
    @property
    def nbytes(self) -> int: ...

    def shrink(self, most_bytes: int) -> None: ...


def _places() -> tuple[_Place, ...]:
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
    """Memory of all of them."""
    return sum(place.nbytes for place in _places())


def shrink_automata(most_bytes: int) -> None:
    """Give up what was used least recently in each place, in proportion, until no more than `most_bytes` are held."""
    places = _places()
    held = sum(place.nbytes for place in places)
    if held > most_bytes:
        for place in places:
            place.shrink(place.nbytes * most_bytes // held)
