"""How the text layer of a PDF gives a page: boxes in odd orders, heads of pages amid tables, letters read wrongly."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from ..draw import Draw

Kind = Literal["name", "number", "date", "period", "other"]


@dataclass(frozen=True)
class Box:
    """A label and its value; values of one `kind` look alike, so that only their order tells them apart."""

    label: str
    value: str
    kind: Kind = "other"


def laid(draw: Draw, boxes: Sequence[Box]) -> list[str]:
    """The lines of a group of boxes in one of the orders in which text is extracted."""
    rng = draw.rng
    shape = rng.choice((0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9))
    labels, values = [box.label for box in boxes if box.label], [box.value for box in boxes]
    if shape == 0:
        glue = rng.choice((": ", ": ", " ", ":  ", "   ", ":\t", ":"))
        return [f"{box.label}{glue}{box.value}" if box.label else box.value for box in boxes]
    if shape == 1:
        end = rng.choice(("", "", ":"))
        return [line for box in boxes for line in (box.label and box.label + end, box.value) if line]
    if shape == 2:
        return _columns(draw, boxes)
    if shape == 3:
        end = rng.choice(("", ":"))
        return [*(label + end for label in labels), *values]
    if shape == 4:
        return [*labels, *_moved(draw, boxes)]
    if shape == 5:
        return [*values, *labels]
    if shape == 6:
        return [f"{box.value} {box.label}".rstrip() for box in boxes]
    if shape == 7:
        return [line for part in _chunks(draw, boxes) for line in (*(b.label for b in part), *(b.value for b in part)) if line]  # fmt: skip
    glue = rng.choice(("  ", "   ", "\t", " "))
    if shape == 8:
        parts = _chunks(draw, boxes)
        return [line for part in parts for line in (glue.join(b.label for b in part if b.label), glue.join(b.value for b in part)) if line]  # fmt: skip
    return [glue.join(f"{box.label}: {box.value}" if box.label else box.value for box in part) for part in _chunks(draw, boxes)]  # fmt: skip


def _chunks(draw: Draw, boxes: Sequence[Box]) -> list[Sequence[Box]]:
    size = draw.rng.choice((2, 2, 3, 4))
    return [boxes[start : start + size] for start in range(0, len(boxes), size)]


def _columns(draw: Draw, boxes: Sequence[Box]) -> list[str]:
    """Two columns read across: a line has parts of both."""
    half = (len(boxes) + 1) // 2
    left, right = boxes[:half], boxes[half:]
    glue = draw.rng.choice((" ", "  ", "    ", "\t"))
    if draw.chance(0.5):
        rows = [f"{box.label} {box.value}".strip() for box in left]
        others = [f"{box.label} {box.value}".strip() for box in right]
        return [glue.join(row) for row in zip(rows, others, strict=False)] + rows[len(others) :]
    lines = []
    for index, box in enumerate(left):
        pair = (box, *right[index : index + 1])
        lines += [glue.join(each.label for each in pair).strip(), glue.join(each.value for each in pair)]
    return [line for line in lines if line]


def _moved(draw: Draw, boxes: Sequence[Box]) -> list[str]:
    """The values in another order than their labels; those that look alike keep theirs."""
    kinds = [box.kind for box in boxes]
    draw.rng.shuffle(kinds)
    waiting = {kind: iter([box.value for box in boxes if box.kind == kind]) for kind in kinds}
    return [next(waiting[kind]) for kind in kinds]


def unlabelled(draw: Draw, boxes: Iterable[Box], share: float) -> list[Box]:
    """The boxes, some without a label: periods and other values that are known by their look."""
    known = ("period", "other")
    return [Box("", box.value, box.kind) if box.kind in known and draw.chance(share) else box for box in boxes]


def paged(draw: Draw, lines: list[str], head: list[str], least: int = 14) -> list[str]:
    """The lines of a long table with the head of the page and its number repeated amid them."""
    size = draw.rng.randint(least, 3 * least)
    if len(lines) <= size:
        return lines
    pages = (len(lines) + size - 1) // size
    form = draw.pick("Page {n} of {m}|Page: {n} of {m}|page {n}/{m}|{n} / {m}|Page {n}|- {n} -")
    above = draw.chance(0.6)
    found = []
    for page in range(pages):
        number = form.replace("{n}", str(page + 1)).replace("{m}", str(pages))
        if page:
            found += [number, *head] if above else head
        found += lines[page * size : (page + 1) * size]
        if not above and page < pages - 1:
            found.append(number)
    return found


_WORD = re.compile(r"[A-Za-z]{5,}")
_MONTHS = frozenset("jan feb mar apr may jun jul aug sep oct nov dec".split())
_MISREAD = (("l", "1"), ("i", "l"), ("o", "0"), ("m", "rn"), ("e", "c"), ("I", "l"), ("S", "5"), ("O", "0"), ("B", "8"), ("a", "o"), ("u", "ii"), ("t", "f"))  # fmt: skip


def misread(draw: Draw, lines: list[str], kept: Iterable[str]) -> list[str]:
    """The lines as a scanner reads them: wrong letters in some words, stray marks; lines with a value of `kept` are right."""
    values, rng = [value for value in kept if len(value) > 1], draw.rng
    share, marks = rng.uniform(0.03, 0.2), rng.uniform(0, 0.05)

    def wrong(found: re.Match[str]) -> str:
        word = found.group()
        if rng.random() > share or word[:3].lower() in _MONTHS:
            return word
        right, read = rng.choice(_MISREAD)
        return word.replace(right, read, 1)

    found = []
    for line in lines:
        whole = any(value in line for value in values)
        found.append(line if whole else _WORD.sub(wrong, line))
        if rng.random() < marks:
            found.append(rng.choice((".", "|", "—", "'", "_", ": .", "~", "i", "- -")))
    return found
