"""Ready constraints: JSON, tables, documents of elements, queries.

Does: make the `Constraint`. Does not: judge or compile it (`screen`, `compile`).
"""

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from ..contract.constraint import Constraint, Kind


def any_json() -> Constraint:
    """Any one JSON value, without white space outside strings."""
    return Constraint(Kind.JSON_SCHEMA, "true")


def csv_table(schema: Mapping[str, Any], *, header: bool = True) -> Constraint:
    """CSV as RFC 4180 quotes it, with line feeds; `schema` is of an array of objects with scalar members."""
    return Constraint(Kind.CSV, json.dumps(schema), header=header)


def xml_document(schema: Mapping[str, Any]) -> Constraint:
    """An XML document with an element for each member of the objects that `schema` describes."""
    return Constraint(Kind.XML, json.dumps(schema))


def sql_select() -> Constraint:
    """One SQL SELECT statement; what of SQL it has is told in `docs/grammars.md`."""
    source = files(__package__).joinpath("sql_select.lark")
    return Constraint(Kind.LARK, source.read_text("utf-8"))
