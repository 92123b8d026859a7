"""The names of an object's members as leaves.

Does: make byte automata with a label for each name the schema mentions and for each class of others. Does not: read
values.
"""

from typing import TYPE_CHECKING

import numpy as np

from ...automata import Dfa, Spelling, difference, trie, union, words
from ...automata.algebra import joint
from ...automata.dfa import DfaTables
from ...automata.minimal import canonical_form
from ...base.array_types import Ints
from ...jit.kernel import kernel
from ...leaves.strings import any_string, quoted
from ..logic.atoms import Format, Pattern, Surely, ValueKind
from ..logic.formula import Atom, Formula
from ..scalars.opaque import opaque
from ..scalars.string_escapes import spell
from ..scalars.string_formulas import Vectors, classes
from .names import Name
from .objects import Layout

if TYPE_CHECKING:
    from ..rules.language import Language


class NameLeaves:
    """The names of one compilation."""

    def __init__(self, language: "Language") -> None:
        self._language = language
        self._pool = language.normal.pool
        self._texts = language.texts
        self._names: dict[Layout, Dfa] = {}
        self._apart: dict[object, tuple[Dfa, Vectors]] = {}
        self.unsure: set[str] = set()  # formats for which names were left out that may have them

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
                universe = difference(universe, words(dict.fromkeys(known, 0)))
            parts = [self._texts.of(self._pool.of(Pattern(source))) for source in patterns]
            asked = [to(formula, ValueKind.STRING) for formula in formulas]
            judged = set[str]().union(*map(_judged, asked))
            for name in sorted(judged):
                # Nobody judges a name at its end: those of which no automaton can tell are left out.
                universe = difference(universe, self._texts.unsure(name))
            self.unsure |= judged
            parts += [self._texts.of(self._pool.replace(f, self._surely)) for f in asked]
            self._apart[key] = classes(universe, parts)
        return self._apart[key]

    def _surely(self, atom: Atom) -> Formula | None:
        if isinstance(atom, Format) and opaque(atom):
            return self._pool.of(Surely(atom.name))
        return None

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
                named = beside(trie(spelled), any_string(Spelling.JSON_CANONICAL), shift)
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


def _judged(formula: Formula) -> set[str]:
    """The formats in a formula that no automaton can tell."""
    atoms = (part.atom for part in formula.atoms)
    return {atom.name for atom in atoms if isinstance(atom, Format) and opaque(atom)}


@kernel
def _beside(named: DfaTables, rest: DfaTables, label: int) -> tuple[Ints, Ints, Ints, Ints]:
    """The tables of `named` before `rest`: where it does not lead on, the way of the same text in `rest`."""
    named_bounds, named_classes, named_table, named_outcome = named
    rest_bounds, rest_classes, rest_table, rest_outcome = rest
    bounds, classes, own, other = joint(
        named_bounds,
        named_classes,
        named_table.shape[1],
        rest_bounds,
        rest_classes,
        rest_table.shape[1],
    )
    size, width = len(named_outcome), len(own)
    pair = np.full(size, -1, np.int32)
    pair[0] = 0
    table = np.full((size + len(rest_outcome), width), -1, np.int32)
    outcome = np.full(len(table), -1, np.int32)
    outcome[:size] = named_outcome
    for s in range(size):
        for c in range(width):
            t = named_table[s, own[c]] if own[c] >= 0 else -1
            u = rest_table[pair[s], other[c]] if pair[s] >= 0 and other[c] >= 0 else -1
            if t >= 0:
                table[s, c] = t
                pair[t] = u
            elif u >= 0:
                table[s, c] = size + u
    for s in range(len(rest_outcome)):
        outcome[size + s] = -1 if rest_outcome[s] < 0 else label
        for c in range(width):
            u = rest_table[s, other[c]] if other[c] >= 0 else -1
            table[size + s, c] = -1 if u < 0 else size + u
    return canonical_form(bounds, classes, table, outcome, False)  # noqa: FBT003


def beside(named: Dfa, rest: Dfa, outcome: int) -> Dfa:
    """The texts of `named`, a tree, with their outcomes, and all others of `rest` with `outcome`."""
    return Dfa(named.top, *_beside(named.tables, rest.tables, outcome))
