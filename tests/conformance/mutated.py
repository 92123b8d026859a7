"""Schemas of the open part of JSONSchemaBench with small mutations: close to real schemas.

Does: change schemas and instances at random, judge every instance in several spellings by our machine and by an
independent validator, and report where they differ, errors after a schema was taken, and ends that are not valid. Does
not: know schemas of users.

`python -m tests.conformance.mutated --count 1000 --seed 0` prints what was found; exit code 1: something was.
"""

import argparse
import copy
import json
import random
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from intaglio.grammar.base.parts import whole
from intaglio.grammar.completion.rule_graph import RuleGraph
from intaglio.grammar.completion.shortest_end import ShortestEnd
from intaglio.grammar.contract.constraint import Whitespace
from intaglio.grammar.contract.errors import GrammarError
from intaglio.grammar.jsonschema.read.values import read
from intaglio.grammar.jsonschema.read.writing_options import Options
from intaglio.grammar.jsonschema.rules.language import Language
from intaglio.grammar.machine.cursor import Cursor
from intaglio.grammar.machine.machine import Machine

from tests.conformance.cases import Group, bench, data_folder
from tests.conformance.validator import Doubtful, exact, validator
from tests.conformance.verdicts import accepts, written

Json = Any
_MOST_TEXT = 6_000
_ADDED: tuple[dict[str, Json], ...] = (
    {"minLength": 2}, {"maxLength": 3}, {"maxLength": 300}, {"pattern": "^(?!x)"}, {"pattern": "(?=.*[a-z]).+$"},
    {"format": "date-time"}, {"format": "email"}, {"format": "uri"}, {"format": "idn-hostname"}, {"format": "regex"},
    {"minimum": 1}, {"exclusiveMaximum": 100.5}, {"multipleOf": 0.5}, {"multipleOf": 3}, {"uniqueItems": True},
    {"not": {"uniqueItems": True}}, {"minItems": 1}, {"maxItems": 2}, {"contains": {"type": "string"}},
    {"additionalProperties": False}, {"minProperties": 1}, {"maxProperties": 3}, {"propertyNames": {"maxLength": 9}},
    {"not": {"type": "null"}}, {"not": {"format": "date"}}, {"anyOf": [{"maxLength": 5}, {"minLength": 40}]},
    {"oneOf": [{"maxLength": 70}, {"maxLength": 90, "pattern": "^a"}, {"type": "object"}]}, {"type": "string"},
    {"if": {"required": ["name"]}, "then": {"minProperties": 2}}, {"unevaluatedProperties": False},
    {"enum": ["a", 1.50, 100, None, ["x" * 40], {"b": 1, "a": 2}]}, {"const": "y" * 300},
)  # fmt: skip


@dataclass
class Found:
    """What became of the schemas and instances; `faults`: each that is wrong."""

    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)


def _parts(schema: Json) -> Iterator[dict[str, Json]]:
    """The objects in a schema that are schemas, by a guess."""
    if isinstance(schema, dict):
        yield schema
        for name, part in schema.items():
            inner = part.values() if name in ("properties", "definitions", "$defs") else [part]
            for each in inner if isinstance(part, dict) or name not in ("properties",) else ():
                yield from _parts(each)
    elif isinstance(schema, list):
        for each in schema:
            yield from _parts(each)


def changed(schema: Json, choose: random.Random) -> Json:
    """A schema with one to three changes."""
    made = copy.deepcopy(schema)
    for _ in range(choose.randrange(1, 4)):
        part = choose.choice(list(_parts(made)) or [{}])
        names = [name for name in part if name not in ("properties", "$ref", "$schema")]
        match choose.randrange(4):
            case 0 if names:
                del part[choose.choice(names)]
            case 1:
                kept = dict(part)
                part.clear()
                part[choose.choice(("anyOf", "oneOf", "allOf"))] = [kept, {"type": "null"}][
                    : choose.randrange(1, 3)
                ]
            case _:
                part.update(copy.deepcopy(choose.choice(_ADDED)))
    return made


