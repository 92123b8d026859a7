"""The report: sections side by side, in one committed file, and a page made from it.

Does: hold what each section found, read and write the file, render the page, say what changed. Does not: find anything
out (`sections`).

Of each section `expected` must come out the same whenever the same tree is asked (the golden test compares it),
`measured` depends on the machine, its load, or the version of another library, and is kept for the reader only.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

GOLDEN = Path(__file__).with_name("golden.json")
PAGE = Path(__file__).parents[2] / "docs" / "conformance.md"
_HEAD = """# Conformance

The test results of the grammar compiler. `make conformance` makes this page from `tests/conformance/golden.json`. It
runs all tests again (with the shared test data) and fails if a figure has changed. Figures marked *measured* depend on
the machine and on the versions of the other libraries; all others do not.
"""


@dataclass
class Section:
    """One part of the report. `faults`: what must not be there; empty in a good report."""

    name: str
    title: str
    expected: dict[str, Any] = field(default_factory=dict)
    measured: dict[str, Any] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    page: list[str] = field(default_factory=list)

    @property
    def kept(self) -> dict[str, Any]:
        """What the file holds of it."""
        return {
            "title": self.title,
            "expected": self.expected,
            "measured": self.measured,
            "faults": self.faults,
            "page": self.page,
        }


def read() -> dict[str, Any]:
    """The committed sections by name."""
    known: dict[str, Any] = json.loads(GOLDEN.read_text()) if GOLDEN.exists() else {}
    return known


def write(sections: Iterable[Section]) -> None:
    """Put these sections in the place of the committed ones, and make the page anew."""
    kept = read() | {section.name: section.kept for section in sections}
    GOLDEN.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
    PAGE.write_text(page(kept))


def page(kept: Mapping[str, Any]) -> str:
    """The readable form."""
    parts = [_HEAD]
    for section in kept.values():
        parts += [f"## {section['title']}\n", *section["page"], ""]
        if section["faults"]:
            parts += [
                "**Not as it should be:**\n",
                *(f"- {fault}" for fault in section["faults"]),
                "",
            ]
    return "\n".join(parts)


def changed(sections: Iterable[Section]) -> list[str]:
    """Names of sections that differ from the committed ones in what is expected or in their faults."""
    known = read()
    return [
        section.name
        for section in sections
        if section.name not in known
        or known[section.name]["expected"] != json.loads(json.dumps(section.expected))
        or known[section.name]["faults"] != section.faults
    ]


def table(head: Iterable[str], rows: Iterable[Sequence[object]]) -> str:
    """Markdown; the first column is text, the others are numbers."""
    names = list(head)
    lines = [f"| {' | '.join(names)} |", f"|---|{'--:|' * (len(names) - 1)}"]
    lines += [
        f"| {' | '.join(f'{c:,}' if isinstance(c, int) else str(c) for c in row)} |" for row in rows
    ]
    return "\n".join(lines)


def most_common(counter: Counter[str]) -> list[tuple[str, int]]:
    """The entries, the largest first; equal ones by name."""
    return sorted(counter.items(), key=lambda entry: (-entry[1], entry[0]))
