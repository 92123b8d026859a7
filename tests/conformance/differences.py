"""Three readings of made-up schemas: our machine, the `jsonschema` package, llguidance.

Does: judge made-up values of one schema by all three and name the rule behind every difference. Does not: add up.

Rules: `refused: ...` (an engine does not take the schema, and says why); `unsure` (`jsonschema` fails by itself);
`llguidance takes/refuses ...` (it stands alone against two; it knows one order of members, and reads some formats and
numbers otherwise). Where ours and `jsonschema` differ no rule holds: that is a fault.
"""

import json
import random
from collections import Counter
from dataclasses import dataclass, field

from intaglio.grammar.contract.errors import GrammarError, Unsatisfiable
from intaglio.grammar.jsonschema.read.values import read
from intaglio.grammar.jsonschema.rules.language import Language
from intaglio.grammar.machine.machine import Machine

from tests.conformance import rivals
from tests.conformance.invented import Json, near, schema
from tests.conformance.validator import Doubtful, exact, validator
from tests.conformance.verdicts import ANY_FORM, accepts, written

VALUES = 12


@dataclass
class Differences:
    """Of one schema: how often which rule explains a difference, and what nothing explains."""

    compared: int = 0
    valid: int = 0
    rules: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


def compare(choose: random.Random) -> Differences:
    """A made-up schema with made-up values."""
    source = json.dumps(schema(choose))
    return compare_on(source, [near(choose, json.loads(source)) for _ in range(VALUES)])


def compare_on(source: str, values: list[Json]) -> Differences:
    """One schema; every value is judged by all."""
    found = Differences()
    judge = validator(exact(source))
    try:
        machine = Machine(Language(read(source), ANY_FORM).root)
    except Unsatisfiable:
        machine = None
    except GrammarError as error:
        found.rules[f"ours refused: {_reason(error)}"] += 1
        return found
    try:
        other = rivals.llguidance(source)
    except rivals.Refused as error:
        other = None
        found.rules[f"llguidance refused: {str(error).splitlines()[0][:60]}"] += 1
    for value in values:
        text = json.dumps(value, ensure_ascii=False)
        try:
            valid = not judge(exact(text))
        except Doubtful:
            found.rules["unsure: jsonschema cannot tell"] += 1
            continue
        found.compared += 1
        found.valid += valid
        ours = machine is not None and accepts(machine, text)
        if ours != valid:
            found.wrong.append(f"ours {ours}, jsonschema {valid}: {source} on {text}")
        if other is not None:
            in_order = written(rivals.ordered(value, json.loads(source), json.loads(source), 0))
            theirs = other(text) or other(in_order)
            if theirs != valid:
                found.rules[_explain(theirs, valid, ours)] += 1
    return found


def _explain(theirs: bool, valid: bool, ours: bool) -> str:
    alone = "alone" if ours == valid else "not alone"
    if theirs:
        return f"llguidance takes an invalid value ({alone})"
    return f"llguidance refuses a valid value: key order, or a format or number it reads otherwise ({alone})"


def _reason(error: GrammarError) -> str:
    return error.refusals[0].reason if error.refusals else error.message[:60]
