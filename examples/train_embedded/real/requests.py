"""Short requests that people wrote, with their intent and their parts: CLINC150, Banking77, NLU++, Restaurant-8k, SNIPS.

Licences: CC BY 3.0, CC BY 4.0 (three), CC0 1.0. Does: read each data set's own format. Does not: normalise dates, whose
year stands outside the text.
"""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Iterator
from io import StringIO
from typing import Any

from .records import Record, Stated

_INTENT = "intent|request_type|topic|category|reason_for_contact|what_it_is_about"
_NOTES = "what the message is about|what the writer wants|the class that fits the message best|"
_COUNTS = {word: number for number, word in enumerate("one two three four five six seven eight nine ten".split(), 1)}


def _classed(source: str, pairs: list[tuple[str, str]], most: int) -> Iterator[Record]:
    """Messages with one class each, among some of the others."""
    rng = random.Random(source)
    classes = sorted({label for _, label in pairs})
    for message, label in rng.sample(pairs, min(most, len(pairs))):
        others = [each for each in rng.sample(classes, rng.randint(3, 9)) if each != label]
        options = tuple(each.replace("_", " ") for each in (label, *others))
        asked = Stated(_INTENT, options[0], "enum", _NOTES, options)
        yield Record(source, message, (asked, Stated("message|text|wording", message, notes="word for word")))


def intents(path: str, text: str) -> Iterator[Record]:
    """CLINC150: requests to an assistant, 150 classes."""
    pairs = [(message, label) for message, label in json.loads(text)["train"] if len(message) > 12]
    yield from _classed("clinc", pairs, 6000)


def bank_questions(path: str, text: str) -> Iterator[Record]:
    """Banking77: customers' questions to a bank, 77 classes."""
    pairs = [(row["text"].strip(), row["category"]) for row in csv.DictReader(StringIO(text))]
    yield from _classed("banking", [(message, label.rstrip("?")) for message, label in pairs], 6000)


def aspects(path: str, text: str) -> Iterator[Record]:
    """NLU++: guests' and customers' messages; each aspect that is or is not meant is a truth value."""
    rng = random.Random(path)
    rows = json.loads(text)
    known = sorted({intent for row in rows for intent in row.get("intents", ())})
    for row in rows:
        meant = row.get("intents", [])
        others = [each for each in rng.sample(known, 4) if each not in meant]
        fields = [_aspect(each, meant=each in meant) for each in (*meant, *others)]
        for slot, found in row.get("slots", {}).items():
            value = found.get("value")
            words = slot.replace("_", " ")
            fields.append(Stated(slot, found["text"], notes=f"{words}, as written|{words}"))
            if isinstance(value, dict) and "hour" in value:
                clock = f"{value['hour']:02}:{value.get('minute', 0):02}"
                fields.append(Stated(f"{slot}_24h|{slot}_hhmm", clock, notes="24-hour clock, HH:MM"))
            elif isinstance(value, int | float):
                fields.append(Stated(f"{slot}_number|{slot}_count", value, "number", words))
        yield Record("nlu", row["text"], tuple(fields))


def _aspect(intent: str, *, meant: bool) -> Stated:
    words = intent.split("_")
    said = " or ".join(words)
    return Stated(
        f"is_{words[0]}|about_{words[0]}|{intent}|mentions_{words[0]}",
        meant,
        "flag",
        f"is the message about {said}|whether it is about {said}|true if the writer speaks of {said}",
    )


def table_bookings(path: str, text: str) -> Iterator[Record]:
    """Restaurant-8k: requests for a table with the spans of their parts."""
    for row in json.loads(text):
        message = row["userInput"]["text"]
        fields = []
        for label in row.get("labels", ()):
            span = label.get("valueSpan", {})
            value = message[span.get("startIndex", 0) : span.get("endIndex", 0)]
            if value:
                fields.append(_part(label["slot"], value))
        absent = [
            Stated(f"{name}|{name}_of_booking", None, notes=f"{name.replace('_', ' ')}; null if not given")
            for name in ("people", "time", "date", "first_name", "last_name")
            if name not in {each.keys.split("|")[0] for each in fields}
        ]
        if fields:
            yield Record("booking", message, (*fields, *absent))


def assistant_requests(path: str, text: str) -> Iterator[Record]:
    """SNIPS: spoken requests with their entities marked."""
    rows: list[dict[str, Any]] = next(iter(json.loads(text).values()))
    for row in rows:
        parts = row["data"]
        message = "".join(part["text"] for part in parts).strip()
        found: dict[str, list[str]] = {}
        for part in parts:
            if "entity" in part:
                found.setdefault(part["entity"], []).append(part["text"].strip())
        fields = [_part(name, values[0]) for name, values in found.items() if len(values) == 1]
        if len(fields) > 1:
            yield Record("snips", message, tuple(fields))


def _part(name: str, value: str) -> Stated:
    words = name.replace("_", " ")
    counted = _COUNTS.get(value.lower(), int(value) if value.isdigit() else None)
    if counted is not None and ("number" in name or name == "people"):
        return Stated(name, counted, "number", f"{words}|how many")
    return Stated(name, value, notes=f"{words}|{words}, as written|")
