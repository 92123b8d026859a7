"""Formats: cases of our own, and all of JSON-Schema-Test-Suite's where that is at hand."""

import json
import os
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from intaglio.grammar.leaves import formats
from intaglio.service.errors import InvalidOutput
from intaglio.service.extraction.validate import check

SHARED = Path(os.environ.get("INTAGLIO_TEST_DATA", Path(__file__).parents[4] / "shared" / "data"))
SUITE = SHARED / "json-schema-test-suite" / "tests" / "draft2020-12" / "optional" / "format"


@pytest.mark.shared
@pytest.mark.skipif(not SUITE.exists(), reason="needs ../shared")
@pytest.mark.parametrize("name", sorted(formats.NAMES))
def test_suite(name: str) -> None:
    wrong = [
        (case["data"], case["valid"])
        for group in json.loads((SUITE / f"{name}.json").read_text())
        for case in group["tests"]
        if isinstance(case["data"], str) and formats.holds(name, case["data"]) != case["valid"]
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("name", "yes", "no"),
    [
        ("date", ["2024-02-29", "2000-02-29", "0004-02-29"], ["2023-02-29", "1900-02-29", "2024-13-01", "24-01-01"]),
        ("time", ["08:30:06Z", "01:29:60+01:30", "23:59:60.5z"], ["08:30:06", "23:58:60Z", "24:00:00Z", "23:59:604Z"]),
        ("date-time", ["2024-02-29T00:00:00Z", "1990-12-31T15:59:60-08:00"], ["2024-02-29", "1990-12-31T15:59:60Z"]),
        ("duration", ["P1Y2M3DT4H5M6S", "P2W"], ["P", "P1YT", "P1Y2D"]),
        ("email", ["a.b@c.de", '"a b"@c', "a@[1.2.3.4]"], ["a", "a@", ".a@b", "a@b_c"]),
        ("hostname", ["a-b.c", "x" * 63, "xn--ll-0ea"], ["-a", "a.", "x" * 64, "xn--X", ".".join(["x" * 62] * 5)]),
        ("idn-hostname", ["실례.테스트"], ["〮실례.테스트", "a..b"]),
        ("ipv4", ["1.2.3.4", "255.255.255.255"], ["256.1.1.1", "01.2.3.4", "1.2.3"]),
        ("ipv6", ["::", "1::8", "::ffff:1.2.3.4", "1:2:3:4:5:6:7:8"], ["1:2:3:4:5:6:7", "::1::", "12345::"]),
        ("uri", ["http://a.b/c?d#e", "urn:x:y", "http://[::1]:80/"], ["//a", "http://a b", "http://[::g]/", "http://é"]),
        ("uri-reference", ["", "a/b", "../x?y", "//h/p", "#f"], ["a b", "\\x", "1:%zz"]),
        ("iri", ["http://é.fr/ü?\ue000"], ["http://a b", "é"]),
        ("uuid", ["2eb8aa08-aa98-11ea-b4aa-73b441d16380"], ["2eb8aa08aa9811eab4aa73b441d16380"]),
        ("json-pointer", ["", "/a~0b~1c/0", "/é"], ["a", "/~2", "/a~"]),
        ("relative-json-pointer", ["0", "1/a", "2#"], ["01", "-1", "/a"]),
        ("uri-template", ["a{b,c:3}{+d*}", "é"], ["{", "{a,}", "{v:01}", "a b"]),
        ("regex", ["^a$", r"(a)\1"], ["(", r"\a"]),
        (
            "date-time-local",
            ["2026-06-03T14:30", "2024-02-29T23:59:59"],
            [
                *("2026-06-03", "2026-06-03T14:30Z", "2023-02-29T14:30", "2026-06-03 14:30"),
                *("2026-06-03T14:30:05.5", "2026-06-03T24:00"),
            ],
        ),
        ("time-local", ["06:25", "23:59:59"], ["6:25", "24:00", "06:25Z", "06:25:60", "06:25:01.5"]),
        (
            "iso-date-time",
            ["2026-06-03T14:30", "2026-06-03T14:30:12.345+02:00", "2026-06-03T14:30Z"],
            [
                *("2026-06-03T14:30-24:00", "2026-06-03T14:30:", "2026-06-03T14:30:12."),
                "2026-06-03T14:30+0200",
            ],
        ),
        (
            "iso-time",
            ["06:25", "06:25:01.123456789-05:30", "06:25Z"],
            ["06:25 Z", "06:60", "06:25:01.1234567890"],
        ),
    ],
)  # fmt: skip
def test_own_cases(name: str, yes: list[str], no: list[str]) -> None:
    assert [t for t in yes if not formats.holds(name, t)] == []
    assert [t for t in no if formats.holds(name, t)] == []


@settings(deadline=None)
@given(st.integers(0, 9999), st.integers(0, 19), st.integers(0, 39))
def test_dates_are_those_of_the_calendar(year: int, month: int, day: int) -> None:
    try:
        date(year, month, day)
        expected = True
    except ValueError:  # Python's calendar has no year 0 either
        expected = False
    assert formats.holds("date", f"{year:04}-{month:02}-{day:02}") == expected


_CLOCKS = st.from_regex(
    r"\d\d:\d\d(:\d\d(\.\d{1,10})?)?(Z|[+-]\d\d:\d\d)?", fullmatch=True, alphabet="0123456789:.Z+-"
)


@pytest.mark.parametrize("name", sorted(formats.LOCAL_TIMES))
@settings(deadline=None, max_examples=200)
@given(st.integers(0, 9999), st.integers(0, 13), st.integers(0, 32), _CLOCKS)
def test_local_times_are_what_the_last_check_takes(
    name: str, year: int, month: int, day: int, clock: str
) -> None:
    text = f"{year:04}-{month:02}-{day:02}T{clock}" if "date" in name else clock
    try:
        check(text, {"format": name})
        taken = True
    except InvalidOutput:
        taken = False
    assert formats.holds(name, text) == taken
