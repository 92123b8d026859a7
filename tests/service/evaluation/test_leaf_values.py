"""Which leaves agree, and how."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from intaglio.service.evaluation.leaf_values import agreement, is_blank
from pydantic import JsonValue

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=12
)


@pytest.mark.parametrize(
    ("gold", "other", "how"),
    [
        (12, 12.0, "exact"),
        (True, 1, "none"),
        (0, False, "none"),
        (None, None, "exact"),
        (None, "", "none"),
        ([], [], "exact"),
        ([], {}, "none"),
        ("ACME  Corp", "Acme Corp.", "text"),
        ("ﬁne", "fine", "text"),
        ("Straße", "STRASSE", "text"),
        ("...", "---", "none"),
        (1234.5, "1.234,50 €", "number"),
        (1234.5, "USD 1,234.50", "number"),
        (1234, "1,234", "number"),
        (1.234, "1,234", "number"),
        (-3, "-3", "number"),
        (19, "19 %", "number"),
        (0.1 + 0.2, 0.3, "number"),
        (10**400, 10**400 + 1, "number"),
        (7, "007", "none"),
        ("007", "7", "none"),
        (1, 2, "none"),
        (1234, "1,23,4", "none"),
        ("2026-03-12", "12/03/2026", "date"),
        ("2026-03-12", "03/12/2026", "date"),
        ("2026-03-12", "12. März 2026", "date"),
        ("2026-03-12", "March 12th, 2026", "date"),
        ("2026-03-12", "12 mars 2026", "date"),
        ("2026-03-12", "2026-03-12T00:00:00Z", "date"),
        ("2026-03-12", "2026-03-13", "none"),
        ("2026-02-30", "30/02/2026", "none"),
        ("x" * 5000, "1" * 5000, "none"),
    ],
)
def test_agreement(gold: JsonValue, other: JsonValue, how: str) -> None:
    assert agreement(gold, other) == how
    assert agreement(other, gold) == how


@settings(deadline=None)
@given(SCALARS, SCALARS)
def test_agreement_is_symmetric_and_reflexive(one: JsonValue, other: JsonValue) -> None:
    assert agreement(one, other) == agreement(other, one)
    assert agreement(one, one) == "exact"


def test_zero_and_false_state_something() -> None:
    values: list[JsonValue] = [None, [], {}, 0, False, ""]
    assert [is_blank(value) for value in values] == [True] * 3 + [False] * 3
