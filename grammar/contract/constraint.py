"""The constraint that an output has to match, as a value: kind, source text and options.

Does: define the kinds, carry the source, give a cache key that is equal exactly when two constraints are equal. Does
not: parse or check the source (`frontend`, `compile`).
"""

import hashlib
import json
from dataclasses import astuple, dataclass, replace
from enum import StrEnum
from functools import lru_cache
from typing import Final

MOST_INDENT: Final = 16
_EXTENSION: Final = '"x-intaglio"'
_MOST_KEPT: Final = 1 << 14  # characters of a source that is kept with its key


class Kind(StrEnum):
    """The language a constraint's source is written in."""

    JSON_SCHEMA = "json_schema"
    REGEX = "regex"
    EBNF = "ebnf"
    LARK = "lark"
    CSV = "csv"  # a table; the source is a JSON Schema of an array of flat objects
    XML = "xml"  # a document of elements; the source is a JSON Schema of an object
    STRUCTURAL_TAG = "structural_tag"  # text in which fixed beginnings start constrained segments


class Whitespace(StrEnum):
    """Where JSON output may contain white space. Every form is bounded, so a model cannot write blanks without end."""

    COMPACT = "compact"  # no white space outside strings
    SPACED = "spaced"  # exactly one blank after each comma and colon
    PRETTY = "pretty"  # one line per property and item, `indent` blanks per level, exactly one blank after a colon
    LENIENT = "lenient"  # up to 64 blanks, tabs and line ends wherever JSON allows them


class KeyOrder(StrEnum):
    """The order of the properties of an object."""

    SCHEMA = "schema"  # as declared in the schema, then all others
    ANY = "any"


@dataclass(frozen=True, slots=True)
class Constraint:
    """The language that the whole output must belong to.

    `source`: JSON text for `JSON_SCHEMA`; a pattern that the whole output must match for `REGEX` (ECMA-262 flavour); a
    grammar with the start rule `root` for `EBNF` and `start` for `LARK`; JSON text of a schema for `CSV` and `XML`, of
    a structural tag for `STRUCTURAL_TAG` (`tags.tag_source`). `header`: whether a `CSV` table starts with a row of
    column names. All other fields apply to `JSON_SCHEMA` and to the schemas in a structural tag only:

    `extra_properties`: false restricts objects to the properties named in their schema, even where the schema does not
    forbid others (such output is still valid). `indent`: blanks per level of `PRETTY`, at most `MOST_INDENT`.
    `formats`: whether `format` is an assertion; otherwise it is an annotation. `exponents`: whether numbers with
    assertions may be written with an exponent, where the assertions can still be enforced. `schemas`: other documents
    that `$ref` may refer to, as pairs of URI and JSON text; documents are never fetched. `short_numbers`: limits
    numbers to 20 digits before the decimal point and 17 after it, unless a bound or constant of the schema has more.
    `document`: the text of which strings with `x-intaglio: {"verbatim": true}` are substrings; a schema with such
    strings is refused without it.
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
    document: str | None = None

    def __post_init__(self) -> None:
        """Raises ValueError if `indent` is out of bounds."""
        if not 0 <= self.indent <= MOST_INDENT:
            raise ValueError(f"indent must be between 0 and {MOST_INDENT}, not {self.indent}")

    def about(self, document: str | None) -> "Constraint":
        """This constraint for one document, if it may require substrings of a document; else itself, unchanged."""
        texts = (self.source, *(text for _, text in self.schemas))
        asks = self.kind is Kind.JSON_SCHEMA and any(_EXTENSION in text for text in texts)
        return replace(self, document=document) if asks else self

    @property
    def key(self) -> str:
        """The cache key of this constraint: hex SHA-256 of all its fields."""
        # Most requests come under few schemas; to compare a text with an equal one costs a tenth of hashing it.
        small = self.document is None and not self.schemas and len(self.source) <= _MOST_KEPT
        return _kept_key(self) if small else _key(self)


def _key(constraint: Constraint) -> str:
    return hashlib.sha256(json.dumps(astuple(constraint)).encode()).hexdigest()


_kept_key = lru_cache(maxsize=512)(_key)
