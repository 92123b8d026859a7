"""Member names as leaves.

Does: make byte automata with one label for each name of the schema and each class of other names. Does not: read
values.
"""

from collections.abc import Collection, Mapping

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
from ..scalars.finite import texts_of
from ..scalars.opaque import opaque
from ..scalars.shared import Shared
from ..scalars.string_escapes import spell
from ..scalars.string_formulas import Vectors, classes
from .names import Name


class NameLeaves:
    """The names of one schema. `rank`: the order in which the schema requires them.

    `undecided`: formats for which names were left out, because no automaton decides whether they have the format.
    """

    def __init__(self, shared: Shared, rank: Mapping[str, int]) -> None:
        self.rank = rank
        self.undecided: set[str] = set()
        self._pool = shared.pool
        self._strings = shared.strings
        self._restriction = shared.restriction
        self._classified: dict[object, tuple[Dfa, Vectors]] = {}
        self._singled_out: dict[object, tuple[str, ...]] = {}

    def other_names(
        self, known: tuple[str, ...], patterns: tuple[str, ...], formulas: tuple[Formula, ...]
    ) -> tuple[Name, ...]:
        """The classes of names not among `known`, by the patterns that match and the formulas that hold."""
        if not patterns and not formulas:
            return (Name(None, frozenset(), frozenset()),)
        _, vectors = self.classified(known, patterns, formulas)
        return tuple(
            Name(
                None,
                frozenset(p for i, p in enumerate(patterns) if vector >> i & 1),
                frozenset(f for i, f in enumerate(formulas, len(patterns)) if vector >> i & 1),
            )
            for vector in vectors
        )

    def classified(
        self, known: tuple[str, ...], patterns: tuple[str, ...], formulas: tuple[Formula, ...]
    ) -> tuple[Dfa, Vectors]:
        """The names not among `known`, over code points; the bits of `vectors[o]` are of patterns, then of formulas."""
        key = (known, patterns, formulas)
        if key not in self._classified:
            self._classified[key] = (
                self._without(known, *self.classified((), patterns, formulas))
                if known
                else self._classes(patterns, formulas)
            )
        return self._classified[key]

    def _without(self, known: tuple[str, ...], dfa: Dfa, vectors: Vectors) -> tuple[Dfa, Vectors]:
        """Classes of names without those among `known`."""
        rest = difference(dfa, words(dict.fromkeys(known, 0)))
        kept = rest.outcomes
        names = {old: new for new, old in enumerate(kept)}
        return rest.relabel(names), tuple(vectors[outcome] for outcome in kept)

    def _classes(
        self, patterns: tuple[str, ...], formulas: tuple[Formula, ...]
    ) -> tuple[Dfa, Vectors]:
        """All names, classified."""
        to = self._restriction.to
        universe = self._strings.anything
        parts = [self._strings.of(self._pool.of(Pattern(source))) for source in patterns]
        of_strings = [to(formula, ValueKind.STRING) for formula in formulas]
        judged = set[str]().union(*map(_judged, of_strings))
        for name in sorted(judged):
            # A name has no judge at its end: names that no automaton decides are left out.
            universe = difference(universe, self._strings.unsure(name))
        self.undecided |= judged
        parts += [self._strings.of(self._pool.replace(f, self._surely)) for f in of_strings]
        return classes(universe, parts)

    def _surely(self, atom: Atom) -> Formula | None:
        if isinstance(atom, Format) and opaque(atom):
            return self._pool.of(Surely(atom.name))
        return None

    def singled_out(
        self, known: tuple[str, ...], patterns: tuple[str, ...], formulas: tuple[Formula, ...]
    ) -> tuple[str, ...]:
        """The names not among `known` that patterns and formulas single out, if they are few.

        They are treated as declared names and remembered one by one, so that no name is begun that only a used name
        could complete.
        """
        key = known, patterns, formulas
        if key not in self._singled_out:
            dfa, vectors = self.classified(known, patterns, formulas)
            found = [
                texts_of(dfa.restrict([outcome])) or ()
                for outcome, vector in enumerate(vectors)
                if vector
            ]
            self._singled_out[key] = tuple(sorted(name for some in found for name in some))
        return self._singled_out[key]

    def leaf(
        self,
        order: tuple[str, ...],
        patterns: tuple[str, ...],
        formulas: tuple[Formula, ...],
        labels: Collection[int],
    ) -> Dfa:
        """The names with these labels, in quotes; the outcome is the label.

        `order`: the named members; their labels are their indices, followed by those of the classes of other names.
        """
        shift = len(order)
        others = max(labels, default=0) >= shift
        spelled = {spell(text): label for label, text in enumerate(order)}
        if others and not patterns and not formulas:
            # Names that cannot come must still be distinguished from all others: `Keys` admits none of them.
            return trie_or_rest(trie(spelled), any_string(Spelling.JSON_CANONICAL), shift)
        named = trie({text: label for text, label in spelled.items() if label in labels})
        if not others:
            return named
        chars, _ = self.classified(order, patterns, formulas)
        kept = {o: o + shift for o in chars.outcomes if o + shift in labels}
        return union(named, quoted(chars.relabel(kept), Spelling.JSON_CANONICAL))

    @staticmethod
    def named(names: Collection[str]) -> Dfa:
        """These names, in quotes; the outcome is the index."""
        return trie({spell(text): label for label, text in enumerate(names)})


def name_bytes(name: Name) -> int:
    """The length of a written name with its quotes; of a class, that of its shortest name."""
    return len(spell(name.text)) if name.text is not None else 4


def _judged(formula: Formula) -> set[str]:
    """The formats in a formula that no automaton decides."""
    atoms = (part.atom for part in formula.atoms)
    return {atom.name for atom in atoms if isinstance(atom, Format) and opaque(atom)}


@kernel
def _trie_or_rest(named: DfaTables, rest: DfaTables, label: int) -> tuple[Ints, Ints, Ints, Ints]:
    """The tables of `named` in front of `rest`: a text that leaves the tree continues in `rest`."""
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


def trie_or_rest(named: Dfa, rest: Dfa, outcome: int) -> Dfa:
    """The texts of the tree `named` with their outcomes, and all other texts of `rest` with `outcome`."""
    return Dfa(named.top, *_trie_or_rest(named.tables, rest.tables, outcome))
