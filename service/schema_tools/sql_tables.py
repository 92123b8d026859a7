"""JSON Schemas from SQL: `CREATE TABLE`, with types, NOT NULL, lengths and simple checks.

Does: read the common part of PostgreSQL, MySQL and SQLite. Does not: evaluate expressions: a check that is no
comparison of one column with constants is skipped and named in a comment of the schema.
"""

import re
from typing import Any, Final

from .infer import DIALECT
from .source_text import SourceError, Words, chosen_part, each_as, unquoted
from .sql_checks import apply_condition, conjuncts

_TOKEN: Final = re.compile(
    r"""(?P<space>\s+)
    |(?P<comment>--[^\n]*|/\*.*?\*/)
    |(?P<quoted>'(?:''|[^'])*'|"(?:""|[^"])*"|`[^`]*`)
    |(?P<number>-?\d+(?:\.\d+)?)
    |(?P<name>[A-Za-z_][\w$]*)
    |(?P<mark><>|<=|>=|!=|::|\|\||[(){}\[\];,.=<>+*/%~!:@&|^-])""",
    re.VERBOSE | re.DOTALL,
)
_INTEGERS: Final = {"smallint": 15, "int2": 15, "integer": 31, "int": 31, "int4": 31, "mediumint": 23, "serial": 31,
    "bigint": 63, "int8": 63, "bigserial": 63, "tinyint": 7}  # fmt: skip
_OTHERS: Final[dict[str, dict[str, Any]]] = {
    **each_as(("text", "clob", "longtext", "mediumtext", "citext", "varchar", "char", "character", "nvarchar"),
        {"type": "string"}),
    **each_as(("real", "float", "float4", "float8", "double", "numeric", "decimal", "money"), {"type": "number"}),
    **each_as(("boolean", "bool"), {"type": "boolean"}),
    "date": {"type": "string", "format": "date"},
    "uuid": {"type": "string", "format": "uuid"},
    **each_as(("json", "jsonb"), {}),
    "inet": {"type": "string", "anyOf": [{"format": "ipv4"}, {"format": "ipv6"}]},
    "bytea": {"type": "string", "contentEncoding": "base64"},
    "blob": {"type": "string", "contentEncoding": "base64"},
}  # fmt: skip
_LOCAL: Final = (
    r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])[T ]"
    r"([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,9})?)?$"
)
_CONSTRAINTS: Final = (
    "primary",
    "unique",
    "foreign",
    "constraint",
    "check",
    "key",
    "index",
    "exclude",
)


def from_sql(source: str, name: str | None = None) -> dict[str, Any]:
    """The schema of a row of a table, by default of the only one.

    Raises:
        SourceError: no such table, several by default, or a type that is not known.
    """
    reader = _Reader(Words(source, _TOKEN))
    reader.statements()
    chosen = chosen_part(name, "table", reader.tables, reader.tables)
    return {"$schema": DIALECT, **reader.tables[chosen]}


