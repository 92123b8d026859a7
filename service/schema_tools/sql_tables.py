"""JSON Schemas from SQL: `CREATE TABLE`, with types, NOT NULL, lengths, comments and simple checks.

Does: read the common part of PostgreSQL, MySQL and SQLite, in dumps as well: functions and data are passed over. Does
not: evaluate expressions: a check that is no comparison of one column with constants is skipped and named in a comment
of the schema.
"""

import re
from typing import Any, Final

from .infer import DIALECT
from .source_text import SourceError, Words, chosen_part, unquoted
from .sql_checks import apply_condition, check_conditions
from .sql_types import SqlTypes, allow_null, forbid_null

# Statements in comments (`/*!40101 ... */`) and commands of psql are neither read nor descriptions.
_LEXEMES: Final = r"""(?P<space>\s+|/\*!.*?\*/|(?<![^\n])\\[^\n]*)
    |(?P<comment>--[^\n]*|(?<![^\n])\#[^\n]*|/\*.*?\*/)
    |(?P<quoted>%s|[eE]'(?:\\.|''|[^'\\])*'|"(?:""|[^"])*"|`(?:``|[^`])*`|\$(?P<tag>\w*)\$.*?\$(?P=tag)\$)
    |(?P<number>-?\d+(?:\.\d+)?)
    |(?P<name>[^\W\d][\w$]*)
    |(?P<mark><>|<=|>=|!=|::|\|\||[^\s'"`])"""
_STANDARD: Final = re.compile(_LEXEMES % "'(?:''|[^'])*'", re.VERBOSE | re.DOTALL)
_MYSQL: Final = re.compile(_LEXEMES % r"'(?:\\.|''|[^'\\])*'", re.VERBOSE | re.DOTALL)
_SQLITE: Final = re.compile(r"\b(autoincrement|without\s+rowid|pragma|sqlite_\w+)\b", re.IGNORECASE)
_DATA: Final = re.compile(
    r"^COPY\s[^;]*\sFROM\s+stdin\b[^;]*;[^\n]*\n(.*?)^\\\.",
    re.DOTALL | re.IGNORECASE | re.MULTILINE,
)
_KINDS_OF_TABLES: Final = (
    "or",
    "replace",
    "global",
    "local",
    "temp",
    "temporary",
    "unlogged",
    "foreign",
)
_CONSTRAINTS: Final = ("primary", "unique", "foreign", "constraint", "check")
_INDEXES: Final = ("key", "index", "fulltext", "spatial", "exclude")  # names of columns, too


def from_sql(source: str, name: str | None = None) -> dict[str, Any]:
    """The schema of a row of a table, by default of the only one.

    Raises:
        SourceError: no such table, several by default, or a type that is not known.
    """
    # Only MySQL has names in backticks; there, a backslash in a text is no character of its own.
    pattern = _MYSQL if "`" in source else _STANDARD
    types_of_sqlite = _SQLITE.search(source) is not None
    reader = _Reader(Words(_DATA.sub(_blank, source), pattern), sqlite=types_of_sqlite)
    reader.statements()
    chosen = chosen_part(name, "table", reader.tables, reader.tables)
    found = reader.tables[chosen]
    if isinstance(found, SourceError):
        raise found
    return {"$schema": DIALECT, **found}


def _blank(data: "re.Match[str]") -> str:
    """The lines of a dump's data, without content."""
    return "\n" * data.group().count("\n")


