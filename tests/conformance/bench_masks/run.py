"""The benchmark of masks: `python -m tests.conformance.bench_masks.run --schemas 500 --engines intaglio,llguidance`.

Does: follow valid instances token by token and compare each engine's mask with the oracle's verdicts, whole
vocabulary at each place; print a table, with `--out` also every case as JSON. Does not: time anything.
"""

import argparse
import contextlib
import json
import lzma
import os
import random
import resource
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tests.conformance.bench_masks.adapters import ENGINES, Engine, Refused, spelled
from tests.conformance.bench_masks.oracle import Oracle, TooMany, Vocabulary
from tests.conformance.bench_masks.shapes import Reader, Unreadable
from tests.conformance.bench_masks.texts import written
from tests.conformance.cases import data_folder
from tests.conformance.tokens import shared

Json = Any
Place = tuple[int, int]
_MOST_PLACES: Final = 400  # of one instance
_MOST_EXAMPLES: Final = 400
_PATIENCE_S: Final = 20  # of processor time, for one schema in an engine that may take long
_DEAD: Final = (-1, -1)


@dataclass
class Counts:
    """Of one engine. `stopped`: instances whose own next token it refuses.

    `judged`: verdicts with a certain answer. Places, like schemas, count as wrong once.
    """

    schemas: int = 0
    refused: int = 0
    late: int = 0
    instances: int = 0
    stopped: int = 0
    places: int = 0
    verdicts: int = 0
    judged: int = 0
    over: int = 0
    over_places: int = 0
    over_schemas: int = 0
    under: int = 0
    under_places: int = 0
    under_schemas: int = 0
    dead_ends: int = 0
    examples: list[tuple[str, str, str, str]] = field(default_factory=list)


@dataclass(frozen=True)
class Record:
    """A schema with its valid instances."""

    name: str
    schema: Json
    valid: list[Json]


def walked(schema: Json, data: Json) -> Json:
    """An instance with its declared members first and in the order of the schema, as the lower tree has them."""

    def ordered(value: Json, part: Json, depth: int) -> Json:
        if isinstance(value, list):
            items = part.get("items") if isinstance(part, dict) else None
            return [ordered(each, _resolved(items, schema), depth + 1) for each in value]
        if not isinstance(value, dict):
            return value
        named = part.get("properties", {}) if isinstance(part, dict) else {}
        required = part.get("required", []) if isinstance(part, dict) else []
        names = (
            [*named, *(r for r in required if r not in named)]
            if isinstance(required, list)
            else [*named]
        )
        order = [n for n in names if n in value] + [n for n in value if n not in names]
        return {n: ordered(value[n], _resolved(named.get(n), schema), depth + 1) for n in order}

    return ordered(data, _resolved(schema, schema), 0)


def _resolved(part: Json, document: Json) -> Json:
    for _ in range(8):
        if not isinstance(part, dict):
            return part
        if "$ref" in part:
            try:
                part = Reader(document, upper=True)._target(part["$ref"])
            except Unreadable:
                return {}
        elif len(part.get("allOf", ())) == 1:
            part = part["allOf"][0]
        else:
            return part
    return part


def _names(value: Json) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
        for each in value.values():
            yield from _names(each)
    elif isinstance(value, list):
        for each in value:
            yield from _names(each)


