"""The little language that scenes are written in, parsed into a tree.

`{name:sort}` is a value of a sort (see `supplies`); a second `{name}` repeats it, and `{name.given}` is a part of it.
`{:sort}` is a value that no answer holds; without a sort anywhere it is a person's name. `[a|b|c]` is one of the alternatives, an empty one among them leaves a part out.
An alternative may state facts before a colon: `[#remote=no:on site|#remote=full:from home]`; one with `?` is there only
where one of the named facts is stated: `[?remote=no:Parking is free.|]`. `<items 1-4:line>` are one to
four rows, each on a line of its own; `<items 1-4, :part>` stand in one line with `, ` between them. Rows have the values
and the statements of their line as cells. A mark is meant literally behind a backslash.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property

from ..draw import is_held_out


@dataclass(frozen=True)
class Slot:
    """A value: its name, empty for one that is only there to mislead, its sort, and the part that is written."""

    name: str
    sort: str
    part: str = ""


@dataclass(frozen=True)
class Choice:
    """Alternatives with what each states; `held` are the indices of those that training never sees. An alternative that
    alone has some value is not among them. `needs` are the facts of which each demands one, if any."""

    options: tuple[tuple[tuple[tuple[str, str], ...], Sequence], ...]
    seen: tuple[int, ...]
    held: tuple[int, ...]
    needs: tuple[tuple[tuple[str, str], ...], ...]

    @cached_property
    def is_mark(self) -> bool:
        """Whether all that is chosen is a bullet or a separator, which the rows of a table share."""
        parts = [part for states, sequence in self.options for part in (*sequence.nodes, *states)]
        return all(isinstance(part, str) and len(part) < 5 for part in parts)


@dataclass(frozen=True)
class Lines:
    """Rows: the table's name, how many there are, what stands between two, and the template of one."""

    name: str
    least: int
    most: int
    glue: str
    line: Sequence


Node = str | Slot | Choice | Lines


@dataclass(frozen=True)
class Sequence:
    nodes: tuple[Node, ...]


_STATES = re.compile(r"((?:[#?]\w+=[\w-]+)+):")
_STATED = re.compile(r"#(\w+)=([\w-]+)")
_NEEDED = re.compile(r"\?(\w+)=([\w-]+)")
_SLOT = re.compile(r"(\w*)(?:\.(\w+))?(?::(.+))?")
_LINES = re.compile(r"(\w+) (\d+)-(\d+)([^:]*):")
_ENDS = {"[": "]", "{": "}", "<": ">"}


@cache
def parse(text: str) -> Sequence:
    """The tree of a template. Raises ValueError where a mark has no end."""
    nodes, end = _sequence(text, 0, "")
    if end != len(text):
        raise ValueError(f"{text[end]!r} closes nothing: {text[max(0, end - 40) : end + 1]!r}")
    return nodes


def _sequence(text: str, at: int, ends: str) -> tuple[Sequence, int]:
    nodes: list[Node] = []
    plain: list[str] = []

    def flush() -> None:
        if plain:
            nodes.append("".join(plain))
            plain.clear()

    while at < len(text):
        sign = text[at]
        if sign == "\\":
            plain.append(text[at + 1])
            at += 2
        elif sign in ends:
            break
        elif sign in _ENDS:
            flush()
            node, at = _node(text, at)
            nodes.append(node)
        elif sign in "]}>" and not (sign == ">" and ">" not in ends):
            raise ValueError(f"{sign!r} closes nothing: {text[max(0, at - 40) : at + 1]!r}")
        else:
            plain.append(sign)
            at += 1
    flush()
    return Sequence(tuple(nodes)), at


def _node(text: str, at: int) -> tuple[Node, int]:
    sign = text[at]
    if sign == "{":
        end = text.index("}", at)
        found = _SLOT.fullmatch(text[at + 1 : end])
        if found is None:
            raise ValueError(f"no slot: {text[at : end + 1]}")
        return Slot(found[1], found[3] or "", found[2] or ""), end + 1
    if sign == "<":
        found = _LINES.match(text, at + 1)
        if found is None:
            raise ValueError(f"no rows: {text[at : at + 40]!r}")
        line, end = _sequence(text, found.end(), ">")
        return Lines(found[1], int(found[2]), int(found[3]), found[4] or "\n", line), _closed(text, end, ">")
    return _choice(text, at + 1)


def _choice(text: str, at: int) -> tuple[Choice, int]:
    options: list[tuple[tuple[tuple[str, str], ...], Sequence]] = []
    needs: list[tuple[tuple[str, str], ...]] = []
    held: list[int] = []
    plain = True
    while True:
        states = _STATES.match(text, at)
        start = states.end() if states else at
        stated = tuple((name, value) for name, value in _STATED.findall(states[1])) if states else ()
        needs.append(tuple(_NEEDED.findall(states[1])) if states else ())
        plain = plain and not states
        sequence, end = _sequence(text, start, "|]")
        if is_held_out(text[start:end]):
            held.append(len(options))
        options.append((stated, sequence))
        at = _closed(text, end, "|]")
        if text[end] == "]":
            break
    kept = {name for index, (_, part) in enumerate(options) if index not in held for name, _ in slots(part)}
    held = [index for index in held if {name for name, _ in slots(options[index][1])} <= kept]
    seen = [index for index in range(len(options)) if index not in held]
    if not plain or len(options) < 3 or not seen:
        seen, held = list(range(len(options))), []
    return Choice(tuple(options), tuple(seen), tuple(held), tuple(needs)), at


def slots(sequence: Sequence) -> Iterator[tuple[str, str]]:
    """Name and sort of each named slot in a tree."""
    for node in sequence.nodes:
        if isinstance(node, Slot) and node.name:
            yield node.name, node.sort
        elif isinstance(node, Choice):
            for _, part in node.options:
                yield from slots(part)
        elif isinstance(node, Lines):
            yield from slots(node.line)


def _closed(text: str, at: int, ends: str) -> int:
    if at >= len(text) or text[at] not in ends:
        raise ValueError(f"no {ends!r} before the end of {text[-60:]!r}")
    return at + 1