class _Reader:
    def __init__(self, words: Words, *, sqlite: bool) -> None:
        self.words = words
        self.tables: dict[str, dict[str, Any] | SourceError] = {}
        self.types = SqlTypes(words, sqlite=sqlite)
        self.untranslated: list[str] = []
        """Conditions of the current table's checks that no keyword states."""

    def statements(self) -> None:
        words = self.words
        while words.here.kind != "end":
            line = words.here.line
            if words.skip("create"):
                self._create(line)
            elif words.skip("comment", "on"):
                self._comment()
            while words.here.kind != "end" and not words.skip(";"):
                words.take()

    def _create(self, line: int) -> None:
        words = self.words
        while words.here.text.lower() in _KINDS_OF_TABLES:
            words.take()
        if words.skip("table"):
            words.skip("if", "not", "exists")
            name, note = self._names()[-1], words.comment_at(line)
            if words.here.text != "(":
                return  # a part of another table, or the result of a query: it declares no columns
            try:
                self.tables[name] = self._table(name, note)
            except SourceError as error:
                self.tables[name] = error  # a reason to refuse this table, not the others
        elif words.skip("type"):
            self.types.declare_type(self._names()[-1])
        elif words.skip("domain"):
            self.types.declare_domain(self._names()[-1])

    def _names(self) -> list[str]:
        """The parts of a name: of the database, the table, the column."""
        names = [self.words.name()]
        while self.words.skip("."):
            names.append(self.words.name())
        return names

    def _comment(self) -> None:
        """Read `COMMENT ON TABLE` and `COMMENT ON COLUMN` as descriptions."""
        words = self.words
        if words.skip("table"):
            target: Any = self.tables.get(self._names()[-1])
        elif words.skip("column"):
            table, column = self._names()[-2:]
            found = self.tables.get(table)
            target = found["properties"].get(column) if isinstance(found, dict) else None
        else:
            return
        if words.skip("is") and words.here.kind == "quoted" and isinstance(target, dict):
            target["description"] = unquoted(words.take().text)

    def _table(self, name: str, note: str) -> dict[str, Any]:
        schema: dict[str, Any] = {"title": name, "type": "object", "properties": {}, "required": []}
        schema |= {"description": note} if note else {}
        self.words.expect("(")
        self.untranslated = []
        while True:
            if self._is_constraint():
                self._table_constraint(schema)
            else:
                self._column(schema)
            if not self.words.skip(","):
                break
        self.words.expect(")")
        if self.words.skip("inherits", "("):
            self._inherit(schema)
        schema["additionalProperties"] = False
        if self.untranslated:
            schema["$comment"] = "not translated: CHECK " + "; ".join(self.untranslated)
        return schema

    def _inherit(self, schema: dict[str, Any]) -> None:
        """Add the columns of the tables that a table inherits from."""
        while not self.words.skip(")"):
            line, name = self.words.here.line, self._names()[-1]
            parent = self.tables.get(name)
            if not isinstance(parent, dict):
                hint = "write them out"
                raise SourceError(line, f"the columns of {name!r}, a parent, are not known", hint)
            schema["properties"] = {**parent["properties"], **schema["properties"]}
            schema["required"] = list(schema["properties"])
            self.words.skip(",")

    def _is_constraint(self) -> bool:
        """Whether a constraint or an index follows, and no column: a column may be called `key`, too."""
        word, second, third, fourth = (self.words.at(distance) for distance in range(4))
        text = word.text.lower()
        if word.kind != "name" or text in _CONSTRAINTS:
            return word.kind == "name"
        if text == "like" and second.kind in ("name", "quoted"):
            hint = "write its columns out"
            raise SourceError(word.line, f"the columns of {second.text!r} are not read", hint)
        if text not in _INDEXES:
            return False
        if second.text == "(" or second.text.lower() in ("key", "index", "using"):
            return True
        names = fourth.kind in ("name", "quoted") and not fourth.text.startswith("'")
        return third.text.lower() == "using" or (third.text == "(" and names)

    def _column(self, schema: dict[str, Any]) -> None:
        line = self.words.here.line
        name = self.words.name()
        found = self.types.read()
        value, nullable, note = found.schema, found.nullable, ""
        self.untranslated += found.untranslated
        while self.words.here.text not in (",", ")") and self.words.here.kind != "end":
            if self.words.skip("not", "null") or self.words.skip("primary", "key"):
                nullable = False
            elif self.words.skip("check"):
                self._check({name: value})
            elif self.words.here.text == "(":
                self.words.skip_block("(", ")")
            elif self.words.skip("comment") and self.words.here.kind == "quoted":
                note = unquoted(self.words.take().text)
            else:
                self.words.take()
        if nullable:
            allow_null(value)
        note = self.words.comment_at(line) or note
        schema["properties"][name] = {**value, **({"description": note} if note else {})}
        schema["required"].append(name)

    def _table_constraint(self, schema: dict[str, Any]) -> None:
        while self.words.here.text not in (",", ")") and self.words.here.kind != "end":
            if self.words.skip("check"):
                self._check(schema["properties"])
            elif self.words.skip("primary", "key"):
                self._primary_key(schema["properties"])
            elif self.words.here.text == "(":
                self.words.skip_block("(", ")")
            else:
                self.words.take()

    def _primary_key(self, columns: dict[str, Any]) -> None:
        """Read the columns of a primary key, each perhaps with a length or a direction."""
        while self.words.here.text not in ("(", ",", ")") and self.words.here.kind != "end":
            self.words.take()
        self.words.expect("(")
        while not self.words.skip(")"):
            forbid_null(columns.get(self.words.name(), {}))
            while self.words.here.text not in (",", ")") and self.words.here.kind != "end":
                if self.words.here.text == "(":
                    self.words.skip_block("(", ")")
                else:
                    self.words.take()
            self.words.skip(",")

    def _check(self, columns: dict[str, Any]) -> None:
        """Read conditions joined by AND: `IN`, `BETWEEN` and comparisons with numbers; keep others for the comment."""
        for condition in check_conditions(self.words):
            if not apply_condition(condition, columns):
                self.untranslated.append(" ".join(condition))