class Benchmark:
    """One vocabulary, the last token of which is the end."""

    def __init__(self, texts: tuple[bytes | None, ...]) -> None:
        self.texts = texts
        self.vocabulary = Vocabulary(texts)
        self._ids = {text: token for token, text in enumerate(texts) if text is not None}

    def compare(self, engine: Engine, record: Record, oracle: Oracle, counts: Counts) -> None:
        """One schema with its valid instances.

        Raises:
            Refused: the engine does not take the schema.
            TooMany: the oracle would need too many states.
        """
        begin = engine.open(json.dumps(record.schema))
        over, under = counts.over, counts.under
        for value in record.valid:
            text = written(walked(record.schema, value))
            self._follow(begin(), oracle, record.name, text, counts)
        counts.over_schemas += counts.over > over
        counts.under_schemas += counts.under > under

    def _follow(self, session: Any, oracle: Oracle, name: str, text: bytes, counts: Counts) -> None:
        counts.instances += 1
        place, done = oracle.start(), 0
        for token in [*spelled(text, self._ids)[:_MOST_PLACES], None]:
            self._look(
                session.mask(),
                oracle,
                place,
                (name, text[:done].decode("utf-8", "replace")),
                counts,
            )
            if token is None:
                return
            if not session.take(token):
                counts.stopped += 1
                counts.examples.append(
                    (name, text[:done].decode("utf-8", "replace"), "stopped", "")
                )
                return
            piece = self.texts[token] or b""
            place, done = oracle.after(place, piece), done + len(piece)
            if place == _DEAD:
                return

    def _same_text(self, token: int, others: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Which of `others` only spell the text of `token` otherwise: one is a beginning of the other.

        An engine may choose the token of a text that must come anyway.
        """
        text, same = self.texts[token] or b"", np.zeros_like(others)
        for other in np.flatnonzero(others).tolist():
            piece = self.texts[other] or b""
            same[other] = piece.startswith(text) or text.startswith(piece)
        return same

    def _look(
        self,
        mask: npt.NDArray[np.bool_],
        oracle: Oracle,
        place: Place,
        where: tuple[str, str],
        counts: Counts,
    ) -> None:
        verdict = oracle.verdict(place)
        ours, end = mask[:-1], bool(mask[-1])
        over = verdict.must[:-1] & ~ours
        if over.any() and not end and int(ours.sum()) == 1:
            over &= ~self._same_text(int(ours.argmax()), over)
        under = ours & ~verdict.may[:-1]
        misses_end, wrong_end = verdict.must_end and not end, end and not verdict.may_end
        counts.places += 1
        counts.verdicts += len(mask)
        counts.judged += int((verdict.must | ~verdict.may).sum()) + (
            verdict.must_end or not verdict.may_end
        )
        counts.over += int(over.sum()) + misses_end
        counts.under += int(under.sum()) + wrong_end
        counts.over_places += bool(over.any() or misses_end)
        counts.under_places += bool(under.any() or wrong_end)
        counts.dead_ends += not mask.any()
        for kind, tokens, at_end in (("over", over, misses_end), ("under", under, wrong_end)):
            if (tokens.any() or at_end) and len(counts.examples) < _MOST_EXAMPLES:
                shown = [self.texts[t] for t in np.flatnonzero(tokens)[:4]] + ["end"] * at_end
                counts.examples.append((*where, kind, repr(shown)))


def records(count: int, seed: int) -> list[Record]:
    """Schemas with a valid instance of the open part of JSONSchemaBench, drawn by a seed."""
    folder = data_folder()
    if folder is None:
        sys.exit("the test data is not here: see CONTRIBUTING.md")
    with lzma.open(folder / "jsonschemabench" / "open.jsonl.xz", "rt") as lines:
        every = [json.loads(line) for line in lines]
    found = [
        Record(r["id"], r["schema"], [t["data"] for t in r["tests"] if t["valid"]]) for r in every
    ]
    usable = [record for record in found if record.valid]
    return random.Random(seed).sample(usable, min(count, len(usable)))


def is_late(engine: Engine, schema: Json) -> bool:
    """Whether an engine needs more than `_PATIENCE_S` of processor time to compile a schema: tried in a child."""
    child = os.fork()
    if not child:
        used = int(sum(resource.getrusage(resource.RUSAGE_SELF)[:2]))
        resource.setrlimit(resource.RLIMIT_CPU, (used + _PATIENCE_S, used + _PATIENCE_S))
        with contextlib.suppress(Refused):
            engine.open(json.dumps(schema))
        os._exit(0)
    return os.waitpid(child, 0)[1] != 0


def measure(
    benchmark: Benchmark, names: list[str], drawn: list[Record]
) -> tuple[dict[str, Counts], int]:
    """Counts by engine, over the schemas that the oracle reads; and how many it does not."""
    engines = {name: ENGINES[name](benchmark.texts) for name in names}
    counts, unread = {name: Counts() for name in names}, 0
    for record in drawn:
        repeated = frozenset(name for value in record.valid for name in _names(value))
        try:
            oracle = Oracle(record.schema, benchmark.vocabulary, repeated)
        except (Unreadable, RecursionError):
            unread += 1
            continue
        for name, engine in engines.items():
            count = counts[name]
            count.schemas += 1
            if engine.is_slow and is_late(engine, record.schema):
                count.late += 1
                continue
            try:
                benchmark.compare(engine, record, oracle, count)
            except Refused:
                count.refused += 1
            except TooMany:
                count.late += 1
    return counts, unread


def table(counts: dict[str, Counts]) -> str:
    """A row for each engine."""
    head = ("", "schemas", "refused", "late", "instances", "stopped", "places", "verdicts", "with one answer",
            "over-constrained", "places", "schemas", "under-constrained", "places", "schemas", "dead ends")  # fmt: skip
    lines = ["| " + " | ".join(head) + " |", "|---|" + "--:|" * (len(head) - 1)]
    for name, c in counts.items():
        figures = (c.schemas, c.refused, c.late, c.instances, c.stopped, c.places, c.verdicts, c.judged, c.over,
                   c.over_places, c.over_schemas, c.under, c.under_places, c.under_schemas, c.dead_ends)  # fmt: skip
        lines.append(f"| {name} | " + " | ".join(f"{figure:,}" for figure in figures) + " |")
    return "\n".join(lines)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--schemas", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--engines", default="intaglio,llguidance,xgrammar")
    parser.add_argument("--out", help="a file for counts and examples, as JSON")
    options = parser.parse_args()
    benchmark = Benchmark(shared().vocabulary.tokens)
    drawn = records(options.schemas, options.seed)
    counts, unread = measure(benchmark, options.engines.split(","), drawn)
    print(table(counts))
    print(f"\nschemas that the oracle does not read: {unread} of {len(drawn)}")
    if options.out:
        kept = {name: asdict(count) for name, count in counts.items()}
        Path(options.out).write_text(json.dumps(kept, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
