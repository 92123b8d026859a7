"""Where commands write: results to standard output, everything else to standard error.

Does: the two consoles, and JSON as it is written to each kind of output. Does not: colour what is not a terminal, or
anything where NO_COLOR is set (rich sees to both).
"""

import json
import sys
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from rich.console import Console
from rich.syntax import Syntax


def results() -> Console:
    """Standard output. Documents are data: nothing in them is markup."""
    return Console(markup=False, emoji=False, highlight=False)


def errors() -> Console:
    """Standard error, for progress, timings and errors."""
    return Console(stderr=True, markup=False, emoji=False, highlight=False, soft_wrap=True)


def compact(value: Any) -> str:
    """One line of JSON, characters as they are."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def pretty(value: Any) -> str:
    """JSON for people: two blanks a level."""
    return json.dumps(value, ensure_ascii=False, indent=2)


def condensed(value: Any, width: int, indent: int = 0, key_width: int = 0) -> str:
    """JSON for people with little room: what fits on a line of `width` columns stands on one.

    `indent` and `lead` are the columns in front of the value: blanks, and the key.
    """
    line = json.dumps(value, ensure_ascii=False)
    comma = 1
    fits = indent + key_width + len(line) + comma <= width
    if fits or not value or not isinstance(value, dict | list):
        return line
    if isinstance(value, dict):
        ends = "{}"
        members = [(f"{json.dumps(key, ensure_ascii=False)}: ", value[key]) for key in value]
    else:
        ends = "[]"
        members = [("", item) for item in value]
    inner = indent + 2
    parts = [head + condensed(item, width, inner, len(head)) for head, item in members]
    if isinstance(value, list) and any("\n" in part for part in parts):
        parts = [condensed(item, 0, inner) for item in value]  # rows of one list look alike
    body = (",\n" + " " * inner).join(parts)
    return f"{ends[0]}\n{' ' * inner}{body}\n{' ' * indent}{ends[1]}"


def highlighted(text: str, *, wrap: bool = False) -> Syntax:
    """JSON text in the terminal's own sixteen colours, which fit dark and light backgrounds."""
    return Syntax(text, "json", theme="ansi_dark", background_color="default", word_wrap=wrap)


def write_json(value: Any, *, raw: bool) -> None:
    """Write one JSON document to standard output: one line if `raw`, else indented, in colour on a terminal."""
    if raw:
        sys.stdout.write(compact(value) + "\n")
    elif sys.stdout.isatty():
        results().print(highlighted(pretty(value)), soft_wrap=True)
    else:
        sys.stdout.write(pretty(value) + "\n")


def spinner(text: str) -> AbstractContextManager[object]:
    """A sign of life on standard error while something takes its time; nothing where that is no terminal."""
    console = errors()
    return console.status(text) if console.is_terminal else nullcontext()
