"""The names of an object's members as leaves.

Does: make byte automata with a label for each name the schema mentions and for each class of others. Does not: read
values.
"""

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from ..automata import (
    BYTES,
    CODE_POINTS,
    REFUSED,
    Dfa,
    Spelling,
    canonical,
    difference,
    everything,
    trie,
    union,
)
from ..automata.jit import kernel
from ..automata.minimal import Ints
from ..leaves.strings import quoted
from .atoms import Kind, Pattern
from .formula import Formula
from .names import Name
from .objects import Layout
from .spelling import spell
from .texts import Vectors, classes, words

if TYPE_CHECKING:
    from .language import Language


class NameLeaves:
    """The names of one compilation."""

    def __init__(self, language: "Language") -> None:
        self._language = language
        self._pool = language.normal.pool
        self._texts = language.texts
        self._names: dict[Layout, Dfa] = {}
        self._apart: dict[object, tuple[Dfa, Vectors]] = {}

    def other_names(
        self, known: tuple[str, ...], patterns: tuple[str, ...], formulas: tuple[Formula, ...]
    ) -> tuple[Name, ...]:
        """The classes of names not among `known` by the patterns that match and the formulas that hold."""
        if not patterns and not formulas:
            return (Name(None, frozenset(), frozenset()),)
        _, vectors = self.told_apart(known, patterns, formulas)
        return tuple(
            Name(
                None,
                frozenset(p for i, p in enumerate(patterns) if vector >> i & 1),
                frozenset(f for i, f in enumerate(formulas, len(patterns)) if vector >> i & 1),
            )
            for vector in vectors
        )

    def told_apart(
        self, known: tuple[str, ...], patterns: tuple[str, ...], formulas: tuple[Formula, ...]
    ) -> tuple[Dfa, Vectors]:
        """Names not among `known`, over code points: outcome o by the bits `vectors[o]`, of patterns, then formulas."""
        key = (known, patterns, formulas)
        if key not in self._apart:
            to = self._language.restriction.to
            universe = self._texts.anything
            if known:
                universe = difference(universe, words(known))
            parts = [self._texts.of(self._pool.of(Pattern(source))) for source in patterns]
            parts += [self._texts.of(to(formula, Kind.STRING)) for formula in formulas]
            self._apart[key] = classes(universe, parts)
        return self._apart[key]

    def names(self, layout: Layout) -> Dfa:
        """The names of an object with quotes, each under their labels as outcomes."""
        if layout not in self._names:
            names = layout.vocabulary
            able = layout.plain.labels(layout.start.fold)
            labels = range(len(names.all_names)) if able is None else able
            shift = len(names.order)
            others = max(labels, default=0) >= shift
            spelled = {spell(text): label for label, text in enumerate(names.order)}
            if others and not names.patterns and not names.name_formulas:
                # Names that cannot come have to be told from all others, too: `Keys` lets none of them through.
                named = beside(trie(spelled), any_name(), shift)
            else:
                named = trie({text: label for text, label in spelled.items() if label in labels})
                if others:
                    chars, _ = self.told_apart(names.order, names.patterns, names.name_formulas)
                    kept = {o: o + shift for o in chars.outcomes if o + shift in labels}
                    named = union(named, quoted(chars.relabel(kept), Spelling.JSON_CANONICAL))
            self._names[layout] = named
        return self._names[layout]

    def name_bytes(self, name: Name) -> int:
        """The length of a name as it is written, quotes included; of a class, of a shortest one."""
        return len(spell(name.text)) if name.text is not None else 4


@cache
def any_name() -> Dfa:
    """Any string, spelled canonically, with its quotes."""
    return quoted(everything(CODE_POINTS), Spelling.JSON_CANONICAL)


@kernel
def _beside(named: Ints, rest: Ints) -> Ints:
    """The table of `named` before that of `rest`: where it does not lead on, the way of the same text in `rest`."""
    size, width = named.shape
    pair = np.full(size, -1, np.int32)
    pair[0] = 0
    table = np.full((size + len(rest), width), -1, np.int32)
    for s in range(size):
        for c in range(width):
            other = rest[pair[s], c] if pair[s] >= 0 else -1
            if named[s, c] >= 0:
                table[s, c] = named[s, c]
                pair[named[s, c]] = other
            elif other >= 0:
                table[s, c] = size + other
    for s in range(len(rest)):
        for c in range(width):
            if rest[s, c] >= 0:
                table[size + s, c] = size + rest[s, c]
    return table


def beside(named: Dfa, rest: Dfa, outcome: int) -> Dfa:
    """The texts of `named`, a tree, with their outcomes, and all others of `rest` with `outcome`."""
    width = rest.table.shape[1] + 1
    pairs, class_of = np.unique(
        (named.class_of + 1) * width + rest.class_of + 1, return_inverse=True
    )
    padded = np.pad(named.table, ((0, 0), (1, 0)), constant_values=-1)[:, pairs // width]
    others = np.pad(rest.table, ((0, 0), (1, 0)), constant_values=-1)[:, pairs % width]
    table = _beside(np.ascontiguousarray(padded), np.ascontiguousarray(others))
    ends = np.where(rest.outcome == REFUSED, REFUSED, outcome)
    outcomes = np.append(named.outcome, ends)
    bounds = np.arange(BYTES, dtype=np.int32)
    return canonical(BYTES, bounds, class_of.astype(np.int32), table, outcomes, minimise=False)
