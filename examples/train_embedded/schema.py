"""The question asked of a document: a schema over some of its facts, and the answer that is right."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from .draft import Content, Fact, Rows
from .draw import Draw
from .values import INTEGER, STRING, Form
from .wording import words

Json = Any
_GROUPS = "details|info|data|meta|header|summary|core|particulars|general|record|main|angaben|daten"
_ROOT = "Record|Document|Extraction|Fields|Data|Entry|Form|Summary|Result"
_ABOUT = (
    "What the document says.|Fields to extract|Main facts of the text|Data for our records|Key facts"
    "|Filled in by the clerk|One record a document|Only what is stated|Details of the person who wrote"
)
_CLASSED = 0.1
"""The share of stated strings that are asked for as classes."""
_CLASS_STYLES = (str, str, str.lower, str.lower, str.upper, lambda name: name.lower().replace(" ", "_"))
_IF_MISSING = "null if not stated|null if missing|null if not given|null if unknown|null if there is none"


@dataclass
class Question:
    """A schema under construction, with the answer growing beside it in the same order."""

    draw: Draw
    style: str
    chatty: float
    loose: float  # the share of fields that may be null although the document says them
    properties: dict[str, Json] = field(default_factory=dict)
    required: list[str] = field(default_factory=list)
    gold: dict[str, Json] = field(default_factory=dict)

    def child(self) -> Question:
        return Question(self.draw, self.style, self.chatty, self.loose)

    def add(self, name: str, schema: Json, gold: Json, missing: bool = False) -> None:
        """Append one property unless its name is taken; a missing one may become optional."""
        key = styled(name, self.style)
        if key in self.properties:
            return
        self.properties[key] = schema
        if missing and gold is None and self.draw.chance(0.1):
            return
        if not self.draw.chance(0.04):
            self.required.append(key)
        self.gold[key] = gold

    def schema(self) -> dict[str, Json]:
        return {
            "type": "object",
            "properties": self.properties,
            "required": self.required,
            "additionalProperties": False,
        }


def ask(draw: Draw, content: Content) -> tuple[dict[str, Json], dict[str, Json]]:
    """Choose fields, names, types and order. Returns the schema and the one right answer."""
    style = draw.pick("snake|snake|snake|snake|camel|camel|kebab|pascal|spaced|upper|lower")
    question = Question(draw, style, draw.rng.choice((0.0, 0.3, 0.6, 0.9)), draw.rng.choice((0.1, 0.2, 0.4, 0.7, 1.0)))
    wanted = draw.rng.randint(2, 11)
    pairs: list[tuple[Fact, bool]] = [(fact, True) for fact in (*content.present, *content.implied)]
    missing = [(fact, False) for fact in content.absent]
    draw.rng.shuffle(pairs)
    chosen = pairs[:wanted] + missing[: draw.rng.randint(0, 3)]
    if draw.chance(0.6):
        place = {id(fact): index for index, fact in enumerate(content.draft.facts)}
        chosen.sort(key=lambda pair: place[id(pair[0])])
    else:
        draw.rng.shuffle(chosen)
    rows = [table for table in content.rows if draw.chance(0.75)]
    nested = _nested(draw, chosen)
    inside = {id(fact): group for group in nested for fact, _ in group}
    for fact, present in chosen:
        group = inside.get(id(fact))
        if group is None:
            _ask_fact(question, fact, present)
        elif fact is group[0][0]:
            inner = question.child()
            for each, there in group:
                _ask_fact(inner, each, there, inside=True)
            question.add(draw.pick(fact.group or _GROUPS), inner.schema(), inner.gold)
    _ask_presence(question, content)
    for table in rows:
        _ask_rows(question, table)
    if rows and draw.chance(0.7):
        _shuffle(question)
    schema = question.schema()
    if draw.chance(0.12):
        schema = {"description": draw.pick(_ABOUT), **schema}
    if draw.chance(0.15):
        schema = {"title": draw.pick(_ROOT), **schema}
    return schema, question.gold


def _shuffle(question: Question) -> None:
    """Lists are asked for anywhere, not only at the end; the answer keeps the schema's order."""
    names = list(question.properties)
    question.draw.rng.shuffle(names)
    question.properties = {name: question.properties[name] for name in names}
    question.required = [name for name in names if name in question.required]
    question.gold = {name: question.gold[name] for name in names if name in question.gold}


def _nested(draw: Draw, chosen: list[tuple[Fact, bool]]) -> list[list[tuple[Fact, bool]]]:
    """The fields that go into nested objects, one list an object."""
    names = sorted({fact.group for fact, _ in chosen if fact.group})
    if names and draw.chance(0.5):
        kept = [name for name in names if draw.chance(0.8)]
        return [[pair for pair in chosen if pair[0].group == name] for name in kept]
    if len(chosen) > 4 and draw.chance(0.12):
        start = draw.rng.randrange(len(chosen) - 2)
        part = chosen[start : start + draw.rng.randint(2, 3)]
        plain = [pair for pair in part if not pair[0].group]
        return [plain] if plain else []
    return []


def _ask_presence(question: Question, content: Content) -> None:
    """Now and then: does the document give a certain thing at all?"""
    draw = question.draw
    candidates = [fact for fact in (*content.present, *content.absent) if not fact.must]
    if candidates and draw.chance(0.06):
        fact = draw.rng.choice(candidates)
        name = draw.pick(fact.keys)
        note = draw.pick("whether {} is given|is {} stated|true if {} is mentioned").replace(
            "{}", name.replace("_", " ")
        )
        question.add(f"{draw.pick('has|has|with')}_{name}", _noted({"type": "boolean"}, note), fact in content.present)


