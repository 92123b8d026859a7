"""Number languages against exact decimal arithmetic on the texts themselves."""

import re
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from intaglio.grammar.api import ConstraintTooLarge
from intaglio.grammar.automata import REFUSED, Dfa
from intaglio.grammar.leaves.numbers import (
    EQUAL,
    GREATER,
    LESS,
    NumberSpec,
    compare,
    multiples,
    number,
)

JSON_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?")
NORMALISED = re.compile(r"-?([1-9](\.[0-9]+)?|0(\.0+)?)[eE][-+]?[0-9]+")

values = st.decimals(min_value=-2000, max_value=2000, places=3, allow_nan=False) | st.sampled_from(
    [
        Decimal(t)
        for t in (
            "0",
            "1",
            "-1",
            "0.1",
            "10",
            "1e3",
            "1e-3",
            "9223372036854775808",
            "-1e30",
            "99.99",
            "5e-7",
            "120",
        )
    ]
)
digit_texts = st.text(alphabet="-0123456789.", min_size=1, max_size=9)


@st.composite
def near(draw: st.DrawFn, value: Decimal) -> str:
    """Texts of numbers close to a value, where an error would show."""
    shift = draw(
        st.sampled_from(
            [Decimal(t) for t in ("0", "1", "-1", "0.001", "-0.001", "0.0000001", "10", "-10")]
        )
    )
    text = f"{value + shift:f}"
    return (
        text + draw(st.sampled_from(["", "0", "00", "1"]))
        if "." in text
        else text + draw(st.sampled_from(["", ".0", ".01", "0"]))
    )


def judge(dfa: Dfa, text: str) -> int:
    return dfa.judge(text.encode())


@settings(deadline=None, max_examples=100)
@given(st.data(), values)
def test_compare_orders_texts_by_value(data: st.DataObject, value: Decimal) -> None:
    text = data.draw(near(value) | digit_texts)
    if JSON_NUMBER.fullmatch(text):
        expected = {-1: LESS, 0: EQUAL, 1: GREATER}[int(Decimal(text).compare(value))]
    else:
        expected = REFUSED
    assert judge(compare(value), text) == expected


divisors = st.sampled_from(
    [
        Decimal(t)
        for t in (
            "1",
            "2",
            "5",
            "7",
            "10",
            "25",
            "100",
            "0.1",
            "0.01",
            "0.25",
            "2.5",
            "0.3",
            "12",
            "1e3",
            "1e7",
            "0.0001",
            "127",
        )
    ]
)


@settings(deadline=None, max_examples=100)
@given(st.data(), divisors, st.integers(-3000, 3000))
def test_multiples_are_whole(data: st.DataObject, divisor: Decimal, n: int) -> None:
    text = data.draw(near(divisor * n) | digit_texts)
    whole = JSON_NUMBER.fullmatch(text) is not None and Fraction(text) % Fraction(divisor) == 0
    assert (judge(multiples(divisor), text) == 0) == whole


@settings(deadline=None, max_examples=100)
@given(
    st.data(),
    st.booleans(),
    st.booleans(),
    st.none() | values,
    st.none() | values,
    st.booleans(),
    st.none() | divisors,
)
def test_number_is_the_conjunction(
    data: st.DataObject,
    integer: bool,
    point_zero: bool,
    low: Decimal | None,
    high: Decimal | None,
    exclusive: bool,
    divisor: Decimal | None,
) -> None:
    spec = NumberSpec(
        integer=integer,
        point_zero=point_zero,
        minimum=None if exclusive else low,
        exclusive_minimum=low if exclusive else None,
        maximum=None if exclusive else high,
        exclusive_maximum=high if exclusive else None,
        multiple_of=() if divisor is None else (divisor,),
    )
    text = data.draw(
        near(low if low is not None else Decimal(0)) | near(high or Decimal(5)) | digit_texts
    )
    ok = JSON_NUMBER.fullmatch(text) is not None
    if ok:
        value = Fraction(text)
        ok = not integer or ("." not in text) or (point_zero and value.denominator == 1)
        ok = ok and (low is None or value > low or (value == low and not exclusive))
        ok = ok and (high is None or value < high or (value == high and not exclusive))
        ok = ok and (divisor is None or value % Fraction(divisor) == 0)
    assert (judge(number(spec), text) == 0) == ok


@settings(deadline=None, max_examples=100)
@given(
    st.none() | values,
    st.none() | values,
    st.from_regex(r"\A-?[0-9](\.[0-9]{1,3})?[eE][-+]?[0-9]{1,2}\Z"),
    st.booleans(),
)
def test_exponents_in_normalised_form_are_bounded_by_value(
    low: Decimal | None, high: Decimal | None, text: str, integer: bool
) -> None:
    spec = NumberSpec(integer=integer, minimum=low, exclusive_maximum=high, exponents=True)
    value = Decimal(text)
    inside = (low is None or value >= low) and (high is None or value < high)
    free = low is None and high is None and not integer
    if integer:
        inside = inside and re.fullmatch(r"-?[1-9][eE]\+?[0-9]+", text) is not None
    elif not free:
        inside = inside and NORMALISED.fullmatch(text) is not None
    assert (judge(number(spec), text) == 0) == inside


def test_bounds_of_any_size() -> None:
    high = number(NumberSpec(integer=True, minimum=Decimal("1e30"), maximum=Decimal(10**30 + 5)))
    assert judge(high, str(10**30 + 5)) == 0
    assert judge(high, str(10**30 + 6)) == REFUSED
    assert judge(high, str(10**30 - 1)) == REFUSED
    with pytest.raises(ConstraintTooLarge):
        number(NumberSpec(maximum=Decimal("1e400000")))
    with pytest.raises(ConstraintTooLarge):
        multiples(Decimal(10**9 + 7))


def test_contradictions_are_empty() -> None:
    assert number(NumberSpec(minimum=Decimal(2), maximum=Decimal(1))).empty
    assert number(
        NumberSpec(integer=True, exclusive_minimum=Decimal(1), exclusive_maximum=Decimal(2))
    ).empty
    assert not number(NumberSpec(exclusive_minimum=Decimal(1), exclusive_maximum=Decimal(2))).empty
    assert number(
        NumberSpec(
            multiple_of=(Decimal(7),), exclusive_minimum=Decimal(7), exclusive_maximum=Decimal(14)
        )
    ).empty
