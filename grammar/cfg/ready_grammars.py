"""Ready grammars by name: dates, addresses, tables, queries and programs, as files in Lark's syntax.

Does: read the files; restrict SQL to given tables and Markdown tables to given columns. Does not: compile (`lark`,
`enforce`).
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Final

READY: Final = (
    "email", "graphql", "iso_date", "iso_datetime", "iso_time", "markdown_table", "mini_python", "sql_select",
)  # fmt: skip
"""The names, as `%import ready.NAME` takes them."""
_MOST_NAMES: Final = 2000
_TABLE_SOURCE: Final = re.compile(r"^source: .*$", re.MULTILINE)
_OPERAND: Final = 'NAME ["." NAME] | call'

_POINTER: Final = {"type": "string", "format": "json-pointer"}


def json_patch_schema() -> dict[str, Any]:
    """The schema of a JSON Patch (RFC 6902): an array of operations with their members."""
    operations: tuple[tuple[list[str], dict[str, Any]], ...] = (
        (["add", "replace", "test"], {"path": _POINTER, "value": {}}),
        (["remove"], {"path": _POINTER}),
        (["move", "copy"], {"from": _POINTER, "path": _POINTER}),
    )
    choices = [
        {
            "type": "object",
            "properties": {"op": {"enum": names}, **members},
            "required": ["op", *members],
            "additionalProperties": False,
        }
        for names, members in operations
    ]
    return {"type": "array", "items": {"anyOf": choices}}


@cache
def ready_source(name: str) -> str | None:
    """The source of a ready grammar; None for an unknown name."""
    if name not in READY:
        return None
    return files(__package__).joinpath("ready", f"{name}.lark").read_text("utf-8")


def sql_of(tables: Mapping[str, Sequence[str]]) -> str:
    """The grammar of SELECT statements over given tables and their columns.

    Tables may be renamed to `t1` ... `t9`. A column after the name of a table is one of that table; after another name,
    or alone, it is one of any table.

    Raises:
        ValueError: there are no tables, no columns, or names that cannot be quoted.
    """
    names = [*tables, *(column for columns in tables.values() for column in columns)]
    if not tables or not all(tables.values()):
        raise ValueError("each table needs columns, and there must be a table")
    if len(names) > _MOST_NAMES:
        raise ValueError(f"tables and columns have {len(names)} names, more than {_MOST_NAMES}")
    for name in names:
        if not name or len(name) > 63 or any(ord(char) < 32 for char in name):
            raise ValueError(f"{name[:80]!r} cannot be the name of a table or a column")
    source = ready_source("sql_select") or ""
    columns = sorted({column for each in tables.values() for column in each})
    own = " | ".join(
        f'"{_text(_quoted(table))}." ({_either(map(_quoted, each))})'
        for table, each in tables.items()
    )
    source = _TABLE_SOURCE.sub(
        lambda _: 'source: TABLE [" AS " ALIAS] | "(" query ") AS " ALIAS', source
    )
    source = source.replace(
        'column: expression [" AS " NAME] | NAME ".*"',
        'column: expression [" AS " NAME] | (TABLE | ALIAS) ".*"',
    )
    source = source.replace(_OPERAND, '[ALIAS "."] COLUMN | OWN_COLUMN | call')
    rules = (
        f"TABLE: {_either(map(_quoted, tables))}",
        f"COLUMN: {_either(map(_quoted, columns))}",
        f"OWN_COLUMN: {own}",
        'ALIAS: "t" "1".."9"',
    )
    return source + "\n".join(rules) + "\n"


def markdown_of(columns: Sequence[str]) -> str:
    """The grammar of Markdown tables with a fixed head.

    Raises:
        ValueError: there are no columns, or a name that no cell can hold.
    """
    if not 1 <= len(columns) <= 64:
        raise ValueError("a table has 1 to 64 columns")
    for name in columns:
        if not name.strip() or any(ord(char) < 32 for char in name):
            raise ValueError(f"{name[:80]!r} cannot be the head of a column")
    cells = [re.sub(r"([\\|])", r"\\\1", name.strip()) for name in columns]
    head = "| " + " | ".join(cells) + " |\n|" + " --- |" * len(cells) + "\n"
    source = ready_source("markdown_table") or ""
    kept = [line for line in source.split("\n") if line.startswith(("CELL", "WORD"))]
    rows = "CELL" if len(cells) == 1 else f"CELL~{len(cells)}"
    return "\n".join((f'start: "{_text(head)}" ("|" {rows} "\\n")*', *kept)) + "\n"


@cache
def _key_words() -> frozenset[str]:
    """The words that the grammar of SQL keeps apart from names."""
    listed = re.search(r"\(\?:([a-z|]+)\)\$", ready_source("sql_select") or "")
    return frozenset(listed[1].split("|") if listed else ())


def _quoted(name: str) -> str:
    """A name as SQL writes it: in quotes, unless it is lower case and no key word."""
    plain = re.fullmatch(r"[a-z_][a-z0-9_]*", name) and name not in _key_words()
    return name if plain else '"' + name.replace('"', '""') + '"'


def _either(names: Any) -> str:
    return " | ".join(f'"{_text(name)}"' for name in sorted(names))


def _text(text: str) -> str:
    """The inside of a string of Lark's syntax."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
