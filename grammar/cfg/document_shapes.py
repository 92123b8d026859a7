"""Ready constraints: any JSON, CSV and Markdown tables, XML documents, SQL queries, JSON patches, and others by name.

Does: build the `Constraint`. Does not: check or compile it (`frontend`, `compiler`).
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ..contract.constraint import Constraint, KeyOrder, Kind
from .ready_grammars import READY, json_patch_schema, markdown_of, ready_source, sql_of


def any_json() -> Constraint:
    """Any single JSON value, without white space outside strings."""
    return Constraint(Kind.JSON_SCHEMA, "true")


def csv_table(schema: Mapping[str, Any], *, header: bool = True) -> Constraint:
    """CSV with RFC 4180 quoting and line feeds; `schema` describes an array of objects with scalar members."""
    return Constraint(Kind.CSV, json.dumps(schema), header=header)


def xml_document(schema: Mapping[str, Any]) -> Constraint:
    """An XML document with an element for each member of the objects that `schema` describes."""
    return Constraint(Kind.XML, json.dumps(schema))


def sql_select(tables: Mapping[str, Sequence[str]] | None = None) -> Constraint:
    """One SQL SELECT statement; `docs/grammars.md` lists the supported subset.

    `tables`: the columns of each table that the statement may read; without them, any names.

    Raises:
        ValueError: there are no tables, no columns, or names that cannot be quoted.
    """
    return ready_grammar("sql_select") if tables is None else Constraint(Kind.LARK, sql_of(tables))


def markdown_table(columns: Sequence[str]) -> Constraint:
    """A table in GitHub's Markdown with this head.

    Raises:
        ValueError: there are no columns, or a name that no cell can hold.
    """
    return Constraint(Kind.LARK, markdown_of(columns))


def json_patch() -> Constraint:
    """A JSON Patch (RFC 6902): an array of operations, with their members in any order."""
    source = json.dumps(json_patch_schema())
    return Constraint(Kind.JSON_SCHEMA, source, key_order=KeyOrder.ANY)


def ready_grammar(name: str) -> Constraint:
    """A ready grammar by its name.

    Raises:
        ValueError: there is none of this name; the message lists all.
    """
    source = ready_source(name)
    if source is None:
        raise ValueError(f"there is no ready grammar {name[:80]!r}; there are {', '.join(READY)}")
    return Constraint(Kind.LARK, source)
