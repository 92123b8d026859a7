"""A document before it is laid out: facts, tables of rows, and words that are there to mislead."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from .draw import Draw, Language, Pool
from .values import Value, money

Words = tuple[str, str, str]


@dataclass(frozen=True)
class Fact:
    """One thing a document may say. All word lists are `|`-separated alternatives.

    `keys` are property names in snake_case, `labels` stand before a value, `says` are sentences with `{}`
    for the value, `notes` are descriptions. A fact is written bare (no label) with chance `bare` where the
    layout has a heading; `must` facts are never left out; facts of one `group` may share a nested object.
    `inner` are the names a fact has inside its group, where the group's name need not be said again.
    An `implied` fact is never written itself: it may be asked for where another fact carries it (an address
    in `Name <address>`), or, where it has no `remake`, beside amounts (a currency).
    """

    keys: str
    value: Value
    labels: str = ""
    says: str = ""
    notes: str = ""
    bare: float = 0.0
    must: bool = False
    group: str = ""
    implied: bool = False
    inner: str = ""


@dataclass(frozen=True)
class Column:
    keys: str
    label: str
    notes: str = ""


@dataclass(frozen=True)
class Rows:
    """A list of like things; `lines` are templates of one row with `{0}`, `{1}`, … for its cells."""

    keys: str
    columns: tuple[Column, ...]
    cells: tuple[tuple[Value, ...], ...]
    lines: str | Pool
    headings: str
    notes: str = ""


@dataclass(frozen=True)
class Draft:
    """What a kind hands to layout and schema. `noise` are sentences with slots for made-up values;
    `layouts` names the lay-outs it is limited to."""

    facts: tuple[Fact, ...]
    titles: str
    rows: tuple[Rows, ...] = ()
    noise: str = ""
    openers: str = ""
    closers: str = ""
    layouts: str = ""


@dataclass(frozen=True)
class Kind:
    """A sort of document: its name, the languages it can be written in, and its maker."""

    name: str
    make: Callable[[Draw], Draft]
    languages: tuple[Language, ...] = ("en",)
    weight: float = 1.0


@dataclass(frozen=True)
class Content:
    """A draft after chance decided what the document says and what it leaves out."""

    draft: Draft
    present: tuple[Fact, ...]
    absent: tuple[Fact, ...]
    implied: tuple[Fact, ...]
    rows: tuple[Rows, ...] = field(default=())


def decide(draw: Draw, draft: Draft) -> Content:
    """Leave out a few facts; a document of a few facts keeps at least two."""
    share = draw.rng.choice((0.0, 0.12, 0.25))
    stated = [fact for fact in draft.facts if not fact.implied or (not fact.value.remake and draw.chance(0.3))]
    present = [fact for fact in stated if fact.must or not draw.chance(share)]
    if len(present) < 2:
        present = stated
    absent = tuple(fact for fact in stated if fact not in present and not fact.implied)
    amounts = any(fact.value.remake is money for fact in present)
    implied = []
    for fact in draft.facts:
        if fact.implied and fact not in present:
            carried = any(fact.value.written in other.value.written for other in present)
            if carried if fact.value.remake else amounts:
                implied.append(fact)
    return Content(draft, tuple(present), absent, tuple(implied), draft.rows)


def speak(draw: Draw, **languages: Words) -> Words:
    """The keys, labels and sentences of a fact in the document's language, else in English."""
    return languages.get(draw.lang, languages["en"])
