"""Which tokens of a vocabulary must be legal after a text, and which may be.

Does: walk all tokens at once through the tables of `texts`, level by level of their common beginnings. Does not: read
JSON (`texts`) or schemas (`shapes`).
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tests.conformance.bench_masks.shapes import Reader
from tests.conformance.bench_masks.texts import DEAD, UNKNOWN, Texts

Bools = npt.NDArray[np.bool_]
_MOST_KEPT: Final = 512  # verdicts of places
_MOST_STATES: Final = 200_000


class TooMany(Exception):
    """The texts of a schema need more states than this oracle keeps."""


class Vocabulary:
    """The texts of tokens as a tree. `texts` by token, None for a token without."""

    def __init__(self, texts: tuple[bytes | None, ...]) -> None:
        self.texts = texts
        numbers: dict[bytes, int] = {b"": 0}
        levels: dict[int, list[tuple[int, int, int]]] = {}
        node_of = np.zeros(len(texts), np.int64)
        for token, text in enumerate(texts):
            for size in range(1, len(text or b"") + 1):
                assert text is not None
                piece = text[:size]
                if piece not in numbers:
                    numbers[piece] = len(numbers)
                    row = numbers[piece], numbers[piece[:-1]], piece[-1]
                    levels.setdefault(size, []).append(row)
            node_of[token] = numbers[text] if text else -1
        self.nodes = len(numbers)
        self.levels = [np.array(levels[size], np.int64).T for size in sorted(levels)]
        self.node_of = node_of

    def reached(self, texts: Texts, start: int, *, sure: bool) -> Bools:
        """bool [tokens]: the tokens that may be read from a set of configurations; `sure`: outside opaque values."""
        at = np.full(self.nodes, DEAD, np.int64)
        at[0] = texts.sure(start) if sure else start
        for numbers, parents, bytes_ in self.levels:
            alive = at[parents] >= 0
            if not alive.any():
                break
            before, read = at[parents[alive]], bytes_[alive]
            found = texts.moves[before, read]
            missing = np.unique(before[found == UNKNOWN] * 256 + read[found == UNKNOWN])
            for pair in missing.tolist():
                texts.step(pair >> 8, pair & 255)
            if texts.states > _MOST_STATES:
                raise TooMany
            found = texts.moves[before, read].astype(np.int64)
            if sure:
                found = texts.all_sure()[found]
            at[numbers[alive]] = found
        return (self.node_of >= 0) & (at[self.node_of] >= 0)


@dataclass(frozen=True)
class Verdict:
    """Of every token: it must be legal, it may be. And whether the output must be allowed to end, or may be."""

    must: Bools
    may: Bools
    must_end: bool
    may_end: bool


class Oracle:
    """The verdicts for one schema. `repeated`: see `Texts`.

    Raises:
        Unreadable: the schema is not read here.
    """

    def __init__(self, schema: Any, vocabulary: Vocabulary, repeated: frozenset[str]) -> None:
        self._vocabulary = vocabulary
        self._texts = []
        for upper in (False, True):
            reader = Reader(schema, upper=upper)
            root = reader.shape(schema)
            self._texts.append(Texts(root, reader.every, repeated, upper=upper))
        self._known: dict[tuple[int, int], Verdict] = {}

    def start(self) -> tuple[int, int]:
        """The place before the first byte, as (set of the lower tree, of the upper tree)."""
        return 0, 0

    def after(self, place: tuple[int, int], text: bytes) -> tuple[int, int]:
        """The place after some bytes; `DEAD` in a tree that does not have the text."""
        lower, upper = place
        for byte in text:
            lower = DEAD if lower == DEAD else self._texts[0].step(lower, byte)
            upper = DEAD if upper == DEAD else self._texts[1].step(upper, byte)
        return lower, upper

    def verdict(self, place: tuple[int, int]) -> Verdict:
        """The verdicts at a place."""
        found = self._known.get(place)
        if found is None:
            lower, upper = place
            none = np.zeros(len(self._vocabulary.texts), np.bool_)
            texts, reached = self._texts, self._vocabulary.reached
            must = none if lower == DEAD else reached(texts[0], lower, sure=True)
            may = ~none if upper == DEAD else reached(texts[1], upper, sure=False)
            sure = DEAD if lower == DEAD else texts[0].sure(lower)
            found = Verdict(
                must,
                may,
                sure != DEAD and texts[0].ends(sure),
                upper == DEAD or texts[1].ends(upper),
            )
            if len(self._known) >= _MOST_KEPT:
                self._known.clear()
            self._known[place] = found
        return found
