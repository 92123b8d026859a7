"""Generated schemas with masks that depend on earlier output: unique items, names in any order, spaced or indented.

Does: draw a schema and the form of its output, walk random legal outputs of it, and report what went wrong: masks and
matcher that disagree, dead ends, outputs that cannot be ended or are not valid. Does not: know schemas of users.

`python -m tests.conformance.awkward --count 1000 --seed 0` prints what was found; exit code 1: something was.
"""

import argparse
import json
import random
import sys
from dataclasses import dataclass, field
from typing import Any

from intaglio.grammar.api import (
    Compiler,
    Constraint,
    GrammarError,
    KeyOrder,
    Kind,
    Whitespace,
)

from tests.conformance.tokens import shared
from tests.conformance.walks import walk

NAMES = ("a", "b", "ab", "c", "tags", "")
Json = Any


@dataclass
class Found:
    """Schemas by what became of them; `faults`: of each that is wrong, why, with its source and form."""

    walked: int = 0
    refused: int = 0
    faults: list[str] = field(default_factory=list)


def constraint(choose: random.Random) -> Constraint:
    """A schema in a form."""
    return Constraint(
        Kind.JSON_SCHEMA,
        json.dumps(_object(choose, 0) if choose.random() < 0.5 else _array(choose, 0)),
        choose.choice((Whitespace.COMPACT, Whitespace.SPACED, Whitespace.PRETTY)),
        extra_properties=choose.random() < 0.7,
        key_order=choose.choice((KeyOrder.ANY, KeyOrder.ANY, KeyOrder.SCHEMA)),
    )


def _value(choose: random.Random, depth: int) -> Json:
    kinds = [_scalar, _scalar, _array, _object, _not, _any_of]
    return (choose.choice(kinds) if depth < 3 else _scalar)(choose, depth)


def _scalar(choose: random.Random, _: int) -> Json:
    return choose.choice(
        (
            {"type": "string"},
            {"type": "integer"},
            {"type": "number"},
            {"type": "boolean"},
            {"type": "null"},
            {"enum": ["a", "b", 1, 1.5, None, True]},
            {"const": choose.choice(("a", 1, [1], {"a": 1}))},
            {"type": "string", "maxLength": choose.randrange(3)},
            {"type": "string", "pattern": choose.choice(("^a*$", "^[ab]$", "b"))},
            {"type": "integer", "minimum": 0, "maximum": choose.randrange(4)},
            {"type": "string", "format": choose.choice(("date", "regex", "uuid", "time"))},
            True,
        )
    )


def _array(choose: random.Random, depth: int) -> Json:
    made: dict[str, Json] = {"type": "array"}
    if choose.random() < 0.7:
        made["uniqueItems"] = True
    if choose.random() < 0.7:
        made["items"] = _value(choose, depth + 1)
    if choose.random() < 0.2:
        made["prefixItems"] = [_value(choose, depth + 1) for _ in range(choose.randrange(1, 3))]
    if choose.random() < 0.35:
        made["contains"] = _value(choose, depth + 1)
        if choose.random() < 0.5:
            made["minContains"] = choose.randrange(3)
        if choose.random() < 0.3:
            made["maxContains"] = choose.randrange(1, 3)
    if choose.random() < 0.5:
        made["minItems"] = choose.randrange(4)
    if choose.random() < 0.3:
        made["maxItems"] = choose.randrange(2, 6)
    return made


def _object(choose: random.Random, depth: int) -> Json:
    made: dict[str, Json] = {"type": "object"}
    names = choose.sample(NAMES, choose.randrange(4))
    if names:
        made["properties"] = {name: _value(choose, depth + 1) for name in names}
    if names and choose.random() < 0.5:
        made["required"] = choose.sample(names, choose.randrange(1, len(names) + 1))
    if choose.random() < 0.3:
        made["additionalProperties"] = choose.choice((False, True, _value(choose, depth + 1)))
    if choose.random() < 0.2:
        made["patternProperties"] = {choose.choice(("^a", "b", "^.$")): _value(choose, depth + 1)}
    if choose.random() < 0.2:
        made["minProperties"] = choose.randrange(1, 4)
    if choose.random() < 0.15:
        made["propertyNames"] = choose.choice(({"maxLength": 2}, {"pattern": "^[ab]"}))
    if choose.random() < 0.15:
        made["unevaluatedProperties"] = choose.choice((False, _value(choose, depth + 1)))
    return made


def _not(choose: random.Random, depth: int) -> Json:
    return {
        "not": choose.choice(
            ({"format": "regex"}, {"format": "date"}, {"const": "a"}, _value(choose, depth + 1))
        )
    }


def _any_of(choose: random.Random, depth: int) -> Json:
    word = choose.choice(("anyOf", "oneOf", "allOf"))
    return {word: [_value(choose, depth + 1) for _ in range(choose.randrange(1, 3))]}


def look(compiler: Compiler, count: int, seed: int, walks: int = 2) -> Found:
    """Walk outputs of so many schemas."""
    found = Found()
    for number in range(count):
        name = f"{seed} {number}"
        asked = constraint(random.Random(name))
        try:
            grammar = compiler.compile(asked)
        except GrammarError:
            found.refused += 1
            continue
        if grammar.least_tokens is None:  # refused at examination (`grammar.intake.trial`)
            found.refused += 1
            continue
        walked = walk(grammar, asked.source, walks, name)
        found.walked += 1
        faults = walked.faults + ["not ended"] * walked.unended
        if faults:
            form = f"{asked.whitespace.value} {asked.key_order.value} {asked.extra_properties}"
            found.faults.append(f"{name}: {faults[0]} | {form} | {asked.source}")
    return found


def main() -> int:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    found = look(Compiler(shared().vocabulary, shared().spell), options.count, options.seed)
    print(*found.faults, sep="\n")
    print(f"{found.walked} walked, {found.refused} refused, {len(found.faults)} wrong")
    return int(bool(found.faults))


if __name__ == "__main__":
    sys.exit(main())
