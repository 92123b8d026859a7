"""The assertions a schema can make about one value, as frozen values.

Does: define the atoms and their meaning. Does not: evaluate them (`evaluate`) or turn them into automata (`scalars`).

Every atom is about one kind of value and holds for values of all other kinds, as the keywords of the specification do;
only `Types` and `OneOf` are about every kind.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction

from ..read.values import Value
from .formula import Formula

PLAIN_INTEGER = "plain integer"


class ValueKind(StrEnum):
    """The kinds of JSON value, which the first byte distinguishes."""

    NULL = "null"
    BOOLEAN = "boolean"
    NUMBER = "number"
    STRING = "string"
    ARRAY = "array"
    OBJECT = "object"

    __hash__ = str.__hash__  # ten times as fast as the hash of an enumeration


@dataclass(frozen=True, slots=True)
class SubSchema:
    """A sub-schema. Its formula is made on first use, so that schemas can be recursive.

    Equal keys mean equal schemas. `where`: the JSON Pointer of its first occurrence.
    """

    key: object
    where: str = field(compare=False)
    make: Callable[["SubSchema"], Formula] = field(compare=False, repr=False)

    @property
    def formula(self) -> Formula:
        """The assertions of the sub-schema."""
        return self.make(self)


@dataclass(frozen=True, slots=True)
class Types:
    """The type of the value is among the names (`integer`: any number without a fractional part).

    `PLAIN_INTEGER`: an integer in the sense of draft 4.
    """

    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class OneOf:
    """The value equals one of the values."""

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
    """The string is in the automaton of a format that no automaton decides: a bound that admits more strings."""

    name: str


@dataclass(frozen=True, slots=True)
class Surely:
    """The string is in an automaton of texts that have the format; others have it too."""

    name: str


@dataclass(frozen=True, slots=True)
class Possibly:
    """The string is in an automaton of all texts with the format and of others; unlike `Superset`, judged exactly."""

    name: str


@dataclass(frozen=True, slots=True)
class Verbatim:
    """The string is a substring of the document. `where`: the JSON Pointer of the first keyword that says so."""

    document: str = field(repr=False)
    where: str = field(compare=False)


@dataclass(frozen=True, slots=True)
class Integer:
    """The number has no fractional part; `plainly`: nor is it written with one (in draft 4, 1.0 is not an integer)."""

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
    """The number is a whole multiple of `step`."""

    step: int | Fraction


@dataclass(frozen=True, slots=True)
class Plain:
    """The number has its one plain spelling: no exponent, no zeros at the end of a fraction, no minus zero.

    It is about the text and not the value, so it holds for every number; it makes equal numbers equal texts.
    """


@dataclass(frozen=True, slots=True)
class Properties:
    """Each member of the object is valid against all sub-schemas that its name selects.

    These are the one of `named`, every matching one of `patterns`, and `rest` if neither selects any.
    """

    named: tuple[tuple[str, SubSchema], ...]
    patterns: tuple[tuple[str, SubSchema], ...]
    rest: SubSchema | None


@dataclass(frozen=True, slots=True)
class PropertyNames:
    """Each member's name is valid against the sub-schema."""

    sub: SubSchema


@dataclass(frozen=True, slots=True)
class Required:
    """The object has members of all the names."""

    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class MemberCount:
    """The number of members is in [least, most]."""

    least: int = 0
    most: int | None = None


@dataclass(frozen=True, slots=True)
class MemberCover:
    """The member names that a sub-schema evaluates if its condition holds."""

    names: frozenset[str]
    patterns: tuple[str, ...]
    everything: bool


@dataclass(frozen=True, slots=True)
class UnevaluatedMembers:
    """`unevaluatedProperties`: each member outside all covers with a true condition is valid against `sub`."""

    sub: SubSchema
    covers: tuple[tuple[MemberCover, Formula], ...]


@dataclass(frozen=True, slots=True)
class Items:
    """Item i is valid against `prefix[i]`, and items after the prefix against `rest`."""

    prefix: tuple[SubSchema, ...]
    rest: SubSchema | None


@dataclass(frozen=True, slots=True)
class ItemCount:
    """The number of items is in [least, most]."""

    least: int = 0
    most: int | None = None


@dataclass(frozen=True, slots=True)
class Contains:
    """The number of items valid against `sub` is in [least, most]."""

    sub: SubSchema
    least: int = 1
    most: int | None = None


@dataclass(frozen=True, slots=True)
class Unique:
    """No two items are equal."""


@dataclass(frozen=True, slots=True)
class ItemCover:
    """The items that a sub-schema evaluates: the first `prefix`, those valid against `contains`, or all."""

    prefix: int
    contains: SubSchema | None
    everything: bool


@dataclass(frozen=True, slots=True)
class UnevaluatedItems:
    """`unevaluatedItems`: each item outside all covers with a true condition is valid against `sub`."""

    sub: SubSchema
    covers: tuple[tuple[ItemCover, Formula], ...]


KIND_OF: dict[type, ValueKind] = {
    **dict.fromkeys(
        (Pattern, Length, Format, Superset, Surely, Possibly, Verbatim), ValueKind.STRING
    ),
    **dict.fromkeys((Integer, AtLeast, AtMost, MultipleOf, Plain), ValueKind.NUMBER),
    **dict.fromkeys(
        (Properties, PropertyNames, Required, MemberCount, UnevaluatedMembers), ValueKind.OBJECT
    ),
    **dict.fromkeys((Items, ItemCount, Contains, Unique, UnevaluatedItems), ValueKind.ARRAY),
}


def subs_of(atom: object) -> tuple[SubSchema, ...]:
    """The sub-schemas of an atom."""
    if isinstance(atom, Properties):
        rest = () if atom.rest is None else (atom.rest,)
        return (*(sub for _, sub in (*atom.named, *atom.patterns)), *rest)
    if isinstance(atom, Items):
        return atom.prefix if atom.rest is None else (*atom.prefix, atom.rest)
    if isinstance(atom, UnevaluatedItems):
        contained = (cover.contains for cover, _ in atom.covers)
        return (atom.sub, *(sub for sub in contained if sub is not None))
    return (atom.sub,) if isinstance(atom, PropertyNames | Contains | UnevaluatedMembers) else ()
