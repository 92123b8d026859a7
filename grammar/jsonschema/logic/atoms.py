"""What a schema can assert of one value, as frozen values.

Does: name the atoms and what each says. Does not: evaluate them (`evaluate`) or turn them into automata (`rules`).

Every atom is about one kind of value and holds of values of all other kinds, as the specification says of its
keywords; only `Types` and `OneOf` speak about every kind.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction

from ..read.values import Value
from .formula import Formula

PLAIN_INTEGER = "plain integer"


class ValueKind(StrEnum):
    """The kinds of JSON value, as their first byte tells them apart."""

    NULL = "null"
    BOOLEAN = "boolean"
    NUMBER = "number"
    STRING = "string"
    ARRAY = "array"
    OBJECT = "object"

    __hash__ = str.__hash__  # an enumeration's own takes ten times as long


@dataclass(frozen=True, slots=True)
class Sub:
    """A sub-schema whose formula is made when it is first asked for, which is what lets schemas be recursive.

    Equal keys mean equal schemas. `where` is the JSON Pointer of the first place it was found at.
    """

    key: object
    where: str = field(compare=False)
    make: Callable[["Sub"], Formula] = field(compare=False, repr=False)

    @property
    def formula(self) -> Formula:
        """What it asserts."""
        return self.make(self)


@dataclass(frozen=True, slots=True)
class Types:
    """The value's type is among the names (`integer` is any number without a fractional part).

    `PLAIN_INTEGER` is what draft 4 calls an integer.
    """

    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class OneOf:
    """The value equals one of these."""

    values: frozenset[Value]


@dataclass(frozen=True, slots=True)
class Pattern:
    """An ECMA-262 regular expression matches somewhere in the string."""

    source: str


@dataclass(frozen=True, slots=True)
class Length:
    """The number of code points of the string is in [least, most]."""

    least: int = 0
    most: int | None = None


@dataclass(frozen=True, slots=True)
class Format:
    """The string has this format of the specification."""

    name: str


@dataclass(frozen=True, slots=True)
class Superset:
    """The string is in the automaton of a format that no automaton can tell exactly: a bound that lets more through."""

    name: str


@dataclass(frozen=True, slots=True)
class Surely:
    """The string is in an automaton of texts that have the format, but not of all such texts."""

    name: str


@dataclass(frozen=True, slots=True)
class Possibly:
    """The string is in an automaton of all texts that have the format and of others; unlike `Superset`, it is exact."""

    name: str


@dataclass(frozen=True, slots=True)
class Integer:
    """The number has no fractional part; `plainly`: nor is it written with one (to draft 4 1.0 is no integer)."""

    plainly: bool = False


@dataclass(frozen=True, slots=True)
class AtLeast:
    """The number is `bound` or more (more, if `strictly`)."""

    bound: int | Fraction
    strictly: bool = False


@dataclass(frozen=True, slots=True)
class AtMost:
    """The number is `bound` or less (less, if `strictly`)."""

    bound: int | Fraction
    strictly: bool = False


@dataclass(frozen=True, slots=True)
class MultipleOf:
    """The number is a whole multiple."""

    step: int | Fraction


@dataclass(frozen=True, slots=True)
class Plain:
    """The number is written in the one plain way: no exponent, no zeros at the end of a fraction, no minus zero.

    About the text and not the value, so it is true of every number; it makes equal numbers equal texts.
    """


@dataclass(frozen=True, slots=True)
class Props:
    """Each member of the object is valid against all sub-schemas its name selects: `named`, every matching one of
    `patterns`, and `rest` where neither selects any.
    """

    named: tuple[tuple[str, Sub], ...]
    patterns: tuple[tuple[str, Sub], ...]
    rest: Sub | None


@dataclass(frozen=True, slots=True)
class Names:
    """Each member's name is valid against the sub-schema."""

    sub: Sub


@dataclass(frozen=True, slots=True)
class Required:
    """The object has members of all these names."""

    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class Members:
    """The number of members is in [least, most]."""

    least: int = 0
    most: int | None = None


@dataclass(frozen=True, slots=True)
class KeyCover:
    """The member names that a sub-schema evaluates if it holds."""

    names: frozenset[str]
    patterns: tuple[str, ...]
    everything: bool


@dataclass(frozen=True, slots=True)
class OtherMembers:
    """`unevaluatedProperties`: each member whose name no cover with a true condition holds is valid against `sub`."""

    sub: Sub
    covers: tuple[tuple[KeyCover, Formula], ...]


@dataclass(frozen=True, slots=True)
class Items:
    """Item i is valid against `prefix[i]`, those beyond against `rest`."""

    prefix: tuple[Sub, ...]
    rest: Sub | None


@dataclass(frozen=True, slots=True)
class ItemCount:
    """The number of items is in [least, most]."""

    least: int = 0
    most: int | None = None


@dataclass(frozen=True, slots=True)
class Contains:
    """The number of items valid against `sub` is in [least, most]."""

    sub: Sub
    least: int = 1
    most: int | None = None


@dataclass(frozen=True, slots=True)
class Unique:
    """No two items are equal."""


@dataclass(frozen=True, slots=True)
class ItemCover:
    """The items that a sub-schema evaluates if it holds: the first `prefix`, those valid against `contains`, or all."""

    prefix: int
    contains: Sub | None
    everything: bool


@dataclass(frozen=True, slots=True)
class OtherItems:
    """`unevaluatedItems`: each item that no cover with a true condition holds is valid against `sub`."""

    sub: Sub
    covers: tuple[tuple[ItemCover, Formula], ...]


KIND_OF: dict[type, ValueKind] = {
    **dict.fromkeys((Pattern, Length, Format, Superset, Surely, Possibly), ValueKind.STRING),
    **dict.fromkeys((Integer, AtLeast, AtMost, MultipleOf, Plain), ValueKind.NUMBER),
    **dict.fromkeys((Props, Names, Required, Members, OtherMembers), ValueKind.OBJECT),
    **dict.fromkeys((Items, ItemCount, Contains, Unique, OtherItems), ValueKind.ARRAY),
}


def subs_of(atom: object) -> tuple[Sub, ...]:
    """The sub-schemas an atom speaks of."""
    if isinstance(atom, Props):
        rest = () if atom.rest is None else (atom.rest,)
        return (*(sub for _, sub in (*atom.named, *atom.patterns)), *rest)
    if isinstance(atom, Items):
        return atom.prefix if atom.rest is None else (*atom.prefix, atom.rest)
    if isinstance(atom, OtherItems):
        contained = (cover.contains for cover, _ in atom.covers)
        return (atom.sub, *(sub for sub in contained if sub is not None))
    return (atom.sub,) if isinstance(atom, Names | Contains | OtherMembers) else ()
