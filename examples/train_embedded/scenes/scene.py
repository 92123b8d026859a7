"""A scene: a document as a person would write it, with holes, and what can be asked of it.

Does: draw a document from a scene's template, and the facts that it states. Does not: choose the question (`schema`).
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

from ..draft import Column, Content, Draft, Fact, Rows
from ..draw import Draw, Language
from ..values import STRING, Form, Value, currency, currency_value, iso_day, object_of, text
from .supplies import supply
from .template import Choice, Lines, Sequence, Slot, parse, slots

Json = object


@dataclass(frozen=True)
class Ask:
    """One field: property names, where its answer comes from, descriptions (each `|`-separated).

    The source is the name of a slot, `a+b+c` for a list of what is stated of these slots, `name?` for a boolean, or
    `name=one,two/second,three` for an enum, whose classes may have several spellings, `name/given` or `name/family` for
    a part of a person's name, `$` for the currency.
    """

    keys: str
    source: str
    notes: str = ""


@dataclass(frozen=True)
class Scene:
    """`asks` has a line a field, `keys; source; notes`. Columns of rows are `table.source`, and the table's own
    names and notes follow `table*`. A line that begins with `{` makes an object of the fields up to `}`: the line
    has its names."""

    kind: str
    text: str
    asks: str
    language: Language = "en"
    weight: float = 1.0

    @cached_property
    def tree(self) -> Sequence:
        return parse(self.text.strip("\n"))

    @cached_property
    def sorts(self) -> dict[str, str]:
        """The sort of each named slot."""
        return {name: sort for name, sort in slots(self.tree) if sort}

    @cached_property
    def fields(self) -> tuple[tuple[Ask, str], ...]:
        """Each field with the names of the object that it belongs to."""
        found: list[tuple[Ask, str]] = []
        group = ""
        for line in self.asks.strip().split("\n"):
            if line.startswith("{"):
                group = line[1:].strip()
            elif line.startswith("}"):
                group = ""
            else:
                keys, source, *notes = (part.strip() for part in line.split(";"))
                found.append((Ask(keys, source, notes[0] if notes else ""), group))
        return tuple(found)


@dataclass
class Drawing:
    """A document that grows: its text, the values of its slots, what it states, and the cells of its rows."""

    draw: Draw
    day: datetime.date
    unit: str
    sorts: dict[str, str]
    dated: bool = False
    paid: bool = False  # whether an amount with its currency is written
    values: dict[str, Value] = field(default_factory=dict)
    told: set[str] = field(default_factory=set)  # slots that are written whole
    states: dict[str, str] = field(default_factory=dict)
    rows: dict[str, list[Drawing]] = field(default_factory=dict)
    parent: Drawing | None = None
    marks: dict[int, int] = field(default_factory=dict)  # what its rows have chosen between cells

    def write(self, sequence: Sequence) -> str:
        return "".join(self._parts(sequence))

    def _parts(self, sequence: Sequence) -> Iterator[str]:
        for node in sequence.nodes:
            if isinstance(node, str):
                yield node
            elif isinstance(node, Slot):
                yield self._slot(node)
            elif isinstance(node, Choice):
                yield self._choice(node)
            else:
                yield self._lines(node)

    def has(self, written: str) -> bool:
        """Whether this document, or an earlier row of it, has a value, so that lists do not repeat themselves."""
        around = self.parent or self
        drawings = [self, around, *(row for rows in around.rows.values() for row in rows)]
        return any(written == value.written for each in drawings for value in each.values.values())

    def _slot(self, slot: Slot) -> str:
        value = self.known(slot.name)
        if value is None:
            value = supply(self, slot.sort or self.sorts.get(slot.name, "name"))
            if slot.name:
                self.values[slot.name] = value
        if slot.part:
            parts = next(form.gold for form in value.forms if isinstance(form.gold, dict))
            return str(list(parts.values())[0 if slot.part == "given" else -1])
        self.told.add(slot.name)
        return value.written

    def known(self, name: str) -> Value | None:
        """A value that this document, or the one around a row, already has."""
        found = self.values.get(name)
        return found if found is not None or self.parent is None or not name else self.parent.known(name)

    def _choice(self, choice: Choice) -> str:
        rng = self.draw.rng
        held = choice.held and self.draw.split == "heldout" and rng.random() < 0.5
        indices = choice.held if held else choice.seen
        possible = [index for index in indices if self._has_one(choice.needs[index])]
        if not possible:
            return ""
        chosen = rng.choice(possible)
        if choice.is_mark and self.parent is not None:
            chosen = self.parent.marks.setdefault(id(choice), chosen)
        states, sequence = choice.options[chosen]
        self.states.update(states)
        return self.write(sequence)

    def _has_one(self, facts: tuple[tuple[str, str], ...]) -> bool:
        """Whether one of the facts is stated so far, here or around the row; true for none."""
        states = self.states if self.parent is None else self.parent.states | self.states
        return not facts or any(states.get(name) == value for name, value in facts)

    def _lines(self, lines: Lines) -> str:
        rng = self.draw.rng
        drawn: list[str] = []
        table = self.rows.setdefault(lines.name, [])
        for _ in range(rng.randint(lines.least, lines.most)):
            row = Drawing(self.draw, self.day, self.unit, self.sorts, self.dated, parent=self)
            drawn.append(row.write(lines.line))
            table.append(row)
            self.paid = self.paid or row.paid
        return lines.glue.join(drawn)


def compose(draw: Draw, scene: Scene) -> tuple[Content, str]:
    """A document of a scene and what it says."""
    drawing = Drawing(draw, iso_day(draw), currency(draw), scene.sorts)
    written = _tidy(drawing.write(scene.tree))
    present: list[Fact] = []
    absent: list[Fact] = []
    tables: dict[str, tuple[Ask, list[Ask]]] = {}
    for ask, group in scene.fields:
        table, _, source = ask.source.partition(".")
        if source:
            tables[table][1].append(Ask(ask.keys, source, ask.notes))
        elif ask.source.endswith("*"):
            tables[ask.source[:-1]] = (ask, [])
        else:
            if ask.source in drawing.values.keys() - drawing.told:
                continue  # only a part is written
            value, stated = _answer(drawing, ask.source)
            if not stated and _is_within(drawing, ask.source):
                continue
            fact = Fact(ask.keys, value, notes=ask.notes, group=group)
            (present if stated else absent).append(fact)
    rows = tuple(_table(drawing, name, *asks) for name, asks in tables.items() if drawing.rows.get(name))
    rows = tuple(table for table in rows if table.columns)
    order = tuple(present + absent)
    return Content(Draft(order, "", rows), tuple(present), tuple(absent), (), rows), written


def _is_within(drawing: Drawing, source: str) -> bool:
    """Whether a part of an address stands in another slot, where null would be a wrong answer."""
    sorts = {name: sort.partition(" ")[0] for name, sort in drawing.sorts.items()}
    written = {sorts.get(name) for name in drawing.told}
    if sorts.get(source) in ("street", "city") or source == "zip":
        return "address" in written
    return sorts.get(source) == "address" and "street" in written


def _tidy(written: str) -> str:
    """Without the blanks and empty lines that parts leave where they are left out."""
    return re.sub(r"\n{3,}", "\n\n", re.sub(r"\n (?=\S)", "\n", re.sub(r" +\n", "\n", written)))


def _table(drawing: Drawing, name: str, own: Ask, columns: list[Ask]) -> Rows:
    spelt = {ask.source: _spelling(drawing.draw, ask.source) for ask in columns if "=" in ask.source}
    found = [[_answer(row, ask.source, spelt.get(ask.source)) for ask in columns] for row in drawing.rows[name]]
    kept = [index for index in range(len(columns)) if any(row[index][1] for row in found)]
    headed = tuple(Column(columns[index].keys, "", columns[index].notes) for index in kept)
    cells = tuple(tuple(row[index][0] for index in kept) for row in found)
    return Rows(own.keys, headed, cells, "", "", own.notes)


_STYLES = (str, str, str, str.upper, lambda name: name.replace("_", "-"), lambda name: name.replace("_", " "))


def _spelling(draw: Draw, source: str) -> dict[str, str]:
    """The classes of an enum by their first name, in one of their spellings and one style."""
    _, _, classes = source.partition("=")
    style = draw.rng.choice(_STYLES)
    return {(names := each.split("/"))[0]: style(draw.rng.choice(names)) for each in classes.split(",")}


def _answer(drawing: Drawing, source: str, spelt: dict[str, str] | None = None) -> tuple[Value, bool]:
    """The value of a source, and whether the document states it."""
    draw = drawing.draw
    name, _, classes = source.partition("=")
    if classes:
        spelt = spelt or _spelling(draw, source)
        stated = drawing.states.get(name)
        kept = [spelling for each, spelling in spelt.items() if each == stated or draw.chance(0.93)]
        draw.rng.shuffle(kept)
        kept = list(dict.fromkeys(kept)) or list(spelt.values())
        gold = spelt[stated] if stated is not None else None
        return Value("", (Form(gold, STRING | {"enum": kept}),)), stated is not None
    if source.endswith("?"):
        truth = drawing.states.get(source[:-1])
        return Value("", (Form(None if truth is None else truth == "yes", {"type": "boolean"}),)), truth is not None
    if source == "$":
        return currency_value(draw, drawing.unit), drawing.paid
    if "+" in source:
        found = [value for part in source.split("+") if (value := drawing.values.get(part))]
        items = [value.forms[0].gold for value in found]
        return Value("", (Form(items, {"type": "array", "items": STRING}),)), bool(items)
    if "&" in source:
        pairs = {part: drawing.values.get(part) for part in source.split("&")}
        there = {part: value.forms[0] for part, value in pairs.items() if value is not None}
        golds = {part: form.gold for part, form in there.items()}
        schema = object_of({part: form.schema for part, form in there.items()})
        return Value("", (Form(golds, schema),)), len(there) == len(pairs)
    source, _, part = source.partition("/")
    value = drawing.values.get(source)
    if value is not None and part:
        named = next(form.gold for form in value.forms if isinstance(form.gold, dict))
        return text(str(list(named.values())[0 if part == "given" else -1])), True
    if value is not None:
        return value, True
    paid = drawing.paid
    other = supply(drawing, drawing.sorts[source])  # only its forms count: the document does not say
    drawing.paid = paid
    return Value("", tuple(replace(form, gold=None) for form in other.forms)), False