def neighbour(value: Json, choose: random.Random) -> Json:
    """A value with one change."""
    if isinstance(value, dict) and value and choose.random() < 0.85:
        name = choose.choice(list(value))
        made = dict(value)
        if choose.random() < 0.25:
            del made[name]
        else:
            made[name] = neighbour(value[name], choose)
        return made
    if isinstance(value, list) and value and choose.random() < 0.85:
        place = choose.randrange(len(value))
        inner = value[place]
        swap = [value[0], value[0]] if choose.random() < 0.3 else [neighbour(inner, choose)]
        return [*value[:place], *swap, *value[place + 1 :]]
    return choose.choice(
        (None, True, 0, 1.0, -3, 2.5, 150, "", "a", "x" * 80, "2024-02-29", "é", [], {}, [1, 1])
    )


def spellings(value: Json, choose: random.Random) -> Iterator[str]:
    """Texts of a value: compact, on lines, members shuffled; no escapes that names and constants do not need."""
    yield written(value)
    yield written(value, "  ")

    def shuffled(part: Json) -> Json:
        if isinstance(part, dict):
            names = list(part)
            choose.shuffle(names)
            return {name: shuffled(part[name]) for name in names}
        return [shuffled(each) for each in part] if isinstance(part, list) else part

    yield json.dumps(shuffled(value), ensure_ascii=False, default=float)


def _judge(
    machine: Machine, schema: Json, data: list[Json], choose: random.Random, found: Found
) -> str:
    """Why something is wrong; empty if nothing is."""
    fault = validator(exact(json.dumps(schema)))
    for value in data:
        try:
            broken = fault(exact(json.dumps(value, default=float)))
        except (Doubtful, ValueError, TypeError):
            found.counts["not judged"] += 1
            continue
        for text in spellings(value, choose):
            found.counts["texts"] += 1
            if accepts(machine, text) != (not broken):
                return f"{'accepted: ' + broken if broken else 'rejected'}: {text[:200]}"
    end = whole(ShortestEnd(Cursor(machine), RuleGraph(machine)).text())
    if end is None:
        found.counts["no end found: refused at examination"] += 1
        return ""
    try:
        broken = fault(exact(end.decode()))
    except (Doubtful, ValueError) as error:
        return "" if isinstance(error, Doubtful) else f"end: {error}: {end[:200]!r}"
    return f"end {end[:200]!r}: {broken}" if broken else ""


def small_groups(folder: Path) -> list[Group]:
    """The schemas of the benchmark that are quick to judge, with their instances."""
    return [
        group
        for group in bench(folder)
        if len(json.dumps(group.schema, default=float)) < _MOST_TEXT
    ]


def mutation(groups: list[Group], choose: random.Random) -> tuple[str, str, list[Json]]:
    """(name, source, values) of a mutated schema."""
    group = choose.choice(groups)
    assert isinstance(group.schema, dict)
    source = json.dumps(changed(_without_draft(group.schema), choose), default=float)
    data = [test.data for test in group.instances][:4]
    data += [neighbour(choose.choice(data), choose) for _ in range(6)]
    return group.name, source, data


def _without_draft(schema: Json) -> Json:
    """A schema without `$schema`, in its parts as well.

    We assert every format in every draft, the validator those of the draft; and it changes the draft at a part with
    `$schema`, where the specification allows that keyword only beside an `$id`.
    """
    if isinstance(schema, list):
        return [_without_draft(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    is_draft = isinstance(schema.get("$schema"), str)
    return {
        name: _without_draft(part)
        for name, part in schema.items()
        if not (is_draft and name == "$schema")
    }


def look(count: int, seed: int) -> Found:
    """Change so many schemas."""
    folder = data_folder()
    if folder is None:
        sys.exit("the test data is not here: see CONTRIBUTING.md")
    found, choose = Found(), random.Random(f"mutated {seed}")
    groups = small_groups(folder)
    options = Options(any_order=True, whitespace=Whitespace.LENIENT, any_text=True)
    for number in range(count):
        name, source, data = mutation(groups, choose)
        try:
            language = Language(read(source), options)
            machine = Machine(language.root)
        except GrammarError as error:
            found.counts[f"refused: {type(error).__name__}"] += 1
            continue
        found.counts["compiled"] += 1
        try:
            wrong = _judge(machine, json.loads(source), data, choose, found)
        except GrammarError as error:
            wrong = f"late: {type(error).__name__}: {error}"
        if wrong:
            found.faults.append(f"{number} {name}: {wrong} | {source}")
    return found


def main() -> int:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    found = look(options.count, options.seed)
    print(*found.faults, sep="\n")
    print(dict(found.counts), f"{len(found.faults)} wrong")
    return int(bool(found.faults))


if __name__ == "__main__":
    sys.exit(main())
