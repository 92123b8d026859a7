"""Masks of the device against those of the host, bit for bit, along the instances of the open part of JSONSchemaBench.

    python -m tests.gpu.compare_grammars [--part I/N] [--seconds S] [--steps T] [--processes P]
    python -m tests.gpu.compare_grammars --tiny     (on a host: a small vocabulary, in Triton's interpreter)

Needs ../shared, or `--file` with lines like those of JSONSchemaBench. Processes without a device compile, export and
follow the instances by matchers of the host; this one walks the tables on the device along the same tokens and compares
all words of all rows there. Prints one JSON object: what became of the schemas, masks compared, differences; names what
was left out. Ends with status 1 if masks differ or a schema made a process fail.
"""

import argparse
import json
import lzma
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from tests.support import followed
from tests.support.followed import FORMS, Outcome, Task
from tests.support.tokens import data

if TYPE_CHECKING:
    from tests.support.walked import Comparer

_NAMES = 20  # told of each kind


@dataclass
class Report:
    """What became of all schemas; see `main`."""

    counts: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    left_out: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    judged: Counter[str] = field(default_factory=Counter)

    def take(self, outcome: Outcome) -> None:
        """Count one that a process has finished with."""
        form, verdict = outcome.form, outcome.verdict
        self.counts[f"{form}: {verdict}"] += 1
        if verdict == followed.TOO_SLOW:
            self.left_out.append(f"{outcome.name} {form}: too slow")
            return
        if verdict == followed.HOST_ONLY:
            self.reasons[f"{form}: {outcome.reason}"] += 1
        if outcome.tables is not None:
            self.counts[f"{form}: bytes"] += outcome.tables.nbytes
        self.judged[outcome.name] += 1


def tasks(options: argparse.Namespace) -> Iterator[tuple[str, Task]]:
    """(name, task) of this part's schemas, each in all forms."""
    part, parts = map(int, options.part.split("/"))
    opened = lzma.open if options.file.suffix == ".xz" else open
    with opened(options.file, "rb") as lines:
        for number, line in enumerate(lines):
            if number % parts == part:
                for form in FORMS:
                    yield (
                        f"line {number} {form}",
                        Task(line, form, options.steps, options.limit, options.tiny),
                    )


Answers = SimpleQueue[tuple[str, Outcome | BaseException]]


def _answer(done: Answers, name: str, outcome: Outcome | BaseException) -> None:
    done.put((name, outcome))


def compare(options: argparse.Namespace) -> tuple[Report, "Comparer"]:
    """Everything, until it is done or the time is up."""
    until = time.monotonic() + options.seconds
    report, done = Report(), Answers()
    todo = dict(tasks(options))
    report.counts["schemas"] = len(todo) // len(FORMS)
    # Compiled code is made, or loaded, once; and before there are threads, which must not be forked.
    followed.warm(tiny=options.tiny)
    print(f"ready to compile, {until - time.monotonic():.0f} s left", file=sys.stderr)
    with get_context("fork").Pool(options.processes) as pool:
        for name, task in todo.items():
            pool.apply_async(
                followed.follow,
                (task,),
                callback=partial(_answer, done, name),
                error_callback=partial(_answer, done, name),
            )
        comparer = device_side(options)
        while todo:
            try:
                name, outcome = done.get(timeout=max(0.0, until - time.monotonic()))
            except Empty:
                break
            del todo[name]
            if isinstance(outcome, BaseException):
                report.failed[name] = repr(outcome)
                continue
            report.take(outcome)
            comparer.add(outcome)
    comparer.finish()
    report.counts["out of time"] = len(todo)
    report.left_out += [f"{name}: out of time" for name in todo]
    return report, comparer


def device_side(options: argparse.Namespace) -> "Comparer":
    """Torch and the device are loaded only here: by now the processes are there."""
    import torch

    if not torch.cuda.is_available():
        if not options.tiny:
            raise SystemExit("this needs a GPU, or --tiny")
        os.environ.setdefault("TRITON_INTERPRET", "1")
        from tests.support import interpreter

        interpreter.install()
    from tests.support.walked import Comparer

    return Comparer(tiny=options.tiny, rows=options.rows)


def summary(report: Report, comparer: "Comparer") -> dict[str, Any]:
    """The figures. A schema is covered when it was judged, and compared if it has tables, in all forms."""
    counts = report.counts + comparer.counts
    counts["schemas covered"] = sum(n == len(FORMS) for n in report.judged.values())
    return {
        "counts": counts,
        "host only": dict(report.reasons.most_common(_NAMES)),
        "left out": report.left_out[:_NAMES],
        "too deep": comparer.too_deep[:_NAMES],
        "failed": report.failed,
        "differences": comparer.differences[:_NAMES],
    }


def processes() -> int:
    """One for each processor that is left; more than 24 are more than this process can take from."""
    return max(1, min(24, len(os.sched_getaffinity(0)) - 1))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--file", type=Path)
    parser.add_argument("--part", default="0/1")
    parser.add_argument("--seconds", type=float, default=120, help="for everything")
    parser.add_argument("--steps", type=int, default=160, help="tokens of an instance")
    parser.add_argument("--processes", type=int, default=processes())
    parser.add_argument("--limit", type=float, default=10, help="processor seconds of a schema")
    parser.add_argument("--rows", type=int, default=256, help="instances compared at once")
    parser.add_argument("--tiny", action="store_true", help="a small vocabulary")
    options = parser.parse_args()
    options.file = options.file or data("jsonschemabench", "open.jsonl.xz")
    begun = time.monotonic()
    found = summary(*compare(options))
    print(json.dumps(found | {"seconds": round(time.monotonic() - begun, 1)}))
    return 1 if found["differences"] or found["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
