"""Scalars as leaves, by what is asked of them.

Does: make byte automata with one outcome for each answer that occurs. Does not: recurse into objects and arrays.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from typing import TYPE_CHECKING, Final

from ...automata import Dfa, difference, nothing, trie, union_all, words
from ...contract.errors import ConstraintTooLarge
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
)
from ..logic.evaluate import holds
from ..logic.formula import Atom, Formula, Op, Pool
from ..logic.residual import substitute
from ..read.values import FALSE, TRUE, Value, canonical, read
from .common_automata import constant, joined, string
from .counted_strings import Counted
from .number_formulas import Numbers
from .opaque import opaque
from .shared_keys import SharedCache, weight, wording
from .string_escapes import spell, spelling_of
from .string_formulas import classes

if TYPE_CHECKING:
    from ..rules.language import Language

# How many example values of one leaf are looked at.
EXAMPLES = 16
# How many formulas can be asked of a value that is judged at its end.
MOST_JUDGED = 10
# An upper bound on length from which on it is judged, where it is not plainly demanded and so can be counted.
LONG = 4_096
_CONSTANTS: Final = ((None, b"null"), (TRUE, b"true"), (FALSE, b"false"))
_DEAR: Final = (Pattern, Length, Format, AtLeast, AtMost, MultipleOf)
_KNOWN_BYTES: Final = 24 << 20  # of scalars that all schemas share
_CONTAINERS: Final = frozenset({"object", "array"})


@dataclass(frozen=True, slots=True)
class Scalars:
    """All scalar values a rule takes. Outcome o of the automaton means that the asks of bits `vectors[o]` hold.

    `counted`: long strings besides those of the automaton, of which the asks of bits `vectors[-1]` hold.
    """

    dfa: Dfa
    vectors: tuple[int, ...]
    judge: Callable[[int, bytes], int] | None = None
    counted: Counted | None = None

    @property
    def nbytes(self) -> int:
        """Memory of the tables."""
        return self.dfa.size_bytes + (0 if self.counted is None else self.counted.chars.size_bytes)

    @property
    def least(self) -> int:
        """Bytes of a shortest scalar."""
        found = list(self.dfa.least.values())
        if self.counted is not None and self.counted.start is not None:
            found.append(1 + self.counted.least(self.counted.start))
        return min(found)


class ScalarLeaves:
    """The scalars of one compilation."""

    def __init__(self, language: "Language") -> None:
        self._language = language
        self._pool = language.normal.pool
        self._texts = language.texts
        options = language.options
        self._numbers = Numbers(options.exponents, not options.lenient, options.short_numbers)
        self._scalars: dict[tuple[Formula, tuple[Formula, ...]], Scalars | None] = {}
        self._examples: dict[tuple[Formula, tuple[Formula, ...]], list[tuple[Value, int]]] = {}

    def of(self, must: Formula, asks: tuple[Formula, ...]) -> Scalars | None:
        """The scalars for which `must` holds; None if there are none."""
        key = (must, asks)
        if key not in self._scalars:
            self._scalars[key] = self._make(must, asks)
        return self._scalars[key]

    def _make(self, must: Formula, asks: tuple[Formula, ...]) -> Scalars | None:
        """Where a format has to be judged, only texts that surely have it are let in, if that leaves any."""
        narrow = must if self._language.options.lenient else self._narrowed(must)
        found = None if narrow is must else self._exactly(narrow, asks)
        return self._exactly(must, asks) if found is None else found

    def _narrowed(self, formula: Formula, wide: bool = False) -> Formula:
        """A formula that implies the other (`wide`: is implied by it) and has no formats that have to be judged."""
        pool = self._pool
        if isinstance(formula.atom, Format) and opaque(formula.atom):
            name = formula.atom.name
            return pool.of(Possibly(name) if wide else Surely(name))
        if formula.op is Op.NOT:
            return pool.no(self._narrowed(formula.args[0], not wide))
        if formula.op is Op.ONE and any(opaque(part.atom) for part in formula.atoms):
            return self._narrowed(pool.spread(formula), wide)
        if formula.op not in {Op.ALL, Op.ANY}:
            return formula
        join = pool.all if formula.op is Op.ALL else pool.any
        parts = [self._narrowed(part, wide) for part in formula.args]
        return formula if parts == list(formula.args) else join(parts)

    def _exactly(self, must: Formula, asks: tuple[Formula, ...]) -> Scalars | None:
        """What another schema asked in the same words is not made again, unless values have to be judged."""
        if _no_scalars(must):
            return None
        to = self._language.restriction.to
        about = [
            to(f, kind) for kind in (ValueKind.STRING, ValueKind.NUMBER) for f in (must, *asks)
        ]
        truths = tuple(tuple(holds(f, value) for f in (must, *asks)) for value, _ in _CONSTANTS)
        if about[0] is about[len(asks) + 1] is self._pool.false and not any(t[0] for t in truths):
            return None
        known, key = known_scalars(), (truths, tuple(map(wording, about)), self._numbers.form)
        found = known.get(key)
        if found is None:
            found = self._build(must, asks)
            if found is not None and found.judge is None:
                known.put(key, found, found.nbytes + sum(map(weight, about)))
        return found

    def _build(self, must: Formula, asks: tuple[Formula, ...]) -> Scalars | None:
        atoms = list(self._scalar_atoms(must, asks))
        counted = None if asks or any(map(opaque, atoms)) else self._counted(must)
        judged = counted is None and any(map(_untold, atoms))
        if judged and len(asks) > MOST_JUDGED:
            raise ConstraintTooLarge(
                f"more than {MOST_JUDGED} schemas for one value that no automaton can tell apart"
            )
        strings = counted is None
        try:
            found = list(self._parts(must, asks, strings, judged=False))
        except ConstraintTooLarge:
            # What is only asked decides about no value: all of it can be told at the end.
            if judged or not 0 < len(asks) <= MOST_JUDGED:
                raise
            judged = True
            found = list(self._parts(must, asks, strings, judged=True))
        found = [part for part in found if not part.dfa.empty]
        if counted is not None and counted.start is not None:
            return Scalars(
                union_all([nothing(), *(part.dfa for part in found)]), (0,), None, counted
            )
        if not found:
            return None
        vectors = sorted({vector for part in found for vector in part.vectors})
        if judged:
            vectors = list(range(1 << len(asks)))
        number = {vector: i for i, vector in enumerate(vectors)}
        parts = [
            part.dfa.relabel({old: number[vector] for old, vector in enumerate(part.vectors)})
            for part in found
        ]
        judge = partial(self._judge, must, asks) if judged else None
        return Scalars(joined(parts), tuple(vectors), judge)

    def _scalar_atoms(self, must: Formula, asks: tuple[Formula, ...]) -> Iterator[Atom]:
        to = self._language.restriction.to
        for kind in (ValueKind.STRING, ValueKind.NUMBER):
            for formula in (must, *asks):
                yield from (part.atom for part in to(formula, kind).atoms)

    def _judge(self, must: Formula, asks: tuple[Formula, ...], outcome: int, text: bytes) -> int:
        """The exact answer about one text, where automata only bound it; the outcome is the bit vector itself."""
        value = canonical(read(text))
        if not isinstance(value, str | int | Fraction):
            return outcome
        if not holds(must, value):
            return -1
        return sum(1 << i for i, ask in enumerate(asks) if holds(ask, value))

    def _bounded(self, formulas: tuple[Formula, ...], judged: bool) -> tuple[Formula, ...]:
        """Formulas automata can tell: of what they cannot, either answer is taken to be possible.

        Only the first formula is kept as a bound then, or if all others are `judged` at the end of the text.
        """
        atoms = {part for f in formulas for part in f.atoms if _untold(part.atom)}
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

    def _counted(self, must: Formula) -> Counted | None:
        """The strings for which `must` holds, where they have to be counted."""
        formula = self._language.restriction.to(must, ValueKind.STRING)
        parts = formula.args if formula.op is Op.ALL else (formula,)
        bounds = (part.atom.most for part in parts if isinstance(part.atom, Length))
        most = min((bound for bound in bounds if bound is not None), default=None)
        if not any(
            isinstance(part.atom, Length | Pattern | Format | Surely | Possibly) for part in parts
        ):
            return None
        rest = [
            self._pool.of(Length(part.atom.least)) if isinstance(part.atom, Length) else part
            for part in parts
        ]
        chars = self._texts.of(self._pool.all(rest))
        counted = Counted(chars, most)
        return counted if counted.needed else None

    def _parts(
        self, must: Formula, asks: tuple[Formula, ...], strings: bool, judged: bool
    ) -> Iterator[Scalars]:
        to = self._language.restriction.to
        for value, text in _CONSTANTS:
            if holds(must, value):
                bits = sum(1 << i for i, ask in enumerate(asks) if holds(ask, value))
                yield Scalars(constant(text), (bits,))
        if strings:
            exact = tuple(to(formula, ValueKind.STRING) for formula in (must, *asks))
            yield from self._strings(exact, self._bounded(exact, judged))
        numeric = tuple(to(formula, ValueKind.NUMBER) for formula in (must, *asks))
        numeric = self._bounded(numeric, judged)
        if numeric[0] is not self._pool.false:
            yield Scalars(*self._numbers.classes(numeric[0], numeric[1:]))

    def _strings(
        self, exact: tuple[Formula, ...], bounded: tuple[Formula, ...]
    ) -> Iterator[Scalars]:
        """Constants by looking at each, all other strings by automata, that tell no more than `bounded`."""
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
            universe = self._texts.of(must)
            if known:
                universe = difference(universe, words(dict.fromkeys(known, 0)))
            dfa, vectors = classes(universe, [self._texts.of(ask) for ask in rest])
            yield Scalars(string(dfa, spelling_of(dfa)), vectors)

    def _constants(self, must: Formula, asks: tuple[Formula, ...], texts: set[str]) -> Scalars:
        vectors: dict[int, int] = {}
        spelled: dict[bytes, int] = {}
        for text in texts:
            if holds(must, text):
                bits = sum(1 << i for i, ask in enumerate(asks) if holds(ask, text))
                spelled[spell(text)] = vectors.setdefault(bits, len(vectors))
        return Scalars(trie(spelled), tuple(vectors))

    def examples(self, must: Formula, asks: tuple[Formula, ...]) -> list[tuple[Value, int]]:
        """Some scalars for which `must` holds, with the bits of the asks that hold of them."""
        found = self._examples.get((must, asks))
        if found is None:
            scalars = self.of(must, asks)
            found = [] if scalars is None else list(_shortest(scalars))
            self._examples[must, asks] = found
        return found


@cache
def known_scalars() -> SharedCache[Scalars]:
    """The scalars of all schemas."""
    return SharedCache(_KNOWN_BYTES)


def dear(formula: Formula) -> bool:
    """Whether its scalars take long to make: those of more than types and constants."""
    return any(isinstance(part.atom, _DEAR) for part in formula.atoms)


def _no_scalars(must: Formula) -> bool:
    """Whether only objects and arrays are plainly let in."""
    parts = must.args if must.op is Op.ALL else (must,)
    return any(isinstance(p.atom, Types) and p.atom.names <= _CONTAINERS for p in parts)


def _shortest(scalars: Scalars) -> Iterator[tuple[Value, int]]:
    for outcome in scalars.dfa.outcomes[:EXAMPLES]:
        text = scalars.dfa.restrict([outcome]).shortest()
        if text is None:
            continue
        told = outcome if scalars.judge is None else scalars.judge(outcome, bytes(text))
        if told >= 0:
            yield canonical(read(bytes(text))), scalars.vectors[told]


def _decided(pool: Pool, formula: Formula, atom: Formula, case: Formula) -> Formula:
    return pool.replace(formula, lambda other: case if other == atom.atom else None)


def _untold(atom: Atom) -> bool:
    """Whether no automaton of reasonable size tells the atom together with others."""
    long = isinstance(atom, Length) and max(atom.least, atom.most or 0) >= LONG
    return long or opaque(atom)
