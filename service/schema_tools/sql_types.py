"""Types of columns in SQL, as JSON Schemas.

Does: read the types of PostgreSQL, MySQL and SQLite with lengths, precisions and dimensions; keep the types that a file
declares (`CREATE TYPE ... AS ENUM`, `CREATE DOMAIN`). Does not: read tables (`sql_tables`).
"""

import re
from dataclasses import dataclass, field
from typing import Any, Final

from .source_text import SourceError, Words, each_as, unquoted
from .sql_checks import apply_condition, check_conditions

_BITS: Final = {"tinyint": 7, "smallint": 15, "int2": 15, "smallserial": 15, "serial2": 15, "mediumint": 23,
    "integer": 31, "int": 31, "int4": 31, "serial": 31, "serial4": 31, "bigint": 63, "int8": 63, "bigserial": 63,
    "serial8": 63}  # fmt: skip
_LARGEST: Final = 63
_NUMBERS: Final = (
    "real",
    "float",
    "float4",
    "float8",
    "double",
    "numeric",
    "decimal",
    "dec",
    "money",
)
_BYTES: Final = ("bytea", "blob", "tinyblob", "mediumblob", "longblob", "binary", "varbinary")
_CLOCK: Final = r"([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,9})?)?"
_OTHERS: Final[dict[str, dict[str, Any]]] = {
    **each_as(("text", "clob", "tinytext", "longtext", "mediumtext", "citext", "varchar", "char", "character", "bpchar",
        "nchar", "nvarchar", "xml", "interval", "tsvector"), {"type": "string"}),
    **each_as(_NUMBERS, {"type": "number"}),
    **each_as(("boolean", "bool"), {"type": "boolean"}),
    **each_as(_BYTES, {"type": "string", "contentEncoding": "base64"}),
    **each_as(("json", "jsonb"), {}),
    "date": {"type": "string", "format": "date"},
    "uuid": {"type": "string", "format": "uuid"},
    "inet": {"type": "string", "anyOf": [{"format": "ipv4"}, {"format": "ipv6"}]},
    "oid": {"type": "integer", "minimum": 0, "maximum": 2**32 - 1},
    "year": {"type": "integer", "anyOf": [{"const": 0}, {"minimum": 1901}], "maximum": 2155},
}  # fmt: skip
_LOCAL: Final = rf"^[0-9]{{4}}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])[T ]{_CLOCK}$"
_ZONE: Final = r"(Z|[+-](0[0-9]|1[0-5])(:?[0-5][0-9])?)?"
_MOMENTS: Final = ("timestamp", "datetime", "timestamptz", "time", "timetz")
# What stands behind the name of a column that has no type, as SQLite permits.
_NO_TYPE: Final = (
    ",",
    ")",
    "not",
    "null",
    "primary",
    "unique",
    "check",
    "default",
    "references",
    "collate",
)
_HINT: Final = "declare it with CREATE TYPE ... AS ENUM, or use a standard type"


@dataclass(frozen=True, slots=True)
class Domain:
    """A type that a file declares: its schema, whether NULL is one of its values, and what no keyword states."""

    schema: dict[str, Any]
    nullable: bool = True
    untranslated: list[str] = field(default_factory=list)


