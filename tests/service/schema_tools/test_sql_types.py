"""Types of columns: each accepts the values of its column, and refuses others."""

from typing import Any

import jsonschema
import pytest
from intaglio.service.schema_tools.source_text import SourceError
from intaglio.service.schema_tools.sql_tables import from_sql


def of_type(declared: str, after: str = "") -> dict[str, Any]:
    found: dict[str, Any] = from_sql(f"CREATE TABLE t (a {declared} NOT NULL){after}")
    return dict(found["properties"]["a"])


@pytest.mark.parametrize(
    ("declared", "values", "others"),
    [
        ("time", ["10:00", "10:00:00.123456"], ["25:00", "10:00+02"]),
        ("timetz", ["10:00:00+02", "10:00Z", "10:00:00-05:30"], ["10:00+99"]),
        ("time(6) with time zone", ["10:00:00.5+02:00"], ["10"]),
        ("numeric(3,-2)", [99900, -100], [150, 100000]),
        ("double unsigned zerofill", [0, 1.5], [-1]),
        ("int array", [[1]], [1]),
        ("integer[3][]", [[[1]]], [[1], 1]),
        ("pg_catalog.int4", [1], [2**31]),
        ("smallserial", [32767], [32768]),
        ("year", [0, 1901, 2155], [1900, 2156]),
        ('"char"', ["x"], [1]),
        ("set('a','b')", ["", "a", "a,b"], ["c", "a,", "ab"]),
        ("varbinary(3)", ["AAEC"], [1]),
    ],
)
def test_a_type_accepts_the_values_of_its_column(
    declared: str, values: list[Any], others: list[Any]
) -> None:
    validator = jsonschema.Draft202012Validator(of_type(declared))
    assert [value for value in values if not validator.is_valid(value)] == []
    assert [value for value in others if validator.is_valid(value)] == []


def test_whole_numbers_of_sqlite_have_64_bits() -> None:
    assert of_type("integer")["maximum"] == 2**31 - 1
    assert of_type("integer", " WITHOUT ROWID")["maximum"] == 2**63 - 1


@pytest.mark.parametrize("declared", ["varchar(10", "varchar(1.5)", "enum('a', 1)"])
def test_a_type_that_is_not_whole_is_refused(declared: str) -> None:
    with pytest.raises(SourceError, match="line 1: expected a "):
        from_sql(f"CREATE TABLE t (a {declared}")
