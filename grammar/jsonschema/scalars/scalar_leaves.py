"""Scalar values as leaves.

Does: make the byte automaton of the scalar values that several formulas are asked about. Its outcomes are the sets of
formulas that a value can satisfy. Does not: recurse into objects and arrays.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from typing import Final

from ...automata import Dfa, difference, nothing, trie, union_all, words
from ...contract.errors import ConstraintTooLarge
from ...contract.work import making
from ..logic.atoms import (
    AtLeast,
    AtMost,
    Format,
    Length,
    MultipleOf,
    OneOf,
    Pattern,
    Possibly,
    Superset,
    Surely,
    Types,
    ValueKind,
    Verbatim,
)
from ..logic.evaluate import holds
from ..logic.formula import Atom, Formula, Op, Pool, expanded
from ..logic.residual import Restriction, substitute
from ..read.values import FALSE, TRUE, Value, canonical, read
from ..read.writing_options import Options
from .common_automata import constant, joined, string
from .counted_strings import CountedString
from .number_formulas import NumberAutomata
from .opaque import opaque
from .shared_keys import SharedCache, constant_bytes, schema_free_key
from .string_escapes import spell, spelling_of
from .string_formulas import StringAutomata, classes, without_most
from .verbatim_formulas import is_verbatim, verbatim_string
from .verbatim_strings import VerbatimString

# Example values of one leaf.
EXAMPLES = 16
# Formulas that can be queried about a value that is judged at its end.
MOST_JUDGED = 10
# Length bounds from this size on are judged at the end of the string, unless they are plainly required and counted.
LONG = 4_096
_CONSTANTS: Final = ((None, b"null"), (TRUE, b"true"), (FALSE, b"false"))
_EXPENSIVE: Final = (Pattern, Length, Format, AtLeast, AtMost, MultipleOf)
_KNOWN_BYTES: Final = 24 << 20  # of scalars that all schemas share
_CONTAINERS: Final = frozenset({"object", "array"})


@dataclass(frozen=True, slots=True)
class ScalarLeaf:
    """All scalar values of a rule. Outcome o of the automaton means that the queries of bits `vectors[o]` hold.

    `counted`: long strings that are not in the automaton; the queries of bits `vectors[-1]` hold of them. `verbatim`:
    substrings of the document, instead of all other strings; `answers` gives the bits of the queries for each. `judge`:
    corrects the outcome of a complete text, where the automaton is only a bound.
    """

    dfa: Dfa
    vectors: tuple[int, ...]
    judge: Callable[[int, bytes], int] | None = None
    counted: CountedString | None = None
    verbatim: VerbatimString | None = None
    answers: Callable[[str], int] = lambda _: 0

    @property
    def nbytes(self) -> int:
        """Memory of the tables."""
        return self.dfa.size_bytes + (0 if self.counted is None else self.counted.chars.size_bytes)

    @property
    def least(self) -> int:
        """Bytes of the shortest scalar."""
        found = list(self.dfa.least.values())
        if self.counted is not None and self.counted.start is not None:
            found.append(1 + self.counted.least(self.counted.start))
        if self.verbatim is not None and self.verbatim.start is not None:
            found.append(1 + self.verbatim.least(self.verbatim.start))
        return min(found)


class ScalarLeaves:
    """The scalars of one schema."""

    def __init__(
        self, pool: Pool, options: Options, restriction: Restriction, strings: StringAutomata
    ) -> None:
        self._pool = pool
        self._any_text = options.any_text
        self._restriction = restriction
        self._string_automata = strings
        self._numbers = NumberAutomata(
            options.exponents, not options.lenient, options.short_numbers
        )
        self._scalars: dict[tuple[Formula, tuple[Formula, ...]], ScalarLeaf | None] = {}
        self._examples: dict[tuple[Formula, tuple[Formula, ...]], list[tuple[Value, int]]] = {}

    def of(self, must: Formula, queries: tuple[Formula, ...]) -> ScalarLeaf | None:
        """The scalars that satisfy `must`; None if there are none."""
        key = (must, queries)
        if key not in self._scalars:
            self._scalars[key] = self._make(must, queries)
        return self._scalars[key]

    def _make(self, must: Formula, queries: tuple[Formula, ...]) -> ScalarLeaf | None:
        """If a format must be judged, only strings that surely have it are admitted, provided that any remain."""
        narrow = must if self._any_text else self._narrowed(must)
        found = None if narrow is must else self._exactly(narrow, queries)
        return self._exactly(must, queries) if found is None else found

    def _narrowed(self, formula: Formula, wide: bool = False) -> Formula:
        """A formula without judged formats that implies `formula` (with `wide`: is implied by it)."""
        pool = self._pool
        if isinstance(formula.atom, Format) and opaque(formula.atom):
            name = formula.atom.name
            return pool.of(Possibly(name) if wide else Surely(name))
        if formula.op is Op.NOT:
            return pool.no(self._narrowed(formula.args[0], not wide))
        if formula.op is Op.ONE and any(opaque(part.atom) for part in formula.atoms):
            return self._narrowed(expanded(pool, formula), wide)
        if formula.op not in {Op.ALL, Op.ANY}:
            return formula
        join = pool.all if formula.op is Op.ALL else pool.any
        parts = [self._narrowed(part, wide) for part in formula.args]
        return formula if parts == list(formula.args) else join(parts)

    def _exactly(self, must: Formula, queries: tuple[Formula, ...]) -> ScalarLeaf | None:
        """The leaf of exactly these formulas; leaves without a judge are shared with other schemas."""
        if _no_scalars(must):
            return None
        to = self._restriction.to
        about = [
            to(f, kind) for kind in (ValueKind.STRING, ValueKind.NUMBER) for f in (must, *queries)
        ]
        truths = tuple(tuple(holds(f, value) for f in (must, *queries)) for value, _ in _CONSTANTS)
        if about[0] is about[len(queries) + 1] is self._pool.false and not any(
            t[0] for t in truths
        ):
            return None
        known, key = (
            known_scalars(),
            (truths, tuple(map(schema_free_key, about)), self._numbers.form),
        )
        found = known.get(key)
        if found is None:
            with making(("scalars", key)) as made:
                found = self._build(must, queries)
            if found is not None and found.judge is None and found.verbatim is None:
                size = found.nbytes + sum(map(constant_bytes, about))
                known.put(key, found, size, made.price)
        return found

    def _build(self, must: Formula, queries: tuple[Formula, ...]) -> ScalarLeaf | None:
        if is_verbatim(self._restriction.to(must, ValueKind.STRING)):
            return self._in_document(must, queries)
        atoms = list(self._scalar_atoms(must, queries))
        counted = None if queries or any(map(opaque, atoms)) else self._counted(must)
        judged = counted is None and any(map(_undecidable, atoms))
        if judged and len(queries) > MOST_JUDGED:
            raise ConstraintTooLarge(
                f"more than {MOST_JUDGED} schemas for one value, which no automaton can distinguish"
            )
        strings = counted is None
        try:
            found = list(self._parts(must, queries, strings, judged=False))
        except ConstraintTooLarge:
            # Queries exclude no value, so all of them can be answered at the end.
            if judged or not 0 < len(queries) <= MOST_JUDGED:
                raise
            judged = True
            found = list(self._parts(must, queries, strings, judged=True))
        found = [part for part in found if not part.dfa.empty]
        if counted is not None and counted.start is not None:
            return ScalarLeaf(
                union_all([nothing(), *(part.dfa for part in found)]), (0,), None, counted
            )
        if not found:
            return None
        vectors = sorted({vector for part in found for vector in part.vectors})
        if judged:
            vectors = list(range(1 << len(queries)))
        number = {vector: i for i, vector in enumerate(vectors)}
        parts = [
            part.dfa.relabel({old: number[vector] for old, vector in enumerate(part.vectors)})
            for part in found
        ]
        judge = partial(self._judge, must, queries) if judged else None
        return ScalarLeaf(joined(parts), tuple(vectors), judge)

    def _in_document(self, must: Formula, queries: tuple[Formula, ...]) -> ScalarLeaf | None:
        """The scalars where every string must be verbatim."""
        formula = self._restriction.to(must, ValueKind.STRING)
        verbatim = verbatim_string(self._pool, self._string_automata, formula)
        parts = self._parts(must, queries, strings=False, judged=False)
        found = [part for part in parts if not part.dfa.empty]
        if verbatim.start is None and not found:
            return None
        vectors = sorted({vector for part in found for vector in part.vectors})
        number = {vector: i for i, vector in enumerate(vectors)}
        relabelled = [
            part.dfa.relabel({old: number[vector] for old, vector in enumerate(part.vectors)})
            for part in found
        ]
        answers = partial(_answers, queries)
        dfa = union_all([nothing(), *relabelled])
        return ScalarLeaf(dfa, tuple(vectors), None, None, verbatim, answers)

    def _scalar_atoms(self, must: Formula, queries: tuple[Formula, ...]) -> Iterator[Atom]:
        to = self._restriction.to
        for kind in (ValueKind.STRING, ValueKind.NUMBER):
            for formula in (must, *queries):
                yield from (part.atom for part in to(formula, kind).atoms)

    def _judge(self, must: Formula, queries: tuple[Formula, ...], outcome: int, text: bytes) -> int:
        """The exact outcome of one text, where automata are only bounds; the outcome is the bit vector itself."""
        value = canonical(read(text))
        if not isinstance(value, str | int | Fraction):
            return outcome
        if not holds(must, value):
            return -1
        return sum(1 << i for i, ask in enumerate(queries) if holds(ask, value))

    def _bounded(self, formulas: tuple[Formula, ...], judged: bool) -> tuple[Formula, ...]:
        """Formulas that automata can decide: an opaque atom is taken to be possibly true and possibly false.

        Then, or if all queries are `judged` at the end of the text, only the first formula is kept, as a bound.
        """
        atoms = {part for f in formulas for part in f.atoms if _undecidable(part.atom)}
        if not atoms and not judged:
            return formulas
        pool = self._pool
        bound = formulas[0]
        for part in sorted(atoms, key=lambda formula: formula.rank):
            cases = [_decided(pool, bound, part, case) for case in (pool.true, pool.false)]
            if isinstance(part.atom, Format):
                wide = pool.of(Superset(part.atom.name))
                cases[0] = pool.all([cases[0], wide])
            bound = pool.any(cases)
        return (bound, *(pool.false for _ in formulas[1:]))

    def _counted(self, must: Formula) -> CountedString | None:
        """The strings that satisfy `must`, if their characters must be counted."""
        formula = self._restriction.to(must, ValueKind.STRING)
        parts = formula.args if formula.op is Op.ALL else (formula,)
        bounds = (part.atom.most for part in parts if isinstance(part.atom, Length))
        most = min((bound for bound in bounds if bound is not None), default=None)
        if not any(
            isinstance(part.atom, Length | Pattern | Format | Surely | Possibly) for part in parts
        ):
            return None
        chars = self._string_automata.of(without_most(self._pool, parts))
        counted = CountedString(chars, most)
        return counted if counted.needed else None

    def _parts(
        self, must: Formula, queries: tuple[Formula, ...], strings: bool, judged: bool
    ) -> Iterator[ScalarLeaf]:
        to = self._restriction.to
        for value, text in _CONSTANTS:
            if holds(must, value):
                bits = sum(1 << i for i, ask in enumerate(queries) if holds(ask, value))
                yield ScalarLeaf(constant(text), (bits,))
        if strings:
            exact = tuple(to(formula, ValueKind.STRING) for formula in (must, *queries))
            yield from self._strings(exact, self._bounded(exact, judged))
        numeric = tuple(to(formula, ValueKind.NUMBER) for formula in (must, *queries))
        numeric = self._bounded(numeric, judged)
        if numeric[0] is not self._pool.false:
            yield ScalarLeaf(*self._numbers.classes(numeric[0], numeric[1:]))

    def _strings(
        self, exact: tuple[Formula, ...], bounded: tuple[Formula, ...]
    ) -> Iterator[ScalarLeaf]:
        """Constants, each judged by itself; all other strings by the automata of `bounded`."""
        if bounded[0] is self._pool.false:
            return
        known = {
            text
            for formula in bounded
            for part in formula.atoms
            if isinstance(part.atom, OneOf)
            for text in part.atom.values
            if isinstance(text, str)
        }
        if known:
            yield self._constants(exact[0], exact[1:], known)

        def meaning(atom: Atom) -> Formula | None:
            return self._pool.false if isinstance(atom, OneOf) else None

        must, *rest = (substitute(self._pool, formula, meaning) for formula in bounded)
        if must is not self._pool.false:
            universe = self._string_automata.of(must)
            if known:
                universe = difference(universe, words(dict.fromkeys(known, 0)))
            dfa, vectors = classes(universe, [self._string_automata.of(ask) for ask in rest])
            yield ScalarLeaf(string(dfa, spelling_of(dfa)), vectors)

    def _constants(
        self, must: Formula, queries: tuple[Formula, ...], texts: set[str]
    ) -> ScalarLeaf:
        vectors: dict[int, int] = {}
        spelled: dict[bytes, int] = {}
        for text in texts:
            if holds(must, text):
                bits = sum(1 << i for i, ask in enumerate(queries) if holds(ask, text))
                spelled[spell(text)] = vectors.setdefault(bits, len(vectors))
        return ScalarLeaf(trie(spelled), tuple(vectors))

    def examples(self, must: Formula, queries: tuple[Formula, ...]) -> list[tuple[Value, int]]:
        """Some scalars that satisfy `must`, each with the bits of the queries that hold of it."""
        found = self._examples.get((must, queries))
        if found is None:
            scalars = self.of(must, queries)
            found = [] if scalars is None else list(_shortest(scalars))
            self._examples[must, queries] = found
        return found


def _answers(queries: tuple[Formula, ...], text: str) -> int:
    """The bits of the queries that hold of a string."""
    return sum(1 << i for i, ask in enumerate(queries) if holds(ask, text))


@cache
def known_scalars() -> SharedCache[ScalarLeaf]:
    """The leaves that all schemas share."""
    return SharedCache(_KNOWN_BYTES)


def is_expensive(formula: Formula) -> bool:
    """Whether the scalars of a formula take long to build: it has more than types and constants."""
    return any(isinstance(part.atom, _EXPENSIVE) for part in formula.atoms)


def _no_scalars(must: Formula) -> bool:
    """Whether the formula plainly admits only objects and arrays."""
    parts = must.args if must.op is Op.ALL else (must,)
    return any(isinstance(p.atom, Types) and p.atom.names <= _CONTAINERS for p in parts)


def _shortest(scalars: ScalarLeaf) -> Iterator[tuple[Value, int]]:
    for outcome in scalars.dfa.outcomes[:EXAMPLES]:
        text = scalars.dfa.restrict([outcome]).shortest()
        if text is None:
            continue
        decided = outcome if scalars.judge is None else scalars.judge(outcome, bytes(text))
        if decided >= 0:
            yield canonical(read(bytes(text))), scalars.vectors[decided]


def _decided(pool: Pool, formula: Formula, atom: Formula, case: Formula) -> Formula:
    return pool.replace(formula, lambda other: case if other == atom.atom else None)


def _undecidable(atom: Atom) -> bool:
    """Whether no automaton of reasonable size decides the atom in combination with others."""
    long = isinstance(atom, Length) and max(atom.least, atom.most or 0) >= LONG
    return long or isinstance(atom, Verbatim) or opaque(atom)
