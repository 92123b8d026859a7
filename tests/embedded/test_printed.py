"""Orders, invoices, recipes and reports as machines print them: sums are right, and the text says what is asked."""

import random
import re
from collections.abc import Iterator
from typing import Any

import pytest

from examples.train_embedded.draw import Draw, Language, pool
from examples.train_embedded.printed import (
    MAKERS,
    Maker,
    airtime,
    broadcast,
    cookery,
    einvoices,
    incidents,
    trade_bills,
)
from examples.train_embedded.printed.text_layers import Box, laid, misread
from examples.train_embedded.real.apart import Apart
from examples.train_embedded.real.records import Record
from tests.support.tokens import data

NEW = (
    airtime.paper,
    broadcast.order,
    cookery.page,
    einvoices.einvoice,
    incidents.incident,
    trade_bills.bill,
)
_REPORT = re.compile(r"^(Action|Status|Diagnostic-Code):.*$", re.MULTILINE)
LANGUAGES: tuple[Language, ...] = ("en", "de", "fr", "es")


def records(maker: Maker, count: int = 80) -> Iterator[Record]:
    rng = random.Random(3)
    for _ in range(count):
        record = maker(Draw(rng, "train", rng.choice(LANGUAGES)), [])
        assert record is not None
        yield record


def stated(record: Record) -> dict[str, Any]:
    return {each.keys.split("|")[0]: each.value for each in record.fields}


@pytest.mark.parametrize("maker", NEW, ids=lambda maker: str(maker.__name__))
def test_a_seed_gives_the_same_document(maker: Maker) -> None:
    assert list(records(maker, 10)) == list(records(maker, 10))


@pytest.mark.parametrize("maker", NEW, ids=lambda maker: str(maker.__name__))
def test_no_list_of_alternatives_is_kept_for_each_document(maker: Maker) -> None:
    for _ in records(maker, 200):
        pass
    before = pool.cache_info().currsize
    rng = random.Random(4)
    for _ in range(100):
        maker(Draw(rng, "train", rng.choice(LANGUAGES)), [])
    assert pool.cache_info().currsize - before < 20


@pytest.mark.parametrize("maker", NEW, ids=lambda maker: str(maker.__name__))
def test_items_of_lists_and_cells_of_texts_stand_in_the_document(maker: Maker) -> None:
    for record in records(maker):
        for each in record.fields:
            for item in each.value if each.sort == "list" else ():
                assert item in record.text, record.source
        for table in record.tables:
            for row in table.rows:
                for cell, (_, sort) in zip(row, table.columns, strict=True):
                    assert sort != "text" or str(cell) in record.text


def test_sums_of_an_invoice_follow_from_its_lines() -> None:
    rates = set()
    for record in records(einvoices.einvoice):
        known = stated(record)
        lines, taxes = record.tables
        total = sum(row[4] for row in lines.rows)
        bases, tax = sum(row[1] for row in taxes.rows), sum(row[2] for row in taxes.rows)
        assert all(row[4] == pytest.approx(row[1] * row[2], abs=0.006) for row in lines.rows)
        assert known["net_total"] == pytest.approx(bases, abs=0.011)
        assert abs(known["net_total"] - total) <= 0.101 * total
        assert known["vat_total"] == pytest.approx(tax, abs=0.001)
        assert known["gross_total"] == pytest.approx(known["net_total"] + tax, abs=0.001)
        rates.add(len(taxes.rows))
    assert rates == {1, 2, 3}


def figures(value: float) -> str:
    return f"{abs(value):.2f}".replace(".", "")


def test_sums_of_a_bill_follow_from_its_lines_and_stand_in_it() -> None:
    kinds, changed, prepaid, negative = set(), 0, 0, 0
    for record in records(trade_bills.bill, 200):
        known = stated(record)
        kinds.add(known["document_type"])
        lines, taxes = record.tables
        total = sum(row[4] for row in lines.rows)
        bases, tax = sum(row[1] for row in taxes.rows), sum(row[2] for row in taxes.rows)
        assert all(row[2] == pytest.approx(row[1] * row[0] / 100, abs=0.006) for row in taxes.rows)
        assert known["net_total"] == pytest.approx(bases, abs=0.001)
        assert known["vat_total"] == pytest.approx(tax, abs=0.001)
        assert known["gross_total"] == pytest.approx(known["net_total"] + tax, abs=0.001)
        paid = known["prepaid"] or 0
        assert known["amount_due"] == pytest.approx(known["gross_total"] - paid, abs=0.001)
        plain = re.sub(r"(?<=\d)[ .,'\u00a0](?=\d)", "", record.text)
        for name in ("net_total", "vat_total", "gross_total"):
            assert figures(known[name]) in plain, name
        changed += abs(known["net_total"] - total) > 0.001
        prepaid += paid != 0
        negative += total < 0
        assert paid == 0 or known["document_type"] != "credit_note"
    assert len(kinds) == 4
    assert min(changed, prepaid, negative) > 5


def test_texts_that_are_asked_of_a_bill_stand_in_it() -> None:
    for record in records(trade_bills.bill, 200):
        for each in record.fields:
            if each.sort == "text" and each.value is not None:
                assert each.value in record.text, each.keys
        assert len(record.text) < 9000