def _ask_fact(question: Question, fact: Fact, present: bool, inside: bool = False) -> None:
    draw = question.draw
    form = fact.value.form(draw)
    if present and draw.chance(_CLASSED):
        form = _classed(draw, fact, form)
    note = draw.pick(fact.notes) if fact.notes and draw.chance(question.chatty) else ""
    if form.hint and (not note or form.hint not in note):
        note = f"{note}, {form.hint}" if note else form.hint
    schema, gold = dict(form.schema), form.gold
    if not present:
        is_list = schema.get("type") == "array"
        gold = [] if is_list and "minItems" not in schema else None
        if gold is None:
            schema = nullable(schema)
    elif draw.chance(question.loose) and schema.get("type") != "array":
        schema = nullable(schema)
    if _may_be_null(schema) and draw.chance(question.chatty * 0.3):
        extra = draw.pick(_IF_MISSING)
        note = f"{note}; {extra}" if note else extra
    keys = fact.inner if inside and fact.inner else fact.keys
    question.add(draw.pick(keys) + form.suffix, _noted(schema, note), gold, not present)


def _classed(draw: Draw, fact: Fact, form: Form) -> Form:
    """A short string as one class among others of its sort or among any words; other forms as they are."""
    gold = form.gold
    if form.schema != STRING or form.hint or not isinstance(gold, str) or not 2 < len(gold) <= 28 or "\n" in gold:
        return form
    others = []
    for _ in range(draw.rng.randint(1, 6)):
        other = fact.value.remake(draw).forms[0].gold if fact.value.remake and draw.chance(0.6) else words(draw, 1, 2)
        if isinstance(other, str) and other.lower() != gold.lower():
            others.append(other)
    style = draw.rng.choice(_CLASS_STYLES)
    classes = list(dict.fromkeys(style(each) for each in (gold, *others)))
    draw.rng.shuffle(classes)
    return Form(style(gold), STRING | {"enum": classes})


def _ask_rows(question: Question, table: Rows) -> None:
    draw = question.draw
    kept = [index for index in range(len(table.columns)) if draw.chance(0.8)] or [0]
    note = draw.pick(table.notes) if table.notes and draw.chance(question.chatty) else ""
    order = draw.pick("|in order|in the order of the document|as listed") if draw.chance(0.4) else ""
    note = ", ".join(part for part in (note, order) if part)
    if draw.chance(0.08):
        name = "number_of_" + draw.pick(table.keys)
        question.add(name, _noted(dict(INTEGER), "how many are listed"), len(table.cells))
        return
    if len(kept) == 1 and len(table.columns[kept[0]].keys) and draw.chance(0.7):
        column = table.columns[kept[0]]
        forms = _column_forms(table, kept[0])
        items = _column_schema(forms)
        note = f"{draw.pick(column.keys).replace('_', ' ')} of each" + (f", {note}" if note else "")
        question.add(
            draw.pick(table.keys), _noted({"type": "array", "items": items}, note), [form.gold for form in forms]
        )
        return
    names = {index: styled(draw.pick(table.columns[index].keys), question.style) for index in kept}
    kept = [index for index in kept if list(names.values()).count(names[index]) == 1] or kept[:1]
    if draw.chance(0.25):
        draw.rng.shuffle(kept)
    chosen = {index: _column_forms(table, index) for index in kept}
    properties: dict[str, Json] = {}
    for index in kept:
        column = table.columns[index]
        hint = next((form.hint for form in chosen[index] if form.hint), "")
        text = draw.pick(column.notes) if column.notes and draw.chance(question.chatty) else ""
        schema = _column_schema(chosen[index])
        properties[names[index]] = _noted(schema, ", ".join(part for part in (text, hint) if part))
    item = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    gold = [{names[index]: chosen[index][row].gold for index in kept} for row in range(len(table.cells))]
    question.add(draw.pick(table.keys), _noted({"type": "array", "items": item}, note), gold)


def _column_forms(table: Rows, index: int) -> list[Form]:
    """The first form of every cell: a column is asked for in one way."""
    return [row[index].forms[0] for row in table.cells]


def _column_schema(forms: list[Form]) -> dict[str, Json]:
    """What all cells of a column fit; an enum holds the classes of all of them."""
    filled = [form for form in forms if form.gold is not None]
    schema = dict(filled[0].schema) if filled else dict(STRING)
    if "enum" in schema:
        classes = dict.fromkeys(value for form in filled for value in form.schema["enum"])
        schema["enum"] = list(classes)
    return nullable(schema) if len(filled) < len(forms) else schema


def nullable(schema: dict[str, Json]) -> dict[str, Json]:
    """The schema with null allowed beside what it allowed before."""
    if "enum" in schema:
        return schema | {"type": [schema["type"], "null"], "enum": [*schema["enum"], None]}
    return schema | {"type": [schema["type"], "null"]}


def _may_be_null(schema: dict[str, Json]) -> bool:
    return isinstance(schema.get("type"), list)


def _noted(schema: dict[str, Json], note: str) -> dict[str, Json]:
    return schema | {"description": note} if note else schema


def styled(name: str, style: str) -> str:
    """A snake_case name in the naming habit of a schema."""
    parts = [part for part in name.split("_") if part]
    if style == "camel":
        return parts[0] + "".join(part.capitalize() for part in parts[1:])
    if style == "pascal":
        return "".join(part.capitalize() for part in parts)
    if style == "kebab":
        return "-".join(parts)
    if style == "spaced":
        return " ".join(parts).capitalize()
    if style == "upper":
        return "_".join(parts).upper()
    return "".join(parts) if style == "lower" else "_".join(parts)


def answer_text(gold: Json) -> str:
    """The answer as the model is to write it: compact, keys in the order of the schema."""
    return json.dumps(gold, ensure_ascii=False, separators=(",", ":"))
