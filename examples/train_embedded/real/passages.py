"""Questions about a passage of prose that its own words answer: persons and their acts, counts, speakers, places.

Does: find phrases of a few shapes in a passage and make each a field whose name holds the words around the value. Does
not: understand the passage; a shape that occurs twice with the same words is left out.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from .records import Record, Stated

_NAME = r"[A-Z][a-z]{2,}(?: [A-Z][a-z]{2,}){0,2}"
_NUMBERS = "two three four five six seven eight nine ten eleven twelve".split()
_STARTS = frozenset(
    "The This That These Those There When Where While What Which Then They And But For His Her Its Our Your She You With From After Before Here How Why Not All Some Any One Each Every Now Yet Such Both Most Many Much Even Just Only Once Thus".split()
)
_WHO = re.compile(rf"\b({_NAME}) ([a-z]{{3,}}ed)\b")
_WHERE = re.compile(rf"\b([a-z]{{3,}}(?:ed|ing|ent|ame)) (to|from|in|at|into|near) ({_NAME})\b")
_COUNT = re.compile(rf"\b(\d{{1,5}}|{'|'.join(_NUMBERS)}) ([a-z]{{3,}}s)\b")
_SAID = re.compile(rf"[“\"]([^”\"\n]{{12,110}}?)[,.?!]?[”\"],? (?:said|replied|asked|cried|answered|says) ({_NAME})\b")
_SAID_BEFORE = re.compile(
    rf"\b({_NAME}) (?:said|replied|asked|cried|answered|says),? [“\"]([^”\"\n]{{12,110}}?)[,.?!]?[”\"]"
)
_OF = re.compile(rf"\bthe ([a-z]{{4,}}) of ({_NAME})\b")
_YEAR = re.compile(r"\b(?:in|since|of|by) (1[6-9]\d\d|20[0-3]\d)\b")
_SUM = re.compile(r"(?:[$£€]) ?(\d{1,3}(?:,\d{3})+|\d+(?:\.\d\d)?)\b")
_ENGLISH = re.compile(r"\b(?:the|and|was|with|that|this|are)\b")


_TRIES = 8


def passage(rng: random.Random, pieces: list[str]) -> Record | None:
    """A passage of prose with what its phrases say; None where a few passages have too little to ask."""
    return next((found for _ in range(_TRIES) if (found := _passage(rng, pieces)) is not None), None)


def _passage(rng: random.Random, pieces: list[str]) -> Record | None:
    paragraphs = [part for part in rng.choice(pieces).split("\n\n") if 60 < len(part) < 1500]
    if not paragraphs:
        return None
    start = rng.randrange(len(paragraphs))
    text = "\n\n".join(paragraphs[start : start + rng.choice((1, 1, 2, 3, 4))])
    if len(_ENGLISH.findall(text)) < 4:
        return None
    found: dict[str, list[Stated]] = {}
    for words, stated in _phrases(text, rng):
        found.setdefault(words, []).append(stated)
    fields = [group[0] for group in found.values() if len(group) == 1]
    if len(fields) < 2:
        return None
    rng.shuffle(fields)
    return Record("passage", text, tuple(fields[:7]))


def _phrases(text: str, rng: random.Random) -> Iterator[tuple[str, Stated]]:
    """Each phrase that answers a question: the words that make it unique, and the field."""
    for name, verb in _WHO.findall(text):
        if name.split()[0] not in _STARTS:
            yield (
                f"{verb} by",
                Stated(f"who_{verb}|{verb}_by|person_that_{verb}", name, notes=f"who {verb}|the one that {verb}"),
            )
    for verb, word, name in _WHERE.findall(text):
        yield (
            f"{verb} {word}",
            Stated(
                f"{verb}_{word}|place_{verb}_{word}", name, notes=f"what follows '{verb} {word}'|where {verb} {word}"
            ),
        )
    for number, things in _COUNT.findall(text):
        value = int(number) if number.isdigit() else _NUMBERS.index(number) + 2
        if not 1500 < value < 2100:
            yield (
                f"count {things}",
                Stated(
                    f"{things}|number_of_{things}|{things}_count|how_many_{things}",
                    value,
                    "number",
                    f"how many {things}|number of {things}",
                ),
            )
    for said, name in _SAID.findall(text):
        yield from _speech(name, said)
    for name, said in _SAID_BEFORE.findall(text):
        yield from _speech(name, said)
    for thing, name in _OF.findall(text):
        yield (
            f"{thing} of",
            Stated(f"{thing}_of|of_which_{thing}", name, notes=f"of what or whom the {thing} is|whose {thing}"),
        )
    yield from _figures(text, rng)


def _figures(text: str, rng: random.Random) -> Iterator[tuple[str, Stated]]:
    """Years, sums, and now and then a thing that is not there."""
    for year in _YEAR.findall(text):
        yield "year", Stated("year|in_year", int(year), "number", "the year that is named")
    for amount in _SUM.findall(text):
        plain = amount.replace(",", "")
        yield "sum", Stated("amount|sum|money", float(plain) if "." in plain else int(plain), "number", "sum of money")
    if rng.random() < 0.5:
        thing = rng.choice(
            ("wives", "ships", "horses", "invoices", "tickets", "windows", "servers", "bridges", "doctors")
        )
        if thing not in text.lower():
            yield (
                f"count {thing}",
                Stated(f"{thing}|number_of_{thing}", None, "number", f"how many {thing}; null if not stated"),
            )


def _speech(name: str, said: str) -> Iterator[tuple[str, Stated]]:
    yield "speaker", Stated("speaker|said_by|quoted_person|who_speaks", name, notes="who says the quoted words")
    yield "speech", Stated("quote|said|words_spoken|statement", said, notes="the quoted words, as written|what is said")
