"""Boolean formulas over atoms, hash-consed: equal formulas of one pool are the same object.

Does: build simplified formulas, substitute atoms, evaluate. Does not: interpret atoms.

A schema is a formula over assertions about a value. Reading an object or array replaces atoms by their derivatives
(Brzozowski 1964), so the residual formula *is* the state of the automaton, and equivalent states tend to be the same
object.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from enum import StrEnum
from operator import attrgetter, is_
from typing import Final

Atom = Hashable
_rank: Final = attrgetter("rank")


class Op(StrEnum):
    """The kinds of formula."""

    TRUE = "true"
    FALSE = "false"
    ATOM = "atom"
    NOT = "not"
    ALL = "all"
    ANY = "any"
    ONE = "one"  # exactly one holds

    __hash__ = str.__hash__  # ten times as fast as the hash of an enumeration


class Formula:
    """One formula of a `Pool`, compared by identity. `atoms`: the atoms it mentions, as formulas."""

    __slots__ = ("args", "atom", "atoms", "op", "rank")

    def __init__(self, op: Op, args: tuple["Formula", ...], atom: Atom, rank: int) -> None:
        self.op = op
        self.args = args
        self.atom = atom
        self.rank = rank  # order of creation: the same schema always gives the same formulas
        self.atoms: tuple[Formula, ...] = (
            (self,) if op is Op.ATOM else tuple(dict.fromkeys(a for f in args for a in f.atoms))
        )

    def __repr__(self) -> str:
        if self.op is Op.ATOM:
            return repr(self.atom)
        return f"{self.op.value}({', '.join(map(repr, self.args))})"


class Pool:
    """The formulas of one schema."""

    def __init__(self) -> None:
        self._made: dict[tuple[Op, tuple[Formula, ...], Atom], Formula] = {}
        self.true = self._make(Op.TRUE)
        self.false = self._make(Op.FALSE)

    def release(self) -> None:
        """Break the reference cycles: the formula of an atom mentions itself. No formula may be used afterwards."""
        for formula in self._made.values():
            formula.atoms = ()

    def _make(self, op: Op, args: tuple[Formula, ...] = (), atom: Atom = None) -> Formula:
        key = (op, args, atom)
        formula = self._made.get(key)
        if formula is None:
            formula = self._made[key] = Formula(op, args, atom, len(self._made))
        return formula

    def constant(self, value: bool) -> Formula:
        """`true` or `false`."""
        return self.true if value else self.false

    def of(self, atom: Atom) -> Formula:
        """The formula of one atom."""
        return self._make(Op.ATOM, (), atom)

    def no(self, formula: Formula) -> Formula:
        """Negation."""
        if formula.op is Op.NOT:
            return formula.args[0]
        if formula.op is Op.TRUE:
            return self.false
        if formula.op is Op.FALSE:
            return self.true
        return self._make(Op.NOT, (formula,))

    def all(self, formulas: Iterable[Formula]) -> Formula:
        """Conjunction."""
        return self._join(Op.ALL, formulas, self.true, self.false)

    def any(self, formulas: Iterable[Formula]) -> Formula:
        """Disjunction."""
        return self._join(Op.ANY, formulas, self.false, self.true)

    def _join(self, op: Op, formulas: Iterable[Formula], unit: Formula, zero: Formula) -> Formula:
        seen: dict[Formula, None] = {}
        for formula in formulas:
            if formula is zero:
                return zero
            if formula.op is op:
                seen.update(dict.fromkeys(formula.args))
            elif formula is not unit:
                seen[formula] = None
        for formula in seen:
            if formula.op is Op.NOT and formula.args[0] in seen:
                return zero
        if len(seen) <= 1:
            return next(iter(seen), unit)
        return self._make(op, tuple(sorted(seen, key=_rank)))

    def one(self, formulas: Iterable[Formula]) -> Formula:
        """Exactly one formula holds (a formula given twice counts twice)."""
        counts = Counter(formulas)
        surely = counts.pop(self.true, 0)
        counts.pop(self.false, None)
        if surely > 1:
            return self.false
        if surely:
            return self.no(self.any(counts))
        never = [self.no(formula) for formula, times in counts.items() if times > 1]
        rest = [formula for formula, times in counts.items() if times == 1]
        if len(rest) <= 1:
            return self.all([*never, *(rest or [self.false])])
        return self.all([*never, self._make(Op.ONE, tuple(sorted(rest, key=_rank)))])

    def choose(self, condition: Formula, then: Formula, otherwise: Formula) -> Formula:
        """`then` if `condition` holds, else `otherwise`."""
        return self.all([self.any([self.no(condition), then]), self.any([condition, otherwise])])

    def replace(self, formula: Formula, meaning: Callable[[Atom], Formula | None]) -> Formula:
        """`formula` with its atoms replaced by their `meaning`, unless that is None."""
        found = ((part, meaning(part.atom)) for part in formula.atoms)
        return self.put(formula, {part: new for part, new in found if new is not None})

    def put(self, formula: Formula, changed: Mapping[Formula, Formula]) -> Formula:
        """`formula` with atoms replaced as `changed` says."""
        if not changed:
            return formula
        done = dict(zip(formula.atoms, formula.atoms, strict=True))
        done.update(changed)
        return self._replace(formula, done)

    def _replace(self, formula: Formula, done: dict[Formula, Formula]) -> Formula:
        new = done.get(formula)
        if new is None:
            args = [done.get(part) or self._replace(part, done) for part in formula.args]
            new = done[formula] = self._rebuild(formula, args)
        return new

    def _rebuild(self, formula: Formula, args: list[Formula]) -> Formula:
        if all(map(is_, args, formula.args)):
            return formula
        if formula.op is Op.NOT:
            return self.no(args[0])
        if formula.op is Op.ALL:
            return self.all(args)
        return self.any(args) if formula.op is Op.ANY else self.one(args)


def expanded(pool: Pool, one: Formula) -> Formula:
    """A formula of `Op.ONE`, expressed by the other operations."""
    return pool.any(
        pool.all([part, *(pool.no(other) for other in one.args if other is not part)])
        for part in one.args
    )


def evaluate(formula: Formula, holds: Callable[[Atom], bool]) -> bool:
    """The truth of a formula, given the truth of its atoms by `holds`."""
    op = formula.op
    if op is Op.ATOM:
        return holds(formula.atom)
    if op is Op.NOT:
        return not evaluate(formula.args[0], holds)
    if op is Op.ALL or op is Op.ANY:
        decided = op is Op.ANY
        for part in formula.args:
            # Most parts are atoms: this saves a call.
            found = holds(part.atom) if part.op is Op.ATOM else evaluate(part, holds)
            if bool(found) is decided:
                return decided
        return not decided
    if op is Op.ONE:
        return sum(evaluate(part, holds) for part in formula.args) == 1
    return op is Op.TRUE


def conjuncts(formula: Formula) -> list[Atom] | None:
    """The atoms of a plain conjunction; None for any other formula."""
    if formula.op is Op.TRUE:
        return []
    parts = formula.args if formula.op is Op.ALL else (formula,)
    return [part.atom for part in parts] if all(p.op is Op.ATOM for p in parts) else None
