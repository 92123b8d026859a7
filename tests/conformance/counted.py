"""Thousands of generated schemas through the whole grammar layer: examination, masks, walks, values; kept as records.

Does: generate each schema from its kind and number alone, examine it as the service does, walk random legal outputs of
it, judge them and some values by an independent validator, and append one line for each schema to a file, from which a
later run goes on. Does not: word a page, or know schemas of users.

`python -m tests.conformance.counted FILE --kind invented --count 10000` runs what FILE does not hold yet, for at most
`--seconds`, and prints the totals of the kind. Exit code 1: a fault was found.

A fault is a dead end, an exception that is no GrammarError, an output or value on which the validator disagrees, an
error after the examination accepted the schema, a schema refused as unsatisfiable that has a valid value, or more time
or memory than `LIMITS`.
"""

import argparse
import json
import random
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

from intaglio.grammar.api import (
    Compiler,
    Constraint,
    GrammarError,
    KeyOrder,
    Kind,
    Unsatisfiable,
    Whitespace,
    examine,
)
from intaglio.grammar.jsonschema.read.values import read
from intaglio.grammar.jsonschema.rules.language import Language
from intaglio.grammar.machine.machine import Machine

from tests.conformance import awkward, invented, mutated
from tests.conformance.cases import Group, data_folder
from tests.conformance.children import Child, Ended, Limits
from tests.conformance.tokens import shared
from tests.conformance.validator import Doubtful, exact, validator
from tests.conformance.verdicts import ANY_FORM, accepts
from tests.conformance.walks import LONG, walk

Json = Any
LIMITS: Final = Limits(cpu_s=60.0, wall_s=400.0, more_bytes=3 << 30)
WALKS: Final = 2
VALUES: Final = 8
_RENEW: Final = 500  # schemas of one child


@dataclass(frozen=True)
class Asked:
    """A generated schema: the constraint of the walks, and values to judge."""

    name: str
    constraint: Constraint
    values: list[Json]


@dataclass
class Record:
    """What became of one schema. `refused`: code and reason of the examination; empty: accepted."""

    kind: str
    number: int
    name: str = ""
    refused: str = ""
    walks: int = 0
    tokens: int = 0
    texts: int = 0
    doubts: int = 0
    faults: list[str] = field(default_factory=list)
    source: str = ""  # of a faulty schema


def _form(choose: random.Random, source: str) -> Constraint:
    return Constraint(
        Kind.JSON_SCHEMA,
        source,
        choose.choice(list(Whitespace)),
        extra_properties=choose.random() < 0.8,
        key_order=choose.choice((KeyOrder.ANY, KeyOrder.SCHEMA)),
    )


def _near(choose: random.Random, source: str) -> list[Json]:
    schema = json.loads(source)
    return [invented.near(choose, schema) for _ in range(VALUES)]


def invented_case(_: list[Group], choose: random.Random) -> Asked:
    """A made-up schema: of any keywords, or one whose masks depend on what was written."""
    if choose.random() < 0.5:
        source = json.dumps(invented.schema(choose))
        return Asked("any", _form(choose, source), _near(choose, source))
    constraint = awkward.constraint(choose)
    return Asked("awkward", constraint, _near(choose, constraint.source))


def mutated_case(groups: list[Group], choose: random.Random) -> Asked:
    """A schema of the benchmark with a few changes."""
    name, source, values = mutated.mutation(groups, choose)
    return Asked(name, _form(choose, source), values)


CASES: Final[dict[str, Callable[[list[Group], random.Random], Asked]]] = {
    "invented": invented_case,
    "mutated": mutated_case,
}


def judge(compiler: Compiler, groups: list[Group], kind: str, number: int) -> Record:
    """One schema through everything."""
    choose = random.Random(f"counted {kind} {number}")
    asked = CASES[kind](groups, choose)
    record = Record(kind, number, asked.name)
    try:
        _follow(compiler, asked, record, choose)
    except GrammarError as error:
        record.faults.append(f"late: {error.code}: {error}")
    except Exception as error:  # noqa: BLE001 - what must not happen is what is looked for
        place = traceback.extract_tb(error.__traceback__)[-1]
        record.faults.append(f"internal: {error!r} at {Path(place.filename).name}:{place.lineno}")
    if record.faults:
        record.source = asked.constraint.source
        record.name = f"{asked.name}: {asked.constraint.whitespace} {asked.constraint.key_order}"
    return record