class SqlTypes:
    """The types of a file: those that it declares, and the reader of the types of columns."""

    def __init__(self, words: Words, *, sqlite: bool) -> None:
        """With `sqlite`, all whole numbers have 64 bits."""
        self.words = words
        self.sqlite = sqlite
        self.declared: dict[str, Domain] = {}

    def declare_type(self, name: str) -> None:
        """Read `CREATE TYPE` after the name; types that are no enumeration stay unknown."""
        if self.words.skip("as", "enum", "("):
            self.declared[name.lower()] = Domain({"enum": self._texts()})

    def declare_domain(self, name: str) -> None:
        """Read `CREATE DOMAIN` after the name."""
        self.words.skip("as")
        found = self.read()
        nullable, untranslated = found.nullable, list(found.untranslated)
        while self.words.here.text != ";" and self.words.here.kind != "end":
            if self.words.skip("not", "null"):
                nullable = False
            elif self.words.skip("check"):
                for condition in check_conditions(self.words):
                    about = ["value" if word.lower() == "value" else word for word in condition]
                    if not apply_condition(about, {"value": found.schema}):
                        untranslated.append(" ".join(condition))
            else:
                self.words.take()
        self.declared[name.lower()] = Domain(found.schema, nullable, untranslated)

    def read(self) -> Domain:
        """Read the type of a column."""
        if self.words.here.text.lower() in _NO_TYPE:
            return Domain({"type": ["string", "number"]})
        word = self.words.take()
        name = unquoted(word.text).lower()
        while self.words.skip("."):
            name = unquoted(self.words.take().text).lower()
        declared = self.declared.get(name)
        if declared is not None:
            schema = self._in_dimensions(dict(declared.schema))
            return Domain(schema, declared.nullable, list(declared.untranslated))
        found = self._built_in(name)
        if found is None:
            raise SourceError(word.line, f"the type {name!r} is not known", _HINT)
        return Domain(self._in_dimensions(found))

    def _built_in(self, name: str) -> dict[str, Any] | None:
        if name in ("enum", "set") and self.words.skip("("):
            texts = self._texts()
            return {"enum": texts} if name == "enum" else _subset(texts)
        if name in _MOMENTS:
            return self._moment(name)
        self.words.skip("precision") or self.words.skip("varying")
        numbers = self._numbers()
        unsigned = self.words.skip("unsigned")
        self.words.skip("signed")
        self.words.skip("zerofill")
        if name in _BITS:
            bits = _LARGEST if self.sqlite else _BITS[name]
            least, most = (0, 2 ** (bits + 1)) if unsigned else (-(2**bits), 2**bits)
            return {"type": "integer", "minimum": least, "maximum": most - 1}
        if name not in _OTHERS:
            return None
        found = {**_OTHERS[name], **_sized(name, numbers)}
        if unsigned:
            found.pop("exclusiveMinimum", None)
            found["minimum"] = 0
        return found

    def _in_dimensions(self, found: dict[str, Any]) -> dict[str, Any]:
        """The type, or arrays of it."""
        if self.words.skip("array"):
            found = {"type": "array", "items": found}
            self._dimension()
        while self._dimension():
            found = {"type": "array", "items": found}
        return found

    def _dimension(self) -> bool:
        if self.words.here.text != "[":
            return False
        self.words.skip_block("[", "]")
        return True

    def _moment(self, name: str) -> dict[str, Any]:
        self._numbers()
        with_zone = name.endswith("tz") or self.words.skip("with", "time", "zone")
        self.words.skip("without", "time", "zone")
        if name in ("time", "timetz"):
            return {"type": "string", "pattern": f"^{_CLOCK}{_ZONE if with_zone else ''}$"}
        if with_zone:
            return {"type": "string", "format": "date-time"}
        return {"type": "string", "pattern": _LOCAL}

    def _texts(self) -> list[str]:
        """The texts up to a closing parenthesis."""
        found = []
        while not self.words.skip(")"):
            word = self.words.take()
            if word.kind != "quoted":
                raise SourceError(word.line, f"expected a text, not {word.text!r}")
            found.append(unquoted(word.text))
            self.words.skip(",")
        return found

    def _numbers(self) -> list[int]:
        """The whole numbers in parentheses, if such follow."""
        if self.words.here.text != "(" or self.words.ahead.kind != "number":
            return []
        found: list[int] = []
        self.words.take()
        while not self.words.skip(")"):
            word = self.words.take()
            if word.kind == "end" or (word.kind == "number" and "." in word.text):
                raise SourceError(word.line, f"expected a length, not {word.text or 'the end'!r}")
            if word.kind == "number":
                found.append(int(word.text))
        return found


def allow_null(value: dict[str, Any]) -> None:
    """Make null a value of a schema."""
    kinds = value.get("type")
    if kinds is not None and "null" not in kinds:
        value["type"] = [*([kinds] if isinstance(kinds, str) else kinds), "null"]
    if "enum" in value and None not in value["enum"]:
        value["enum"] = [*value["enum"], None]


def forbid_null(value: dict[str, Any]) -> None:
    """Make null no value of a schema."""
    if isinstance(value.get("type"), list):
        kinds = [kind for kind in value["type"] if kind != "null"]
        value["type"] = kinds[0] if len(kinds) == 1 else kinds
    if "enum" in value:
        value["enum"] = [each for each in value["enum"] if each is not None]


def _sized(name: str, numbers: list[int]) -> dict[str, Any]:
    if "char" in name and numbers:
        return {"maxLength": numbers[0]}
    if name in ("numeric", "decimal", "dec") and numbers:
        digits, scale = numbers[0], numbers[1] if len(numbers) > 1 else 0
        most = 10 ** (digits - scale)
        step: dict[str, Any] = {"type": "integer"}
        if scale:
            step = {"multipleOf": float(f"1e{-scale}") if scale > 0 else 10**-scale}
        return {**step, "exclusiveMinimum": -most, "exclusiveMaximum": most}
    return {}


def _subset(texts: list[str]) -> dict[str, Any]:
    """The schema of a value of MySQL's SET: some of the texts, joined by commas."""
    one = "|".join(re.sub(r"[\\^$.*+?()\[\]{}|/]", r"\\\g<0>", text) for text in texts)
    return {"type": "string", "pattern": f"^(({one})(,({one}))*)?$"}
