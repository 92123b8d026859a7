"""Ready constraints: any JSON, CSV tables, XML documents, SQL queries.

Does: build the `Constraint`. Does not: check or compile it (`frontend`, `compiler`).
"""

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from ..contract.constraint import Constraint, Kind


def any_json() -> Constraint:
    """Any single JSON value, without white space outside strings."""
    return Constraint(Kind.JSON_SCHEMA, "true")


def csv_table(schema: Mapping[str, Any], *, header: bool = True) -> Constraint:
    """CSV with RFC 4180 quoting and line feeds; `schema` describes an array of objects with scalar members."""
    return Constraint(Kind.CSV, json.dumps(schema), header=header)


def xml_document(schema: Mapping[str, Any]) -> Constraint:
    """An XML document with an element for each member of the objects that `schema` describes."""
    return Constraint(Kind.XML, json.dumps(schema))


def sql_select() -> Constraint:
    """One SQL SELECT statement; `docs/grammars.md` lists the supported subset."""
    source = files(__package__).joinpath("sql_select.lark")
    return Constraint(Kind.LARK, source.read_text("utf-8"))
