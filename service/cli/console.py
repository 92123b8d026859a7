"""Output of commands: results on standard output, everything else on standard error.

Does: create both consoles, and format JSON for each kind of output. Does not: use colour if the output is not a
terminal or NO_COLOR is set (rich handles both).
"""

import json
import sys
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from rich.console import Console
from rich.syntax import Syntax


def results() -> Console:
    """The console for standard output. Documents are data: markup in them is ignored."""
    return Console(markup=False, emoji=False, highlight=False)


def errors() -> Console:
    """The console for standard error: progress, timings and errors."""
    return Console(stderr=True, markup=False, emoji=False, highlight=False, soft_wrap=True)


def compact(value: Any) -> str:
    """JSON on one line, without escapes for non-ASCII characters."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def pretty(value: Any) -> str:
    """JSON indented by two spaces."""
    return json.dumps(value, ensure_ascii=False, indent=2)


def condensed(value: Any, width: int, indent: int = 0, key_width: int = 0) -> str:
    """JSON with each value on one line if it fits `width` columns, else indented.

    `indent` and `key_width` are the columns before the value: spaces, and the key.
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
        parts = [condensed(item, 0, inner) for item in value]  # format the rows of a list alike
    body = (",\n" + " " * inner).join(parts)
    return f"{ends[0]}\n{' ' * inner}{body}\n{' ' * indent}{ends[1]}"


def highlighted(text: str, *, wrap: bool = False) -> Syntax:
    """JSON text in the terminal's 16 colours, which suit dark and light backgrounds."""
    return Syntax(text, "json", theme="ansi_dark", background_color="default", word_wrap=wrap)


def write_json(value: Any, *, raw: bool) -> None:
    """Write one JSON document to standard output: on one line if `raw`, else indented, in colour on a terminal."""
    if raw:
        sys.stdout.write(compact(value) + "\n")
    elif sys.stdout.isatty():
        results().print(highlighted(pretty(value)), soft_wrap=True)
    else:
        sys.stdout.write(pretty(value) + "\n")


def spinner(text: str) -> AbstractContextManager[object]:
    """A spinner on standard error while work takes time; nothing if standard error is not a terminal."""
    console = errors()
    return console.status(text) if console.is_terminal else nullcontext()
