"""What a caller may ask an output to be: a constraint, as a value.

Does: name the kinds, carry the source text, give a key that is equal exactly when two constraints
are. Does not: parse or judge the source (`screen`, `compile`).
"""

import hashlib
from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """The language a constraint's source is written in."""

    JSON_SCHEMA = "json_schema"
    REGEX = "regex"
    EBNF = "ebnf"


class Whitespace(StrEnum):
    """Where JSON output may hold white space. Every form is bounded: none lets a model print blanks for ever."""

    COMPACT = "compact"  # none outside strings
    PRETTY = "pretty"  # one newline and two blanks an indentation level, exactly


@dataclass(frozen=True, slots=True)
class Constraint:
    """A language the output must belong to, in full.

    `source` is JSON text for `JSON_SCHEMA`, a pattern that the whole output must match for `REGEX`
    (ECMA-262 flavour), a grammar whose start rule is `root` for `EBNF`. `whitespace` only means something for
    `JSON_SCHEMA`, and so does `extra_properties`: false keeps objects to the properties their schema names, also where
    it would allow others by not forbidding them (every such output is valid against the schema all the same).
    """

    kind: Kind
    source: str
    whitespace: Whitespace = Whitespace.COMPACT
    extra_properties: bool = True

    @property
    def key(self) -> str:
        """A collision-resistant name of this constraint, for caches: hex SHA-256 of all its fields."""
        text = "\0".join((self.kind, self.whitespace, str(self.extra_properties), self.source))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