def _follow(compiler: Compiler, asked: Asked, record: Record, choose: random.Random) -> None:
    verdict = examine(compiler, asked.constraint)
    if verdict.code is not None:
        reason = verdict.refusals[0].reason if verdict.refusals else verdict.message[:80]
        record.refused = f"{verdict.code}: {reason}"
    else:
        grammar = compiler.compile(asked.constraint, verdict.shortest)
        count = 1 if (grammar.least_tokens or 0) > LONG else WALKS
        found = walk(grammar, asked.constraint.source, count, f"{record.kind} {record.number}")
        record.walks, record.tokens, record.doubts = found.walks, found.tokens, len(found.doubts)
        record.faults += found.faults
        record.faults += ["not ended"] * found.unended + ["late: tables full"] * found.stopped
    if verdict.code is None or verdict.code == Unsatisfiable.code:
        _values(asked, record, choose)


def _values(asked: Asked, record: Record, choose: random.Random) -> None:
    """The values in several spellings, by our machine in any form and by the validator."""
    source = asked.constraint.source
    fault = validator(exact(source))
    language = machine = None
    try:
        language = Language(read(source), ANY_FORM)
        machine = Machine(language.root)
    except Unsatisfiable:
        pass  # no value may be valid
    for value in asked.values:
        try:
            broken = fault(exact(json.dumps(value, default=float)))
        except (Doubtful, ValueError, TypeError):
            record.doubts += 1
            continue
        for text in mutated.spellings(value, choose):
            record.texts += 1
            taken = machine is not None and accepts(machine, text)
            if taken != (not broken):
                verb = "accepted" if taken else "rejected"
                record.faults.append(f"value {verb}, {broken or 'valid'}: {text[:200]}")
                break
    if language is not None:
        language.release()


def kept(file: Path) -> list[dict[str, Any]]:
    """The records of a file."""
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def go_on(file: Path, kind: str, numbers: range, seconds: float) -> None:
    """Judge the schemas of these numbers that the file lacks, while there is time."""
    folder = data_folder()
    if folder is None:
        sys.exit("the test data is not here: see CONTRIBUTING.md")
    spelling = shared()
    compiler = Compiler(spelling.vocabulary, spelling.spell)
    compiler.warm()
    groups = mutated.small_groups(folder) if kind == "mutated" else []
    done = {record["number"] for record in kept(file) if record["kind"] == kind}
    until = time.monotonic() + seconds
    with Child(partial(judge, compiler, groups, kind), LIMITS) as child, file.open("a") as lines:
        for asked, number in enumerate(n for n in numbers if n not in done):
            if time.monotonic() > until:
                return
            if asked % _RENEW == _RENEW - 1:
                child.close()
            answer = child.ask(number).answer
            if isinstance(answer, Ended):
                answer = Record(kind, number, faults=[f"ended: {answer}"])
            lines.write(json.dumps(asdict(answer)) + "\n")
            lines.flush()


def totals(records: list[dict[str, Any]]) -> tuple[dict[str, int], Counter[str], list[str]]:
    """(sums, refusals by reason, faults)."""
    sums: Counter[str] = Counter(schemas=len(records))
    refused: Counter[str] = Counter()
    faults = []
    for record in records:
        if record["refused"]:
            refused[record["refused"]] += 1
        sums.update({word: record[word] for word in ("walks", "tokens", "texts", "doubts")})
        faults += [
            f"{record['number']} {record['name']}: {fault} | {record['source']}"
            for fault in record["faults"]
        ]
    return dict(sums), refused, faults


def main() -> int:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--kind", choices=tuple(CASES), required=True)
    parser.add_argument("--first", type=int, default=0, help="number of the first schema")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=480.0)
    options = parser.parse_args()
    numbers = range(options.first, options.first + options.count)
    go_on(options.file, options.kind, numbers, options.seconds)
    records = [record for record in kept(options.file) if record["kind"] == options.kind]
    sums, refused, faults = totals(records)
    print(*faults, sep="\n")
    print(sums, f"{len(faults)} faults")
    print(*(f"{n} {reason}" for reason, n in refused.most_common()), sep="\n")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