def test_an_order_states_its_flight_and_its_gross_amount() -> None:
    for record in records(broadcast.order):
        known = stated(record)
        assert f"{known['gross_amount']:,.2f}" in record.text
        assert known["flight_from"] <= known["flight_to"]
        for table in record.tables:
            amount = sum(count * rate for _, count, rate in table.rows)
            assert amount == pytest.approx(known["gross_amount"])


def test_a_paper_of_a_station_says_what_is_asked_of_it() -> None:
    kinds, orders = set(), 0
    for record in records(airtime.paper, 200):
        known = stated(record)
        kinds.add(known["document_type"])
        orders += "order_number" in known and known["document_type"] == "invoice"
        for each in record.fields:
            if each.sort == "text" and each.value is not None:
                assert each.value in record.text
        for amount in (
            "gross_amount",
            "net_amount",
            "agency_commission",
            "previous_balance",
            "amount_due",
        ):
            value = known.get(amount)
            assert value is None or f"{value:,.2f}" in record.text
        assert known["flight_from"] <= known["flight_to"]
    assert len(kinds) == 5
    assert orders > 20


def test_the_gross_amount_of_a_paper_is_the_sum_of_its_lines() -> None:
    summed = 0
    for record in records(airtime.paper, 200):
        for table in record.tables:
            keys = [keys.split("|")[0] for keys, _ in table.columns]
            if "amount" in keys:
                total = sum(row[keys.index("amount")] for row in table.rows)
                assert total == pytest.approx(stated(record)["gross_amount"])
                summed += 1
    assert summed > 60


def test_papers_of_stations_fit_the_longest_samples_of_training() -> None:
    sizes = sorted(len(record.text) for record in records(airtime.paper, 200))
    assert sizes[-20] > 2500
    assert sizes[-1] < 9000


def test_boxes_lose_nothing_and_keep_the_order_of_values_that_look_alike() -> None:
    boxes = [
        Box("Order #", "4711", "number"),
        Box("Printed", "05/06/24", "date"),
        Box("Estimate", "88", "number"),
        Box("Station", "KXYZ"),
        Box("Invoice #", "900", "number"),
    ]
    orders = set()
    for seed in range(100):
        text = "\n".join(laid(Draw(random.Random(seed), "train"), boxes))
        assert all(box.label in text and box.value in text for box in boxes)
        alike = [box for box in boxes if box.kind == "number"]
        by_label = sorted(alike, key=lambda box: text.index(box.label))
        assert by_label == sorted(alike, key=lambda box: text.index(box.value))
        orders.add(re.sub(r"[:\t ]+", " ", text))
    assert len(orders) > 10


def test_a_scanner_reads_no_line_wrongly_that_has_an_answer() -> None:
    lines = ["Advertiser Friends of Selma Bottomley", "Agency Commission", "Total 1,250.00"]
    texts = set()
    for seed in range(50):
        found = misread(Draw(random.Random(seed), "train"), lines, ["Friends of Selma Bottomley"])
        assert lines[0] in found
        assert lines[2] in found or any("1,250.00" in line for line in found)
        texts.add("\n".join(found))
    assert len(texts) > 3


def test_orders_and_invoices_of_firms_are_a_fifth_of_the_printed_documents_each() -> None:
    weights = dict(MAKERS)
    total = sum(weights.values())
    assert 0.18 < (weights[airtime.paper] + weights[broadcast.order]) / total < 0.22
    assert 0.18 < (weights[trade_bills.bill] + weights[einvoices.einvoice]) / total < 0.22


def test_a_page_states_its_servings_and_its_time_or_neither() -> None:
    silent = 0
    for record in records(cookery.page):
        known = stated(record)
        total = known["total_time_minutes"]
        silent += total is None
        if known["yields"] is not None:
            assert re.search(rf"\b{known['yields']}\b", record.text)
        if total is not None and total < 60:
            assert re.search(rf"\b{total} ?m", record.text)
    assert 0 < silent < 40


def test_most_reports_leave_most_questions_open() -> None:
    found = [stated(record) for record in records(incidents.incident, 200)]
    nobody = sum(not each["perpetrators"] for each in found)
    unnamed = sum(not each["victims"] for each in found)
    assert 60 < nobody < 140
    assert 60 < unnamed < 160
    assert sum(record.text.isupper() for record in records(incidents.incident, 200)) > 60


def test_capitals_of_a_report_spare_its_classes() -> None:
    for record in records(incidents.incident):
        assert stated(record)["type"].islower()
        assert stated(record)["country"] in record.text


@pytest.mark.shared
@pytest.mark.parametrize("file", ["real-docs/dev.jsonl", "extraction-eval/dev.jsonl"])
def test_no_document_shares_a_run_of_words_with_one_that_scores(file: str) -> None:
    apart = Apart.of([data(*file.split("/"))])
    for maker, _ in MAKERS:
        for seed in range(40):
            record = maker(Draw(random.Random(seed), "train", LANGUAGES[seed % 4]), [])
            # The fields of a delivery report are a standard's words, in every such report.
            text = "" if record is None else _REPORT.sub("", record.text)
            assert apart.keeps(text), (maker, text)
