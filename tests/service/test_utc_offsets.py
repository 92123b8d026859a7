"""Offsets of times: offsets that the document does not state become warnings."""

from typing import Any

import pytest
from intaglio.service.extraction.utc_offsets import offset_warnings

AWARE = {"type": "object", "properties": {"at": {"type": "string", "format": "date-time"}}}

STATED = [
    ("2026-06-03T14:30:00+02:00", "Start 2026-06-03T14:30:00+02:00"),
    ("2026-06-03T14:30:00+02:00", "Start 2026-06-03T14:30+02:00"),
    ("2026-06-03T14:30:00+02:00", "3 June 2026, 14:30 +0200"),
    ("2026-06-03T14:30:00+02:00", "3 June 2026, 14:30 (UTC+2)"),
    ("2026-06-03T14:30:00+02:00", "3 June 2026, 14:30 CEST"),
    ("2026-06-03T14:30:00+02:00", "3. Juni 2026, 14:30 Uhr MESZ"),
    ("2026-06-03T14:30:00+02:00", "3 June 2026, 14:30 Europe/Berlin"),
    ("2026-06-03T14:30:00+02:00", "14:30 Central European Summer Time"),
    ("2026-06-03T14:30:00-04:00", "June 3, 2026, 2:30 pm EDT"),
    ("2026-06-03T14:30:00-05:30", "14:30 \u22120530"),
    ("2026-06-03T14:30:00Z", "2026-06-03 14:30Z"),
    ("2026-06-03T14:30:00Z", "14:30 GMT"),
    ("2026-06-03T14:30:00+00:00", "1430Z"),
    ("2026-06-03T14:30:12.5+02:00", "[2026-06-03 14:30:12.500+02] started"),
    ("2026-06-03T12:30:00Z", "3 June 2026, 14:30 CEST"),  # the same instant
    ("2026-06-03T18:30:00Z", "June 3, 2026, 2:30 pm (UTC-4)"),
]
INVENTED = [
    ("2026-06-03T14:30:14-20:00", "3 June 2026, 14:30"),
    ("2026-06-03T14:30:00Z", "3 June 2026, 14:30"),
    ("2026-06-03T14:30:00+02:00", "3 June 2026, 14:30 GMT"),
    ("2026-06-03T14:30:00+01:00", "3 June 2026, 14:30 Europe/Berlin"),
    ("2026-06-03T09:00:00-10:00", "3 June 2026, 09:00-10:00"),
    ("2026-06-03T09:00:00-10:00", "3 June 2026, 09:00 -10:00"),
    ("2026-06-03T09:00:00+01:00", "09:00, call +1 555 0100"),
    ("2026-06-03T09:00:00-03:00", "due 2026-06-03, -03 points"),
    ("2026-06-03T09:00:00-05:00", "Il est 09:00"),
    ("2026-06-03T14:30:00Z", "Zurich, 14:30"),
]


@pytest.mark.parametrize(("value", "document"), STATED)
def test_an_offset_that_the_document_states_is_not_named(value: str, document: str) -> None:
    assert offset_warnings({"at": value}, AWARE, document) == ()


@pytest.mark.parametrize(("value", "document"), INVENTED)
def test_an_offset_that_the_document_does_not_state_is_named(value: str, document: str) -> None:
    (warning,) = offset_warnings({"at": value}, AWARE, document)
    assert (warning.pointer, warning.kind) == ("/at", "offset_not_stated")
    assert "iso-date-time" in warning.hint


@pytest.mark.parametrize(
    ("schema", "data", "places"),
    [
        ({"format": "time"}, "06:25:25-06:25", [""]),
        ({"format": "iso-date-time"}, "2026-06-03T14:30Z", [""]),
        ({"format": "iso-date-time"}, "2026-06-03T14:30", []),
        ({"anyOf": [{"format": "date-time", "type": "string"}, {"type": "null"}]}, "2026-06-03T14:30:00Z", [""]),
        ({"anyOf": [{"format": "date-time"}, {"type": "string"}]}, "2026-06-03T14:30:00Z", []),
        ({"type": "string"}, "2026-06-03T14:30:00Z", []),
        (
            {"items": {"$ref": "#/$defs/t"}, "$defs": {"t": {"format": "date-time"}}},
            ["2026-06-03T14:30:00Z", "2026-06-04T14:30:00+09:00"],
            ["/0", "/1"],
        ),
        ({"properties": {"a/b": {"format": "date-time"}}}, {"a/b": "2026-06-03T14:30:00Z"}, ["/a~1b"]),
    ],
)  # fmt: skip
def test_times_are_found_where_the_schema_requires_the_format(
    schema: dict[str, Any], data: Any, places: list[str]
) -> None:
    assert [warning.pointer for warning in offset_warnings(data, schema, "14:30")] == places
