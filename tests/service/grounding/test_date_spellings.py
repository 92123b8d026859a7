"""The spellings of dates and times, and their ranges."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from intaglio.service.grounding.date_spellings import (
    dates_in,
    read_date,
    read_time,
    read_timestamp,
    times_in,
    written,
)


@pytest.mark.parametrize(
    "text",
    [
        "2026-03-12",
        "2026/3/12",
        "12/03/2026",
        "03/12/2026",
        "12.3.26",
        "12 March 2026",
        "12th of March, 2026",
        "March 12th, 2026",
        "Mar. 12, 2026",
        "12-MAR-2026",
        "12. M\u00e4rz 2026",
        "12 mars 2026",
        "12 de marzo de 2026",
        "12 mar\u00e7o 2026",
        "2026\u5e743\u670812\u65e5",
        "20260312",
        "12 March\n2026",
    ],
)
def test_a_date_is_found_in_its_spelling(text: str) -> None:
    place = "paid on "
    found = [p for p in dates_in(f"{place}{text} in cash") if p.date == (2026, 3, 12)]
    assert [p.range for p in found] == [(len(place), len(place) + len(text))]


@pytest.mark.parametrize(
    "text", ["2026-13-01", "31.02.2026", "112/03/2026", "12/03/20265", "10.1.2.3", "maybe 12, 2026"]
)
def test_what_is_no_date_is_not_found(text: str) -> None:
    assert [p for p in dates_in(text) if p.date[2]] == []


def test_exchanged_day_and_month_are_both_found_and_named() -> None:
    first, second = sorted(dates_in("12/03/2026"), key=lambda place: place.date)
    assert (first.date, first.other) == ((2026, 3, 12), (2026, 12, 3))
    assert (second.date, second.other) == ((2026, 12, 3), (2026, 3, 12))
    assert [place.other for place in dates_in("13/03/2026")] == [None]
    assert [place.other for place in dates_in("03/03/2026")] == [None]


@given(
    st.integers(0, 40000).map(lambda days: date(1960, 1, 1) + timedelta(days)),
    st.sampled_from(["%Y-%m-%d", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d %B %Y", "%B %d, %Y"]),
)
def test_every_date_is_read_back(day: date, form: str) -> None:
    assert (day.year, day.month, day.day) in read_date(day.strftime(form))


def test_months_of_a_year() -> None:
    for text in ("March 2026", "03/2026", "2026-03", "marzo de 2026"):
        assert read_date(text) == ((2026, 3, 0),)
    assert written((2026, 3, 0)) == "2026-03"
    assert written((2026, 3, 12)) == "2026-03-12"


@pytest.mark.parametrize(
    ("text", "clock"),
    [
        ("14:30", (14, 30, 0)),
        ("14:30:05", (14, 30, 5)),
        ("2:30 pm", (14, 30, 0)),
        ("12 a.m.", (0, 0, 0)),
        ("14.30 Uhr", (14, 30, 0)),
        ("14h30", (14, 30, 0)),
        ("14h", (14, 0, 0)),
    ],
)
def test_a_time_is_found_in_its_spelling(text: str, clock: tuple[int, int, int]) -> None:
    assert (clock, (3, 3 + len(text))) in list(times_in(f"at {text}"))
    assert read_time(text) == clock


@pytest.mark.parametrize("text", ["14.30", "14", "25:00", "13 pm", "12:75", "1:2"])
def test_what_is_no_time_is_not_found(text: str) -> None:
    assert list(times_in(text)) == []


def test_a_timestamp_is_a_date_and_a_time() -> None:
    expected = (2026, 3, 12), (14, 30, 0)
    for text in ("2026-03-12T14:30:00Z", "2026-03-12 14:30", "2026-03-12T14:30:00.5+01:00"):
        assert read_timestamp(text) == expected
    assert read_timestamp("2026-02-31T14:30:00Z") is None
    assert read_timestamp("2026-03-12") is None


@given(st.text("0123456789/.-: hamp\u017f\u0130Jan", max_size=30))
def test_no_text_is_too_odd(text: str) -> None:
    for place in dates_in(text):
        assert 0 <= place.range[0] < place.range[1] <= len(text)
    for _, (start, end) in times_in(text):
        assert 0 <= start < end <= len(text)
