"""Checks of tables: what keywords state is stated, and nothing is excluded that SQL allows."""

from typing import Any

import pytest
from intaglio.service.schema_tools.sql_tables import from_sql


def checked(condition: str) -> tuple[dict[str, Any], str]:
    """The schemas of two whole numbers `a` and `b` and a text `c` with a check; the comment."""
    schema = from_sql(
        f"CREATE TABLE t (a numeric NOT NULL, b numeric NOT NULL, c text NOT NULL, CHECK ({condition}))"
    )
    return schema["properties"], schema.get("$comment", "")


NUMBER, TEXT = {"type": "number"}, {"type": "string"}


@pytest.mark.parametrize(
    ("condition", "a", "b"),
    [
        ("a BETWEEN 1 AND 9", {"minimum": 1, "maximum": 9}, {}),
        ("a BETWEEN 1 AND 9 AND b > 0", {"minimum": 1, "maximum": 9}, {"exclusiveMinimum": 0}),
        ("(a >= -1.5)", {"minimum": -1.5}, {}),
        ("((a > 0) and ((b < 3)))", {"exclusiveMinimum": 0}, {"exclusiveMaximum": 3}),
    ],
)
def test_comparisons_become_bounds(condition: str, a: Any, b: Any) -> None:
    columns, comment = checked(condition)
    assert (columns["a"], columns["b"], columns["c"]) == (NUMBER | a, NUMBER | b, TEXT)
    assert comment == ""


def test_listed_values_become_an_enumeration() -> None:
    assert checked("c IN ('x', 'it''s')")[0]["c"] == {"enum": ["x", "it's"]}
    assert checked("a IN (1, -2, 2.5)")[0]["a"] == {"enum": [1, -2, 2.5]}


@pytest.mark.parametrize(
    "condition",
    [
        "a > 1 AND b < 3 OR a = 0",
        "a > 1 OR b < 3 AND a < 2",
        "NOT (a > 5)",
        "a > b",
        "a IN (1, b)",
        "a BETWEEN 1 AND b",
        "(a > 1) OR (b > 1)",
    ],
)
def test_a_condition_that_no_keyword_states_excludes_nothing(condition: str) -> None:
    columns, comment = checked(condition)
    assert columns == {"a": NUMBER, "b": NUMBER, "c": TEXT}
    assert comment.startswith("not translated: CHECK ")


def test_what_stands_within_a_disjunction_is_told_as_a_whole() -> None:
    columns, comment = checked("a > 0 AND (b > 1 OR b < 0 AND a < 9)")
    assert columns["a"] == NUMBER | {"exclusiveMinimum": 0}
    assert columns["b"] == NUMBER
    assert comment == "not translated: CHECK b > 1 OR b < 0 AND a < 9"
