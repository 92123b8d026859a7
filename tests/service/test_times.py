"""Dates with times through the SDK's types and the included model: no offset or second is invented."""

import datetime
from typing import Any

import pytest
from intaglio import extract
from intaglio.service.cli.banner import SHOWN, TEXT
from intaglio.service.client.shapes import shape_of
from pydantic import AwareDatetime, BaseModel, NaiveDatetime, PastDatetime

UTC_PLUS_2 = datetime.timezone(datetime.timedelta(hours=2))


class Event(BaseModel):
    starts_at: datetime.datetime


class LocalEvent(BaseModel):
    starts_at: NaiveDatetime


class Departure(BaseModel):
    departure_time: datetime.time


class Entry(BaseModel):
    logged_at: datetime.datetime


class LocalEntry(BaseModel):
    logged_at: NaiveDatetime


@pytest.mark.parametrize(
    ("type_", "format_"),
    [
        (datetime.datetime, "iso-date-time"),
        (PastDatetime, "iso-date-time"),
        (NaiveDatetime, "date-time-local"),
        (AwareDatetime, "date-time"),
        (datetime.time, "iso-time"),
        (datetime.date, "date"),
    ],
)
def test_a_type_asks_for_the_offset_it_takes(type_: Any, format_: str) -> None:
    assert shape_of(type_).schema == {"type": "string", "format": format_}


@pytest.mark.parametrize(
    ("type_", "text", "value"),
    [
        (Event, "3 June 2026, 14:30", datetime.datetime(2026, 6, 3, 14, 30)),
        (Event, "Jazz night\nStarts: 3 June 2026, 14:30\nHall 4", datetime.datetime(2026, 6, 3, 14, 30)),
        (LocalEvent, "3 June 2026, 14:30", datetime.datetime(2026, 6, 3, 14, 30)),
        (Departure, "Departure time: 06:25\nPlatform 4", datetime.time(6, 25)),
        (Departure, "The train leaves at 06:25.", datetime.time(6, 25)),
        (
            Entry,
            "level: error\nlogged_at: 2026-06-03T14:30:12+02:00\nmessage: disk full",
            datetime.datetime(2026, 6, 3, 14, 30, 12, tzinfo=UTC_PLUS_2),
        ),
        (
            LocalEntry,
            "level: error\nlogged_at: 2026-06-03T14:30:12+02:00\nmessage: disk full",
            datetime.datetime(2026, 6, 3, 14, 30, 12),
        ),
    ],
)  # fmt: skip
def test_a_time_is_read_as_it_stands(type_: type[BaseModel], text: str, value: object) -> None:
    assert list(extract(type_, text).data.model_dump().values()) == [value]


class Flight(BaseModel):
    departure: AwareDatetime


@pytest.mark.parametrize(
    ("text", "warned"),
    [
        ("Departure: 2026-06-03T14:30:00+02:00", []),
        ("Departure: 2026-06-03T14:30:00", [("offset_not_stated", "/departure")]),
    ],
)
def test_an_offset_that_the_text_lacks_is_named(text: str, warned: list[tuple[str, str]]) -> None:
    found = extract(Flight, text)
    assert [(one.kind, one.pointer) for one in found.warnings] == warned


def test_the_first_answer_that_a_user_sees_is_right() -> None:
    address = {"street": None, "postal_code": None, "city": "Leipzig", "country": None}
    assert extract(SHOWN, TEXT).data == {
        "full_name": "Helena Brandt",
        "job_title": "Head of Sales",
        "company": "Kestrel Acoustics",
        "email": None,
        "phone": "+49 341 555 0170",
        "mobile": None,
        "website": None,
        "address": address,
    }


@pytest.mark.parametrize("text", ["7", "a\0b", "<|document|>", "<|document|><|schema|>", "---"])
def test_descriptions_do_not_become_values(text: str) -> None:
    found = extract("contact", text, max_tokens=200).data
    assert "person as named" not in str(found)
