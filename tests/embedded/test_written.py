"""Documents written one by one: their notation, and new values for them that the text and the answers share."""

import json
import random
import re
from itertools import islice

import pytest
from jsonschema import Draft202012Validator

from examples.train_embedded.real.apart import Apart
from examples.train_embedded.real.records import Record
from examples.train_embedded.real.tasks import draw_sample
from examples.train_embedded.written.read import parse, written_records
from examples.train_embedded.written.vary import Variations
from tests.support.tokens import data

TICKET = """
@@ ticket
Kestrel 400 trips the breaker, 1,250.50 EUR lost on 3 March 2026. Fuse 10 A was 1.25. -- Maud Okafor
@@
reporter|name: Maud Okafor -- who wrote the report
severity {minor/critical}: critical
loss|damage number: 1250.5
since date: 2026-03-03
works flag: no
refund number:
symptoms list: trips the breaker; Fuse 10 A
mood ~: annoyed
seen moment: 2026-03-03T14:05+01:00
opens clock: 08:30
[parts|spares] part|name -- as printed; price number; code; state {ordered/fitted} -- fitted if built in
- Fuse 10 A; 1.25; ; ordered
"""


def records() -> list[Record]:
    return list(written_records())


def test_a_document_is_read_with_its_fields_and_tables() -> None:
    (record,) = parse(TICKET, "tickets.txt")
    assert record.text.startswith("Kestrel 400")
    assert record.text.endswith("Maud Okafor")
    values = {stated.keys: (stated.value, stated.sort) for stated in record.fields}
    assert values == {
        "reporter|name": ("Maud Okafor", "text"),
        "severity": ("critical", "enum"),
        "loss|damage": (1250.5, "number"),
        "since": ("2026-03-03", "date"),
        "works": (False, "flag"),
        "refund": (None, "number"),
        "symptoms": (["trips the breaker", "Fuse 10 A"], "list"),
        "mood": ("annoyed", "text"),
        "seen": ("2026-03-03T14:05+01:00", "moment"),
        "opens": ("08:30", "clock"),
    }
    assert record.fields[0].notes == "who wrote the report"
    assert record.fields[1].options == ("minor", "critical")
    (table,) = record.tables
    assert table.rows == (("Fuse 10 A", 1.25, None, "ordered"),)
    assert table.options == ((), (), (), ("ordered", "fitted"))
    assert table.column_notes == ("as printed", "", "", "fitted if built in")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "reporter|name: Maud Okafor",
            "reporter|name: Maud Okoye",
            "tickets.txt:5: the text does not contain",
        ),
        ("}: critical", "}: fatal", "'fatal' is none of"),
        ("2026-03-03", "2026-02-30", "day is out of range"),
        ("works flag: no", "works flag: maybe", "neither yes nor no"),
        ("- Fuse 10 A; 1.25; ;", "- Fuse 10 A; 1.25;", "3 cells for 4 columns"),
        ("; ordered", "; lost", "'lost' is none of"),
        ("T14:05+01:00", " 14:05", "is no date with a time"),
        ("clock: 08:30", "clock: 8:30", "is no time of day"),
        ("loss|damage number", "Loss number", "is no field"),
        ("\n- Fuse 10 A; 1.25; ; ordered", "", "has no rows"),
    ],
)
def test_a_broken_document_is_refused_with_its_place(old: str, new: str, said: str) -> None:
    assert old in TICKET
    with pytest.raises(ValueError, match=re.escape(said)):
        list(parse(TICKET.replace(old, new), "tickets.txt"))


def test_no_two_documents_are_the_same() -> None:
    texts = [record.text for record in records()]
    assert len(texts) >= 300
    assert len(set(texts)) == len(texts)


def test_variations_keep_copies_in_the_text_and_change_both() -> None:
    known = records()
    variations, rng, changed = Variations(known), random.Random(5), 0
    for record in known:
        drawn = variations.draw(record, rng)
        changed += drawn.text != record.text
        for before, after in zip(record.fields, drawn.fields, strict=True):
            if before.sort == "text" and before.value and before.value in record.text:
                assert after.value in drawn.text, (before, after, drawn.text)
            if before.sort in ("date", "moment", "clock", "enum", "flag"):
                assert after == before
        numbers = {row for table in drawn.tables for row in table.rows}
        assert len(numbers) == len({row for table in record.tables for row in table.rows})
    assert changed > len(known) / 2


def test_a_number_takes_its_spelling_with_it() -> None:
    (record,) = parse(TICKET, "tickets.txt")
    variations = Variations([record])
    for seed in range(20):
        drawn = variations.draw(record, random.Random(seed))
        loss = next(stated.value for stated in drawn.fields if stated.keys == "loss|damage")
        assert f"{loss:,.2f} EUR" in drawn.text
        assert f"was {drawn.tables[0].rows[0][1]:.2f}" in drawn.text


def test_samples_ask_for_what_is_stated() -> None:
    rng = random.Random(3)
    made = (draw_sample(record, rng) for record in islice(records(), 100))
    samples = [sample for sample in made if sample is not None]
    assert len(samples) > 90
    assert all(sample.answer and sample.schema["properties"] for sample in samples)


def test_a_schema_states_descriptions_classes_and_times_of_a_document() -> None:
    (record,) = parse(TICKET, "tickets.txt")
    asked = [sample for seed in range(300) if (sample := draw_sample(record, random.Random(seed)))]
    written = [json.dumps(sample.schema) for sample in asked]
    assert any("fitted if built in" in schema for schema in written)
    assert any('"format": "date-time"' in schema for schema in written)
    for sample in asked:
        Draft202012Validator(sample.schema).validate(sample.answer)
        for row in next(
            (sample.answer[key] for key in ("parts", "spares") if key in sample.answer), ()
        ):
            if isinstance(row, dict) and "state" in row:
                assert row["state"].lower() == "ordered"


@pytest.mark.shared
@pytest.mark.parametrize("file", ["real-docs/dev.jsonl", "extraction-eval/dev.jsonl"])
def test_no_document_shares_a_run_of_words_with_one_that_scores(file: str) -> None:
    apart = Apart.of([data(*file.split("/"))])
    assert [each.text for each in records() if not apart.keeps(each.text)] == []
