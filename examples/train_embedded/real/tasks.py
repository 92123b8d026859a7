"""Training samples out of records: another schema each time a record is drawn.

Does: turn what a record states into the generator's facts and let `schema.ask` choose the question. Does not: change the
document.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Set
from dataclasses import dataclass
from typing import Any

from ..draft import Column, Content, Draft, Fact, Rows
from ..draw import Draw
from ..generate import Sample
from ..moments import clock_forms, moment_forms
from ..schema import ask
from ..values import INTEGER, NUMBER, STRING, Form, Value
from .records import Record, Sort, Stated, Table

_ADDRESSES = {"uri": re.compile(r"[a-z][a-z0-9+.-]*:[!-~]+", re.I), "email": re.compile(r"[!-~]+@[!-~]+")}


def draw_sample(record: Record, rng: random.Random) -> Sample | None:
    """A schema over some of a record's fields with the right answer; None where chance chose no field."""
    draw = Draw(rng, "train")
    facts = tuple((_fact(stated, draw), stated.value is not None) for stated in record.fields)
    tables = tuple(_rows(table, draw) for table in record.tables)
    content = Content(
        Draft(tuple(fact for fact, _ in facts), "", tables),
        tuple(fact for fact, present in facts if present),
        tuple(fact for fact, present in facts if not present),
        (),
        tables,
    )
    schema, answer = ask(draw, content)
    return Sample(record.source, schema, record.text, answer) if answer else None


def _fact(stated: Stated, draw: Draw) -> Fact:
    return Fact(stated.keys, _value(stated.value, stated.sort, stated.options, draw), notes=stated.notes)


def _rows(table: Table, draw: Draw) -> Rows:
    notes = table.column_notes or ("",) * len(table.columns)
    columns = tuple(Column(keys, "", note) for (keys, _), note in zip(table.columns, notes, strict=True))
    makers = [_maker(table, index, draw) for index in range(len(columns))]
    cells = tuple(tuple(make(value) for make, value in zip(makers, row, strict=True)) for row in table.rows)
    return Rows(table.keys, columns, cells, "", "", table.notes)


def _maker(table: Table, index: int, draw: Draw) -> Callable[[Any], Value]:
    """What makes the cells of one column: classes keep one spelling, and numbers are broken where one of them is."""
    sort = table.columns[index][1]
    if sort == "enum":
        given = {row[index] for row in table.rows}
        classes = _Classes.drawn(table.options[index], given, draw)
        return lambda value: Value(str(value), (classes.form(value),))
    if sort == "number" and any(isinstance(row[index], float) for row in table.rows):
        return lambda value: Value(str(value), (Form(value, NUMBER),))
    return lambda value: _value(value, sort, (), draw)


def _value(value: Any, sort: Sort, options: tuple[str, ...], draw: Draw) -> Value:
    forms: dict[Sort, Callable[[], tuple[Form, ...]]] = {
        "text": lambda: (Form(value, STRING),),
        "date": lambda: (Form(value, STRING | {"format": "date"}, weight=0.7), Form(value, STRING, draw.pick("YYYY-MM-DD|ISO date"), weight=0.3)),
        "moment": lambda: moment_forms(draw, value),
        "clock": lambda: clock_forms(draw, value),
        "number": lambda: (Form(value, NUMBER if isinstance(value, float) else draw.rng.choice((INTEGER, NUMBER))),),
        "url": lambda: (_formatted(value, "uri"), Form(value, STRING)),
        "email": lambda: (_formatted(value, "email"), Form(value, STRING)),
        "list": lambda: (Form(value, {"type": "array", "items": STRING}),),
        "enum": lambda: (_Classes.drawn(options, {value}, draw).form(value),),
        "flag": lambda: (Form(value, {"type": "boolean"}),),
    }  # fmt: skip
    return Value(str(value), forms[sort]())


def _formatted(value: Any, name: str) -> Form:
    """A string of a format, where `value` has it: an address as people write it may lack `https:`, or have an umlaut."""
    fits = value is None or _ADDRESSES[name].fullmatch(str(value))
    return Form(value, STRING | {"format": name} if fits else STRING)


@dataclass(frozen=True)
class _Classes:
    """The classes that a schema offers, in one of the spellings that schemas use."""

    names: list[str]
    spelt: Callable[[str], str]

    @classmethod
    def drawn(cls, options: tuple[str, ...], given: Set[str | None], draw: Draw) -> _Classes:
        """Those of `options` that are `given`, and most of the others, in a new order."""
        spelt = draw.rng.choice((str, str, str.lower, str.upper, lambda name: name.lower().replace(" ", "_")))
        kept = [option for option in options if option in given or draw.chance(0.85)]
        draw.rng.shuffle(kept)
        return cls([spelt(option) for option in kept or options], spelt)

    def form(self, value: str | None) -> Form:
        return Form(None if value is None else self.spelt(value), STRING | {"enum": self.names})
