"""The names of an object's members as leaves.

Does: make byte automata with a label for each name the schema mentions and for each class of others. Does not: read
values.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from ..automata import REFUSED, Dfa, Spelling, difference, trie, union
from ..automata import canonical as canonical_dfa
from ..leaves.strings import quoted
from .atoms import Kind, Pattern
from .formula import Formula
from .names import Name
from .objects import Layout
from .spelling import spell
from .texts import classes, words

if TYPE_CHECKING:
    from .language import Language


class NameLeaves:
    """The names of one compilation."""

    def __init__(self, language: "Language") -> None:
        self._language = language
        self._pool = language.normal.pool
        self._texts = language.texts
        self._names: dict[Layout, Dfa] = {}
        self._others: dict[object, tuple[tuple[Name, ...], Dfa]] = {}

    def other_names(
        self, known: tuple[str, ...], patterns: tuple[str, ...], formulas: tuple[Formula, ...]
    ) -> tuple[Name, ...]:
        """The classes of names not among `known` by the patterns that match and the formulas that hold."""
        return self._other_names(known, patterns, formulas)[0]

    def _other_names(
        self, known: tuple[str, ...], patterns: tuple[str, ...], formulas: tuple[Formula, ...]
    ) -> tuple[tuple[Name, ...], Dfa]:
        key = (known, patterns, formulas)
        if key not in self._others:
            to = self._language.restriction.to
            universe = self._texts.anything
            if known:
                universe = difference(universe, words(known))
            parts = [self._texts.of(self._pool.of(Pattern(source))) for source in patterns]
            parts += [self._texts.of(to(formula, Kind.STRING)) for formula in formulas]
            dfa, vectors = classes(universe, parts)
            names = tuple(
                Name(
                    None,
                    frozenset(p for i, p in enumerate(patterns) if vector >> i & 1),
                    frozenset(
                        f for i, f in enumerate(formulas) if vector >> (i + len(patterns)) & 1
                    ),
                )
                for vector in vectors
            )
            self._others[key] = names, dfa
        return self._others[key]

    def names_among(self, layout: Layout, labels: Iterable[int]) -> Dfa:
        """The names with these labels. The automaton is not minimal again: that would cost more than it saves."""
        dfa = self.names(layout)
        keep = np.isin(dfa.outcome, np.fromiter(labels, np.int32))
        outcome = np.where(keep, dfa.outcome, REFUSED)
        return canonical_dfa(dfa.top, dfa.bounds, dfa.classes, dfa.table, outcome, minimise=False)

    def names(self, layout: Layout) -> Dfa:
        """The names of an object with quotes, each under their labels as outcomes."""
        if layout not in self._names:
            options = self._language.options
            tail = b"" if options.lenient else options.colon
            names = layout.vocabulary
            named = {spell(text) + tail: i for i, text in enumerate(names.order)}
            _, chars = self._other_names(names.order, names.patterns, names.name_formulas)
            shift = len(names.order)
            chars = chars.relabel({old: old + shift for old in chars.outcomes})
            others = quoted(chars, Spelling.JSON_CANONICAL, tail=tail)
            self._names[layout] = union(trie(named), others)
        return self._names[layout]

    def name_bytes(self, name: Name) -> int:
        """The length of a name as it is written, quotes included; of a class, of a shortest one."""
        return len(spell(name.text)) if name.text is not None else 4
