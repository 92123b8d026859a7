"""The sections on whole texts: the test suite and the benchmark through our machine, and through other libraries.

Does: judge groups in children, add verdicts up by part and engine. Does not: judge one (`verdicts`, `rivals`).
"""

import re
from collections import Counter
from collections.abc import Iterable
from itertools import chain
from pathlib import Path

from tests.conformance import rivals, wording
from tests.conformance.cases import DRAFTS, Group, bench, remotes, suite
from tests.conformance.children import Ended, Limits, Reply, spread
from tests.conformance.report import Section, most_common, table
from tests.conformance.verdicts import Judged, Verdict, ours, theirs

LIMITS = Limits(cpu_s=10.0, wall_s=60.0, more_bytes=2 << 30)
BENCH = "JSONSchemaBench"
OURS = "intaglio"
ENGINES = (OURS, *rivals.ENGINES, "jsonschema")
_NUMBER = re.compile(r"\d{3,}")  # limits may change without changing what is right
_HEAD = ("", "instances", "right", "wrong accepts", "wrong rejects", "refused", "late", "time-out or crash",
         "schemas", "fully right")  # fmt: skip


def groups(folder: Path) -> list[Group]:
    """Every group of the suite, then of the benchmark."""
    return list(chain(*(suite(folder, draft) for draft in DRAFTS), bench(folder)))


def exceptions(verdicts: Iterable[Judged]) -> dict[str, str]:
    """What is not right, by the instance's name."""
    return {
        j.name: f"{j.verdict.value}: {_NUMBER.sub('N', j.reason)}" if j.reason else j.verdict.value
        for j in verdicts
        if j.verdict is not Verdict.RIGHT
    }


class Tally:
    """Verdicts of one engine by part."""

    def __init__(self) -> None:
        self.counts: dict[str, Counter[str]] = {}

    def add(self, group: Group, reply: Reply[list[Judged]]) -> dict[str, str]:
        """Count one group; what is not right about it."""
        count = self.counts.setdefault(group.part, Counter())
        count["schemas"] += 1
        count["instances"] += len(group.instances)
        if isinstance(reply.answer, Ended):
            count["ended"] += len(group.instances)
            return {test.name: reply.answer.value for test in group.instances}
        count.update(j.verdict.value for j in reply.answer)
        wrong = exceptions(reply.answer)
        count["fully right"] += not wrong
        return wrong

    def row(self, name: str, part: str) -> list[object]:
        """A line of the table."""
        count = self.counts[part]
        verdicts = [count[verdict.value] for verdict in Verdict]
        share = f"{count['fully right']:,} ({count['fully right'] / count['schemas']:.1%})"
        return [name, count["instances"], *verdicts, count["ended"], count["schemas"], share]


def section(folder: Path, jobs: int, sample: int) -> Section:
    """The whole; of other libraries only every `sample`-th group counts, and so does ours beside them."""
    every, registry = groups(folder), remotes(folder)
    documents = dict.fromkeys(DRAFTS, registry)

    def known(group: Group) -> dict[str, object]:
        return dict(documents.get(group.part.split()[0], {}))

    def by_us(group: Group) -> list[Judged]:
        return ours(group, known(group))

    def by_package(group: Group) -> list[Judged]:
        return list(theirs(group, known(group)))

    mine, wrong, verdicts = Tally(), {}, {}
    for group, reply in spread(by_us, every, LIMITS, jobs):
        verdicts[group.name] = reply
        found = mine.add(group, reply)
        if found:
            wrong[group.name] = found
    made = Section(
        "texts",
        "Schemas and instances",
        {
            "counts": {part: dict(sorted(c.items())) for part, c in mine.counts.items()},
            "exceptions": wrong,
        },
    )
    made.faults = faults(wrong)
    made.page = [
        wording.TEXTS,
        table(_HEAD, (mine.row(part, part) for part in mine.counts)),
        wording.EXCEPTIONS,
        table(
            ("verdict, keyword", "instances"),
            most_common(_reasons(wrong)),
        ),
    ]
    beside = every[::sample]
    tallies = {OURS: Tally(), **{name: Tally() for name in ENGINES[1:]}}
    for group in beside:
        tallies[OURS].add(group, verdicts[group.name])
    judges = {name: (lambda group, n=name: rivals.judge(n, group)) for name in rivals.ENGINES}
    for name, judge in {**judges, "jsonschema": by_package}.items():
        for group, reply in spread(judge, beside, LIMITS, jobs):
            tallies[name].add(group, reply)
    parts = ("draft2020-12 required", BENCH)
    made.measured = {
        name: {part: dict(sorted(c.items())) for part, c in tally.counts.items()}
        for name, tally in tallies.items()
    }
    for part in parts:
        made.page += [
            wording.BESIDE.format(part=part if sample == 1 else f"{part}, every {sample}th schema"),
            table(_HEAD, (tally.row(name, part) for name, tally in tallies.items())),
        ]
    return made


def faults(wrong: dict[str, dict[str, str]]) -> list[str]:
    """What no report may have: wrong verdicts but those on content keywords, which are annotations."""
    return [
        f"{group}: {name}: {verdict}"
        for group, found in wrong.items()
        for name, verdict in found.items()
        if not verdict.startswith("refused") and "optional/content" not in group
    ]


def _reasons(wrong: dict[str, dict[str, str]]) -> Counter[str]:
    """Instances by verdict and keyword."""
    return Counter(
        ": ".join(verdict.split(": ")[:2]) for found in wrong.values() for verdict in found.values()
    )
