"""Draw other values for a written document: names from like fields of other documents, and digits of numbers.

The words around the values stay, so what a model learns from a document that it sees often is how the text says
something, not what it says (mention replacement, Dai and Adel 2020, "An Analysis of Simple Data Augmentation for Named
Entity Recognition").
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from ..real.records import Record, Table

_TEXTS, _NUMBERS = 0.35, 0.5  # the share of values that change
_NUMBER = re.compile(r"(?<![\w.,:/'-])\d(?:[\d.,'\u00a0\u202f]*\d)?(?![\w:/-])")
_FEWEST_DIGITS = 3  # shorter numbers may stand for something else, and count things that the text lists
_YEARS = range(1900, 2101)


class Variations:
    """Draws variations of records; knows the values of all records by the first name of their field."""

    def __init__(self, records: Iterable[Record]) -> None:
        values: defaultdict[str, set[str]] = defaultdict(set)
        for record in records:
            for keys, value in _texts(record):
                if value in record.text and "\n" not in value:
                    values[keys.split("|")[0]].add(value)
        self._values = {key: tuple(sorted(found)) for key, found in values.items()}

    def draw(self, record: Record, rng: random.Random) -> Record:
        """`record` with some of its values replaced, in the text and in the answers alike."""
        texts = self._new_texts(record, rng)
        spellings, numbers = _new_numbers(record, texts, rng)
        changes = {**texts, **spellings}
        if not changes:
            return record
        found = "|".join(re.escape(old) for old in sorted(changes, key=len, reverse=True))
        text = re.sub(rf"(?<!\w)(?:{found})(?!\w)", lambda match: changes[match[0]], record.text)

        def changed(value: Any) -> Any:
            if isinstance(value, list):
                return [changed(part) for part in value]
            if isinstance(value, str):
                return texts.get(value, value)
            return value if value is None or isinstance(value, bool) else numbers.get(value, value)

        return _mapped(replace(record, text=text), changed)

    def _new_texts(self, record: Record, rng: random.Random) -> dict[str, str]:
        """New values for copied texts that no other answer shares letters with."""
        stated = [value for _, value in _texts(record)]
        others = " \n ".join(str(value) for value in _values(record))
        found = dict[str, str]()
        for keys, value in _texts(record):
            choices = self._values.get(keys.split("|")[0], ())
            if len(choices) < 2 or rng.random() > _TEXTS or others.count(value) > stated.count(value):
                continue
            new = rng.choice(choices)
            whole = len(re.findall(rf"(?<!\w){re.escape(value)}(?!\w)", record.text))
            if whole and whole == record.text.count(value) and new not in record.text and new not in found.values():
                found[value] = new
        # Of two texts of which one is within the other, both would change.
        return {
            old: new
            for old, new in found.items()
            if not any(old != each and (old in each or each in old) for each in stated)
        }


def _new_numbers(
    record: Record, texts: dict[str, str], rng: random.Random
) -> tuple[dict[str, str], dict[int | float, int | float]]:
    """(spellings in the text, values) of numbers that the text spells once, each with others of as many digits."""
    written = _NUMBER.findall(record.text)
    copied = " \n ".join(value for _, value in _texts(record))
    spellings, numbers = dict[str, str](), dict[int | float, int | float]()
    for value in _values(record):
        if isinstance(value, bool) or not isinstance(value, int | float) or rng.random() > _NUMBERS:
            continue
        spelt = [each for each in written if _scale(each, value)]
        if len(spelt) != 1 or spelt[0] in copied or value in numbers or record.text.count(spelt[0]) != 1:
            continue
        digits = [rng.choice("123456789")]
        new = "".join(
            (digits.pop() if digits else rng.choice("0123456789")) if each.isdigit() else each for each in spelt[0]
        )
        amount = int("".join(filter(str.isdigit, new))) / _scale(spelt[0], value)
        spellings[spelt[0]] = new
        numbers[value] = round(amount, 6) if isinstance(value, float) else round(amount)
    return spellings, numbers


def _scale(spelt: str, value: int | float) -> int:
    """The power of ten between the digits of a spelling and the value it stands for; 0 if it stands for another."""
    digits = "".join(filter(str.isdigit, spelt))
    if len(digits) < _FEWEST_DIGITS or digits[0] == "0" or (isinstance(value, int) and value in _YEARS):
        return 0
    scales = (1,) if isinstance(value, int) and spelt == digits else (1, 10, 100, 1000)
    return next((scale for scale in scales if abs(int(digits) / scale - value) < 1e-9), 0)


def _texts(record: Record) -> Iterator[tuple[str, str]]:
    """(names, value) of copied texts: fields and cells."""
    for stated in record.fields:
        if stated.sort == "text" and isinstance(stated.value, str):
            yield stated.keys, stated.value
    for table in record.tables:
        for row in table.rows:
            for (keys, sort), value in zip(table.columns, row, strict=True):
                if sort == "text" and isinstance(value, str):
                    yield keys, value


def _values(record: Record) -> Iterator[Any]:
    """All answers, those of lists and tables one by one; classes are none of the text."""
    for stated in record.fields:
        if stated.sort != "enum":
            yield from stated.value if isinstance(stated.value, list) else (stated.value,)
    for table in record.tables:
        for row in table.rows:
            yield from (value for value, (_, sort) in zip(row, table.columns, strict=True) if sort != "enum")


def _mapped(record: Record, change: Callable[[Any], Any]) -> Record:
    """`record` with all its answers changed, but for classes."""
    fields = tuple(
        stated if stated.sort in ("enum", "flag") else replace(stated, value=change(stated.value))
        for stated in record.fields
    )
    return replace(record, fields=fields, tables=tuple(_changed_table(table, change) for table in record.tables))


def _changed_table(table: Table, change: Callable[[Any], Any]) -> Table:
    kept = [sort in ("enum", "flag") for _, sort in table.columns]
    rows = (
        tuple(value if keep else change(value) for value, keep in zip(row, kept, strict=True)) for row in table.rows
    )
    return replace(table, rows=tuple(rows))
