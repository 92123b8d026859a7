"""Looking values up in a document: the kinds of matches, and which places count."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from intaglio.service.grounding.document_index import MAX_PLACES, DocumentIndex


@pytest.mark.parametrize(
    ("document", "value", "match", "places"),
    [
        ("to ACME GmbH", "ACME GmbH", "exact", ["ACME GmbH"]),
        ("to ACME\r\n  GmbH", "Acme GmbH", "folded", ["ACME\r\n  GmbH"]),
        ("to cafe\u0301!", "caf\u00e9", "folded", ["cafe\u0301"]),
        ("Annual report of Ann", "Ann", "exact", ["Ann"]),
        ("Annual report of ANN", "Ann", "folded", ["ANN"]),
        ("Annual report", "Ann", "none", []),
        ("business", "US", "none", []),
        ("no. INV1234X", "INV1234", "exact", ["INV1234"]),
        ("Handbook", "andbo", "exact", ["andbo"]),
        ("\u6771\u4eac\u90fd\u306b\u3042\u308b", "\u6771\u4eac", "exact", ["\u6771\u4eac"]),
        ("a total of 1,234.50", Decimal("1234.50"), "number", ["1,234.50"]),
        ("a total of 1234.50", Decimal("1234.50"), "exact", ["1234.50"]),
        ("a total of 12", 12, "exact", ["12"]),
        ("a total of 12", 12.0, "number", ["12"]),
        ("of 1.234,50 EUR", "1234.50", "number", ["1.234,50"]),
        ("20% off", 0.2, "number", ["20%"]),
        ("in 2012", 12, "none", []),
        ("on 12 March 2026", "2026-03-12", "date", ["12 March 2026"]),
        ("on 2026-03-12", "2026-03-12", "exact", ["2026-03-12"]),
        ("on 2026-03-12", "12 March 2026", "date", ["2026-03-12"]),
        ("in March 2026", "2026-03", "date", ["March 2026"]),
        ("at 2:30 pm", "14:30:00", "date", ["2:30 pm"]),
        ("12/03/2026, 2:30 pm", "2026-03-12T14:30:00Z", "date", ["12/03/2026, 2:30 pm"]),
        ("12/03/2026", "2026-03-12T00:00:00Z", "date", ["12/03/2026"]),
        ("12/03/2026", "2026-03-12T14:30:00Z", "none", []),
        ("true or false", True, "exact", ["true"]),
        ("yes", True, "none", []),
        ("null", None, "none", []),
        ("a b", "", "none", []),
        ("a b", " ", "none", []),
        ("ab", "\u00ad", "none", []),
    ],
)
def test_a_value_is_found_by_its_kind(
    document: str, value: Any, match: str, places: list[str]
) -> None:
    found = DocumentIndex(document).find(value)
    assert (found.match, [document[a:b] for a, b in found.places]) == (match, places)


def test_the_other_reading_of_a_date_is_reported() -> None:
    found = DocumentIndex("13/03/2026 and 12/03/2026").find("2026-03-12")
    assert found.places == ((15, 25),)
    assert found.others == {(15, 25): (2026, 12, 3)}


def test_all_places_are_found_up_to_a_bound() -> None:
    assert DocumentIndex("ab ab ab").find("ab").places == ((0, 2), (3, 5), (6, 8))
    for value in ("ab", 12, "2026-03-12"):
        assert len(DocumentIndex(f"{value} " * (MAX_PLACES + 9)).find(value).places) == MAX_PLACES


@given(st.text(max_size=30), st.text(min_size=4, max_size=12), st.text(max_size=30))
def test_a_text_that_stands_in_the_document_is_found(before: str, value: str, after: str) -> None:
    document = before + value + after
    found = DocumentIndex(document).find(value)
    if value.strip() == value != "":
        assert found.match in ("exact", "folded", "number", "date")
    if found.match == "exact":
        assert all(document[a:b] == value for a, b in found.places)
    assert list(found.places) == sorted(set(found.places))
    assert all(0 <= a < b <= len(document) for a, b in found.places)
