"""What a caller may ask an output to be: a constraint, as a value.

Does: name the kinds, carry the source text, give a key that is equal exactly when two constraints
are. Does not: parse or judge the source (`screen`, `compile`).
"""

import hashlib
import json
from dataclasses import astuple, dataclass
from enum import StrEnum
from typing import Final

MOST_INDENT: Final = 16


class Kind(StrEnum):
    """The language a constraint's source is written in."""

    JSON_SCHEMA = "json_schema"
    REGEX = "regex"
    EBNF = "ebnf"
    LARK = "lark"
    CSV = "csv"  # a table; the source is a JSON Schema of an array of objects with scalar members
    XML = "xml"  # a document of elements; the source is a JSON Schema of an object


class Whitespace(StrEnum):
    """Where JSON output may hold white space. Every form is bounded: none lets a model print blanks for ever."""

    COMPACT = "compact"  # none outside strings
    SPACED = "spaced"  # one blank after each comma and colon, exactly
    PRETTY = "pretty"  # a line for each member and item, `indent` blanks a level, one after a colon, exactly
    LENIENT = "lenient"  # up to 64 blanks, tabs and line ends wherever JSON allows them


class KeyOrder(StrEnum):
    """In which order the members of an object may come."""

    SCHEMA = "schema"  # as their schema declares them, then all others
    ANY = "any"


@dataclass(frozen=True, slots=True)
class Constraint:
    """A language the output must belong to, in full.

    `source` is JSON text for `JSON_SCHEMA`, a pattern that the whole output must match for `REGEX`
    (ECMA-262 flavour), a grammar whose start rule is `root` for `EBNF`, `start` for `LARK`, JSON text
    of a schema for `CSV` and `XML`. `header` says whether a `CSV` table begins with the names of its columns. All other
    fields only mean something for `JSON_SCHEMA`:

    `extra_properties`: false keeps objects to the properties their schema names, also where it would allow others by
    not forbidding them (every such output is valid against the schema all the same). `indent`: blanks a level of
    `PRETTY`, at most `MOST_INDENT`. `formats`: whether `format` asserts; else it is an annotation. `exponents`: whether
    numbers of which something is asked may be written with an exponent, where that can be told. `schemas`: the other
    documents that `$ref` may name, as pairs of URI and JSON text; nothing is ever fetched. `short_numbers`: numbers
    have at most 20 digits before the point and 17 behind it, more only where a bound or constant of the schema has
    more.
    """

    kind: Kind
    source: str
    whitespace: Whitespace = Whitespace.COMPACT
    extra_properties: bool = True
    key_order: KeyOrder = KeyOrder.SCHEMA
    indent: int = 2
    formats: bool = True
    exponents: bool = False
    schemas: tuple[tuple[str, str], ...] = ()
    header: bool = True
    short_numbers: bool = False

    def __post_init__(self) -> None:
        """Raises ValueError for an indentation out of its bounds."""
        if not 0 <= self.indent <= MOST_INDENT:
            raise ValueError(f"indent must be between 0 and {MOST_INDENT}, not {self.indent}")

    @property
    def key(self) -> str:
        """A collision-resistant name of this constraint, for caches: hex SHA-256 of all its fields."""
        text = json.dumps(astuple(self))
        return hashlib.sha256(text.encode()).hexdigest()
