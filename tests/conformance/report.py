"""Adds verdicts up and compares them with the committed expectations.

Does: count by part, list what is not right, render a table. Does not: judge (`verdicts`).
"""

import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from tests.conformance.cases import Group
from tests.conformance.verdicts import Judged, Verdict

_NUMBER = re.compile(r"\d{3,}")  # limits may change without changing what is right
GOLDEN = Path(__file__).with_name("golden.json")


@dataclass
class Report:
    """Counts by part; `exceptions`: of each group what is not right about it."""

    counts: dict[str, Counter[str]] = field(default_factory=dict)
    rivals: dict[str, Counter[str]] = field(default_factory=dict)
    schemas: Counter[str] = field(default_factory=Counter)
    exceptions: dict[str, dict[str, str]] = field(default_factory=dict)

    def add(self, group: Group, verdicts: Iterable[Judged], rival: Iterable[Judged] = ()) -> None:
        """Count one group."""
        found = list(verdicts)
        self.counts.setdefault(group.part, Counter()).update(j.verdict.value for j in found)
        self.rivals.setdefault(group.part, Counter()).update(j.verdict.value for j in rival)
        wrong = exceptions(found)
        self.schemas.update([f"{group.part} schemas"])
        if wrong:
            self.exceptions[group.name] = wrong
        else:
            self.schemas.update([f"{group.part} schemas fully right"])

    def golden(self) -> str:
        """The committed form: everything but the rival's counts, which change with its version."""
        kept = {
            "counts": {part: dict(sorted(c.items())) for part, c in self.counts.items()},
            "schemas": dict(sorted(self.schemas.items())),
            "exceptions": dict(sorted(self.exceptions.items())),
        }
        return json.dumps(kept, indent=1, ensure_ascii=False) + "\n"

    def table(self) -> str:
        """Markdown, one line a part."""
        lines = [
            "| part | instances | right | wrong accepts | wrong rejects | refused | late | `jsonschema` right |",
            "|---|--:|--:|--:|--:|--:|--:|--:|",
        ]
        for part, count in self.counts.items():
            cells = " | ".join(str(count[verdict.value]) for verdict in Verdict)
            lines.append(
                f"| {part} | {count.total()} | {cells} | {self.rivals[part][Verdict.RIGHT.value]} |"
            )
        lines += [f"{name}: {number}" for name, number in sorted(self.schemas.items())]
        return "\n".join(lines)


def exceptions(verdicts: Iterable[Judged]) -> dict[str, str]:
    """What is not right, by the instance's name."""
    return {
        j.name: f"{j.verdict.value}: {_NUMBER.sub('N', j.reason)}" if j.reason else j.verdict.value
        for j in verdicts
        if j.verdict is not Verdict.RIGHT
    }


def expected() -> dict[str, dict[str, str]]:
    """The committed exceptions by group."""
    known: dict[str, dict[str, str]] = json.loads(GOLDEN.read_text())["exceptions"]
    return known