class _Reader:
    def __init__(self, words: Words) -> None:
        self.words = words
        self.tables: dict[str, dict[str, Any]] = {}
        self.enums: dict[str, list[str]] = {}
        self.untranslated: list[str] = []
        """Conditions of the current table's checks that no keyword states."""

    def statements(self) -> None:
        words = self.words
        while words.here.kind != "end":
            line = words.here.line
            if words.skip("create", "table") or words.skip("create", "temporary", "table"):
                self._table(words.comment_at(line))
            elif words.skip("create", "type"):
                self._type_statement()
            self._to_end_of_statement()

    def _to_end_of_statement(self) -> None:
        while self.words.here.kind != "end" and not self.words.skip(";"):
            self.words.take()

    def _name(self) -> str:
        name = self.words.name()
        while self.words.skip("."):
            name = self.words.name()
        return name

    def _type_statement(self) -> None:
        name = self._name()
        if self.words.skip("as", "enum", "("):
            self.enums[name.lower()] = self._texts()

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

    def _table(self, note: str) -> None:
        self.words.skip("if", "not", "exists")
        name = self._name()
        schema: dict[str, Any] = {"title": name, "type": "object", "properties": {}, "required": []}
        schema |= {"description": note} if note else {}
        self.words.expect("(")
        self.untranslated = []
        while True:
            if self.words.here.text.lower() in _CONSTRAINTS and self.words.here.kind == "name":
                self._table_constraint(schema)
            else:
                self._column(schema)
            if not self.words.skip(","):
                break
        self.words.expect(")")
        schema["additionalProperties"] = False
        if self.untranslated:
            schema["$comment"] = "not translated: CHECK " + "; ".join(self.untranslated)
        self.tables[name] = schema

    def _column(self, schema: dict[str, Any]) -> None:
        line = self.words.here.line
        name = self.words.name()
        value, nullable = self._type(), True
        while self.words.here.text not in (",", ")") and self.words.here.kind != "end":
            if self.words.skip("not", "null") or self.words.skip("primary", "key"):
                nullable = False
            elif self.words.skip("check"):
                self._check({name: value})
            elif self.words.here.text == "(":
                self.words.skip_block("(", ")")
            else:
                self.words.take()
        if nullable:
            _allow_null(value)
        note = self.words.comment_at(line)
        schema["properties"][name] = {**value, **({"description": note} if note else {})}
        schema["required"].append(name)

    def _table_constraint(self, schema: dict[str, Any]) -> None:
        while self.words.here.text not in (",", ")") and self.words.here.kind != "end":
            if self.words.skip("check"):
                self._check(schema["properties"])
            elif self.words.skip("primary", "key"):
                self.words.expect("(")
                while not self.words.skip(")"):
                    name = self.words.name()
                    _forbid_null(schema["properties"].get(name, {}))
                    self.words.skip(",")
            elif self.words.here.text == "(":
                self.words.skip_block("(", ")")
            else:
                self.words.take()

    def _type(self) -> dict[str, Any]:
        word = self.words.take()
        name = unquoted(word.text).lower()
        if name in ("enum",) and self.words.skip("("):
            return {"enum": list(self._texts())}
        numbers = self._numbers()
        if name in _INTEGERS:
            if self.words.skip("unsigned"):
                return {"type": "integer", "minimum": 0, "maximum": 2 ** (_INTEGERS[name] + 1) - 1}
            most = 2 ** _INTEGERS[name]
            found: dict[str, Any] = {"type": "integer", "minimum": -most, "maximum": most - 1}
        elif name in ("timestamp", "datetime", "timestamptz", "time"):
            found = self._moment(name)
        elif name in self.enums:
            found = {"enum": list(self.enums[name])}
        elif name in _OTHERS:
            self.words.skip("precision") or self.words.skip("varying")
            numbers = numbers or self._numbers()
            found = {**_OTHERS[name], **_sized(name, numbers)}
        else:
            hint = "declare it with CREATE TYPE ... AS ENUM, or use a standard type"
            raise SourceError(word.line, f"the type {name!r} is not known", hint)
        while self.words.skip("[", "]"):
            found = {"type": "array", "items": found}
        return found

    def _moment(self, name: str) -> dict[str, Any]:
        self._numbers()
        with_zone = name == "timestamptz" or self.words.skip("with", "time", "zone")
        self.words.skip("without", "time", "zone")
        if name == "time":
            return {"type": "string", "pattern": "^([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?$"}
        return (
            {"type": "string", "format": "date-time"}
            if with_zone
            else {"type": "string", "pattern": _LOCAL}
        )

    def _numbers(self) -> list[int]:
        found: list[int] = []
        if self.words.here.text == "(" and self.words.ahead.kind == "number":
            self.words.take()
            while not self.words.skip(")"):
                word = self.words.take()
                if word.kind == "number":
                    found.append(int(word.text))
        return found

    def _check(self, columns: dict[str, Any]) -> None:
        """Read conditions joined by AND: `IN`, `BETWEEN` and comparisons with numbers; keep others for the comment."""
        words, texts, depth = self.words, [], 0
        while True:
            word = words.take()
            depth += (word.text == "(") - (word.text == ")")
            texts.append(word.text)
            if depth == 0 or word.kind == "end":
                break
        for condition in conjuncts(texts[1:-1]):
            if not apply_condition(condition, columns):
                self.untranslated.append(" ".join(condition))


def _sized(name: str, numbers: list[int]) -> dict[str, Any]:
    if "char" in name and numbers:
        return {"maxLength": numbers[0]}
    if name in ("numeric", "decimal") and numbers:
        digits, scale = numbers[0], numbers[1] if len(numbers) > 1 else 0
        most = 10 ** (digits - scale)
        step: dict[str, Any] = (
            {"type": "integer"} if scale == 0 else {"multipleOf": float(f"1e-{scale}")}
        )
        return {**step, "exclusiveMinimum": -most, "exclusiveMaximum": most}
    return {}


def _allow_null(value: dict[str, Any]) -> None:
    if isinstance(value.get("type"), str):
        value["type"] = [value["type"], "null"]
    if "enum" in value and None not in value["enum"]:
        value["enum"] = [*value["enum"], None]


def _forbid_null(value: dict[str, Any]) -> None:
    if isinstance(value.get("type"), list):
        value["type"] = value["type"][0]
    if "enum" in value:
        value["enum"] = [each for each in value["enum"] if each is not None]
