"""Conferences from a community list (MIT) as announcements."""

from __future__ import annotations

import datetime
import json
import random
from collections.abc import Iterator

from . import dates
from .records import Record, Stated

_ANNOUNCED = (
    "{name} takes place from {start} to {end} in {place}. More at {url}",
    "{name}\n{start} - {end}\n{place}\n{url}",
    "Save the date: {name}, {place}, {start} until {end} ({url})",
    "We are happy to announce {name}!\nWhen: {start} to {end}\nWhere: {place}\nWebsite: {url}",
    "Name: {name}\nLocation: {place}\nFrom: {start}\nTo: {end}\nLink: {url}",
    "Dear all,\nthis year's {name} will be held in {place}, starting {start} and ending {end}. See {url}.\nBest",
)
_ONE_DAY = (
    "{name} takes place on {start} in {place}. More at {url}",
    "{name}\n{start}\n{place}\n{url}",
    "{place}, {start}: {name}. Register on {url}",
    "Name: {name}\nLocation: {place}\nDate: {start}\nLink: {url}",
)


def conferences(path: str, text: str) -> Iterator[Record]:
    """A record a conference with a city."""
    for entry in json.loads(text):
        if not {"name", "url", "startDate", "city", "country"} <= entry.keys():
            continue
        rng = random.Random(path + entry["name"])
        start = datetime.date.fromisoformat(entry["startDate"])
        end = datetime.date.fromisoformat(entry.get("endDate") or entry["startDate"])
        place = rng.choice((f"{entry['city']}, {entry['country']}", f"{entry['city']} ({entry['country']})"))
        template = rng.choice(_ONE_DAY if start == end else _ANNOUNCED)
        document = template.format(
            name=entry["name"],
            place=place,
            url=entry["url"],
            start=dates.printed(start, rng),
            end=dates.printed(end, rng),
        )
        online = entry.get("online")
        if isinstance(online, bool):
            document += rng.choice(("\n", " ")) + rng.choice(
                (
                    "You can also join online.",
                    "Talks are streamed.",
                    "Hybrid event.",
                    "Remote participation is possible.",
                )
                if online
                else ("In person only.", "There is no stream.", "On site only, no remote participation.")
            )
        deadline = entry.get("cfpEndDate")
        if deadline and rng.random() < 0.7:
            shown = dates.printed(datetime.date.fromisoformat(deadline), rng)
            document += rng.choice(
                ("\nCall for papers closes {}.", " Submit talks until {}.", "\nCFP deadline: {}")
            ).format(shown)
        else:
            deadline = None
        fields = (
            Stated("name|event|conference|title", entry["name"]),
            Stated("start_date|starts|from|first_day|date", start.isoformat(), "date"),
            Stated("end_date|ends|until|last_day", end.isoformat() if end != start else None, "date", "null for one day"),
            Stated("city|town|place", entry["city"]),
            Stated("country|nation", entry["country"]),
            Stated("url|website|link|homepage", entry["url"], "url"),
            Stated("online|hybrid|remote_possible|streamed", online if isinstance(online, bool) else None, "flag", "can one take part from afar"),
            Stated("cfp_deadline|submission_deadline|talks_until", deadline, "date", "last day for talks"),
            Stated("price|ticket_price|fee", None, "number"),
            Stated("organizer|contact|email", None),
        )  # fmt: skip
        yield Record("conferences", document, fields)
