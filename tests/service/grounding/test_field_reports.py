"""The report of a whole answer: sources of planted values in random documents, and the form on the wire."""

import json
import random
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest
from intaglio.schemas.extraction.requests import ExtractOptions
from intaglio.service.grounding.field_reports import (
    MAX_OCCURRENCES,
    NO_REPORT,
    ReportRequest,
    field_reports,
    locate,
)
from intaglio.service.grounding.leaf_confidence import ScoredOutput

INVOICE = """Invoice INV-7 of 12/03/2026
ACME  GmbH
1 Pen 2.50
1 Ink 1.234,50
Total 1,237.00"""
DATA = {
    "no": "INV-7",
    "date": "2026-03-12",
    "vendor": "Acme GmbH",
    "items": [{"qty": 1, "name": "Pen", "price": 2.5}, {"qty": 1, "name": "Ink", "price": 1234.5}],
    "total": 1237,
    "paid": None,
}


def test_an_invoice() -> None:
    reports = locate(INVOICE, DATA)
    found = {
        pointer: (one.match, one.span and INVOICE[one.span.start : one.span.end])
        for pointer, one in reports.items()
    }
    assert found == {
        "/no": ("exact", "INV-7"),
        "/date": ("date", "12/03/2026"),
        "/vendor": ("folded", "ACME  GmbH"),
        "/items/0/qty": ("exact", "1"),
        "/items/0/name": ("exact", "Pen"),
        "/items/0/price": ("number", "2.50"),
        "/items/1/qty": ("exact", "1"),
        "/items/1/name": ("exact", "Ink"),
        "/items/1/price": ("number", "1.234,50"),
        "/total": ("number", "1,237.00"),
        "/paid": ("none", None),
    }
    lines = {reports[f"/items/{n}/qty"].span for n in (0, 1)}
    assert lines == set(reports["/items/0/qty"].occurrences)
    (other,) = reports["/date"].candidates
    assert (other.value, other.span) == ("2026-12-03", reports["/date"].span)


def test_too_many_occurrences_are_those_around_the_source() -> None:
    document = "EUR " * 500 + "Pen"
    reports = locate(document, {"currency": "EUR", "name": "Pen"})
    source = reports["/currency"].span
    occurrences = reports["/currency"].occurrences
    assert source is not None
    assert source.start == 499 * 4
    assert len(occurrences) == MAX_OCCURRENCES
    assert source in occurrences


def test_nothing_is_reported_unless_asked_for() -> None:
    assert ReportRequest.of("text", ExtractOptions()) == NO_REPORT
    output = ScoredOutput((), ())
    assert field_reports(NO_REPORT, DATA, {}, output) == {}
    wanted = ReportRequest.of(INVOICE, ExtractOptions(grounding="locate"))
    assert field_reports(wanted, DATA, {}, output) == locate(INVOICE, DATA)


FILLER = ["lorem", "Ipsum", "dolor", "été", "中文", "😀", "مرحبا"]


def planted(rng: random.Random, number: int) -> tuple[Any, str]:
    """A value and one of its spellings; both unlike those of other numbers."""
    amount = 1000 + 7 * number + rng.randrange(7)
    day = date(1990, 1, 1) + timedelta(400 * number + rng.randrange(400))
    kind = rng.randrange(5)
    if kind == 0:
        value = f"Name{amount} of \u00c9x{number}"
        return value, rng.choice([value, value.upper(), value.replace(" ", "\n  ")])
    if kind == 1:
        return amount, rng.choice(
            [str(amount), f"{amount:,}", f"{amount:,}".replace(",", "\u202f")]
        )
    if kind == 2:
        cents = f"{amount:,}.25"
        swapped = cents.translate(str.maketrans(",.", ".,"))
        return Decimal(f"{amount}.25"), rng.choice([cents, swapped, f"{amount}.25"])
    if kind == 3:
        return day.isoformat(), day.strftime(rng.choice(["%d %B %Y", "%B %d, %Y", "%Y/%m/%d"]))
    return f"\u6f22{number}\U0001f600\u4e01", f"\u6f22{number}\U0001f600\u4e01"


@pytest.mark.parametrize("seed", range(10))
def test_planted_values_are_found_where_they_are(seed: int) -> None:
    """A hundred documents, each with up to twenty values at known places, in an order that the data does not have."""
    rng = random.Random(seed)
    for _ in range(100):
        values = [planted(rng, number) for number in range(rng.randint(1, 20))]
        document, places = "", {}
        for number in rng.sample(range(len(values)), len(values)):
            document += " ".join(rng.choices(FILLER, k=rng.randrange(6))) + " | "
            spelling = values[number][1]
            places[f"/{number}"] = (len(document), len(document) + len(spelling))
            document += spelling + " | "
        data = {str(number): value for number, (value, _) in enumerate(values)}
        for pointer, report in locate(document, data).items():
            assert report.span is not None, (pointer, data, document)
            assert (report.span.start, report.span.end) == places[pointer]
            assert report.span in report.occurrences


def test_a_report_is_json() -> None:
    report = locate(INVOICE, DATA)["/no"]
    assert json.loads(report.model_dump_json(exclude_defaults=True)) == {
        "match": "exact",
        "span": {"start": 8, "end": 13},
        "occurrences": [{"start": 8, "end": 13}],
    }
