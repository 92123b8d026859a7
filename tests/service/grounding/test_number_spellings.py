"""The spellings of numbers, and their ranges."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from intaglio.service.grounding.number_spellings import numbers_in, readings


def found(text: str) -> set[tuple[Decimal, str]]:
    return {(value, text[start:end]) for value, (start, end) in numbers_in(text)}


@pytest.mark.parametrize(
    ("text", "value", "place"),
    [
        ("is 1,234.50 EUR", "1234.5", "1,234.50"),
        ("is 1.234,50 EUR", "1234.5", "1.234,50"),
        ("is 1 234,50 EUR", "1234.5", "1 234,50"),
        ("is 1\u202f234\u202f567 EUR", "1234567", "1\u202f234\u202f567"),
        ("is 1'234.50 CHF", "1234.5", "1'234.50"),
        ("Rs 1,23,456.78", "123456.78", "1,23,456.78"),
        ("12%", "12", "12"),
        ("12 %", "0.12", "12 %"),
        ("a loss of (12)", "-12", "(12)"),
        ("a loss of ($1,200)", "-1200", "($1,200)"),
        ("-12", "-12", "-12"),
        ("\u2212$ 12", "-12", "\u2212$ 12"),
        ("6.02e23", "6.02e23", "6.02e23"),
        ("1.234", "1234", "1.234"),
        ("1.234", "1.234", "1.234"),
        ("12.03.2026", "3", "03"),
        ("\u0661\u0662", "12", "\u0661\u0662"),
        ("EUR12", "12", "12"),
    ],
)
def test_a_number_is_found_in_its_spelling(text: str, value: str, place: str) -> None:
    assert (Decimal(value), place) in found(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("INV-12", "-12"),
        ("1,234.50", "234.5"),
        ("2012", "12"),
        ("1.5", "5"),
        ("1 2345", "12345"),
        ("9" * 100, "9" * 100),
    ],
)
def test_a_part_of_a_number_is_another_number(text: str, value: str) -> None:
    assert Decimal(value) not in {number for number, _ in found(text)}


@given(
    st.integers(0, 10**12),
    st.integers(0, 99),
    st.sampled_from([(",", "."), (".", ","), (" ", ","), ("\u202f", ","), ("'", "."), ("", ".")]),
    st.sampled_from(["", "total: ", "EUR "]),
)
def test_every_amount_is_read_back(
    whole: int, cents: int, marks: tuple[str, str], before: str
) -> None:
    group, point = marks
    spelling = f"{whole:,}".replace(",", group) + f"{point}{cents:02}"
    assert (Decimal(f"{whole}.{cents:02}"), spelling) in found(f"{before}{spelling} due")


@given(st.text("0123456789.,'", min_size=1, max_size=12))
def test_readings_keep_all_digits(token: str) -> None:
    for value in readings(token):
        digits = "".join(str(digit) for digit in value.as_tuple().digits)
        written = "".join(c for c in token if c.isdigit())
        assert digits.strip("0") == written.strip("0")
