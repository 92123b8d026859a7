"""Random example texts of a language: short, of letters and digits where the language allows them.

Does: walk an automaton at random, always the same way for one seed. Does not: find the shortest text (`Dfa.shortest`).
"""

from random import Random
from typing import Final

from .dfa import Dfa

_PREFERRED: Final = (
    ("etaoinsrhldcumfpgwybvkxjqz", 26.0),
    ("0123456789", 9.0),
    ("ETAOINSRHLDCUMFPGWYBVKXJQZ", 2.0),
    (' "', 3.0),
    (".,:-_/@()+*=;!?#%&'<>[]{}|~^$`", 1.0),
)
_OTHER: Final = 0.05  # weight of a class without any of these
_STOP: Final = 0.25  # probability of ending the text in an accepting state


def specimen(dfa: Dfa, seed: int, about: int = 8) -> tuple[int, ...] | None:
    """An example text as symbols of the alphabet; None if the language is empty.

    After `about` symbols it takes the shortest path to an end.
    """
    if dfa.empty:
        return None
    chance, symbols = Random(seed), _by_class(dfa)  # noqa: S311 - examples are no secrets
    state = 0
    text: list[int] = []
    while not _may_stop(dfa, state) or (len(text) < about and chance.random() > _STOP):
        row = dfa.table[state]
        open_classes = [c for c in range(len(row)) if row[c] >= 0 and c in symbols]
        if len(text) >= about:
            nearest = min(int(dfa.distance[row[c]]) for c in open_classes)
            open_classes = [c for c in open_classes if dfa.distance[row[c]] == nearest]
        if not open_classes:
            break
        weights = [symbols[c][1] for c in open_classes]
        chosen = chance.choices(open_classes, weights)[0]
        text.append(chance.choice(symbols[chosen][0]))
        state = int(row[chosen])
    return tuple(text)


def _may_stop(dfa: Dfa, state: int) -> bool:
    return bool(dfa.outcome[state] >= 0)


def _by_class(dfa: Dfa) -> dict[int, tuple[list[int], float]]:
    """For each class, the preferred symbols and their weight."""
    found: dict[int, tuple[list[int], float]] = {}
    for signs, weight in _PREFERRED:
        for symbol in map(ord, signs):
            c = int(dfa.classes[dfa.bounds.searchsorted(symbol, "right") - 1])
            if c >= 0:
                taken, known = found.setdefault(c, ([], weight))
                if known == weight:
                    taken.append(symbol)
    for low, c in zip(dfa.bounds.tolist(), dfa.classes.tolist(), strict=True):
        if c >= 0:
            found.setdefault(c, ([low], _OTHER))
    return found
