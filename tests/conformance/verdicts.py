"""Judges one group by the byte machine, and the same by a validator that shares no code with it.

Does: write instances as text, feed them, tell right from wrong. Does not: add up (`report`).
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum

import jsonschema
import numpy as np
import referencing
import referencing.exceptions
from intaglio.grammar.contract.constraint import Whitespace
from intaglio.grammar.contract.errors import GrammarError, Unsatisfiable
from intaglio.grammar.jsonschema.read.values import Json
from intaglio.grammar.jsonschema.read.writing_options import Options
from intaglio.grammar.jsonschema.rules.language import Language
from intaglio.grammar.machine.cursor import Cursor
from intaglio.grammar.machine.machine import Machine
from jsonschema import validators
from referencing.jsonschema import DRAFT202012

from tests.conformance.cases import Group, Instance

ANY_FORM = Options(any_order=True, whitespace=Whitespace.LENIENT, any_text=True)
VALIDATORS = {
    "draft4": validators.Draft4Validator,
    "draft6": validators.Draft6Validator,
    "draft7": validators.Draft7Validator,
    "2019-09": validators.Draft201909Validator,
    "2020-12": validators.Draft202012Validator,
}


class Verdict(StrEnum):
    """What became of one instance."""

    RIGHT = "right"
    WRONG_ACCEPT = "wrong accept"
    WRONG_REJECT = "wrong reject"
    REFUSED = "refused"  # the schema was
    LATE = "late"  # an error after the schema was taken


@dataclass(frozen=True)
class Judged:
    """One instance with its verdict; `reason` where it was refused."""

    name: str
    verdict: Verdict
    reason: str = ""


def written(value: Json, blank: str = "", indent: str = "\n") -> str:
    """JSON text: members in the order they have, decimals as they were; `blank` > "" puts everything on lines."""
    inner = indent + blank
    colon = ": " if blank else ":"
    start, end = (inner, indent) if blank else ("", "")
    if isinstance(value, dict) and value:
        members = (
            f"{json.dumps(key, ensure_ascii=False)}{colon}{written(part, blank, inner)}"
            for key, part in value.items()
        )
        return "{" + start + f",{start}".join(members) + end + "}"
    if isinstance(value, list) and value:
        return "[" + start + f",{start}".join(written(v, blank, inner) for v in value) + end + "]"
    if isinstance(value, Decimal):
        return format(value, "f")
    return json.dumps(value, ensure_ascii=False)


def accepts(machine: Machine, text: str) -> bool:
    """Whether the machine takes the whole text."""
    cursor = Cursor(machine)
    data = np.frombuffer(text.encode(), np.uint8)
    if not cursor.read(data):
        return False
    cursor.commit(data, 0)
    return cursor.can_end()


def ours(group: Group, registry: Mapping[str, Json], options: Options = ANY_FORM) -> list[Judged]:
    """Every instance of a group: compact and on lines, both have to come out the same."""
    own = replace(options, formats=group.formats)
    try:
        machine = Machine(Language(group.schema, own, registry, group.dialect).root)
    except Unsatisfiable:
        return [_verdict(test, accepted=False) for test in group.instances]
    except GrammarError as error:
        keyword = error.refusals[0].keyword if error.refusals else error.code
        reason = f"{keyword}: {error.message}"
        return [Judged(test.name, Verdict.REFUSED, reason) for test in group.instances]
    return [_fed(machine, test, own) for test in group.instances]


def _fed(machine: Machine, test: Instance, options: Options) -> Judged:
    texts = [written(test.data)]
    if options.whitespace is Whitespace.LENIENT:
        texts.append(written(test.data, "  "))
    try:
        results = {accepts(machine, text) for text in texts}
    except GrammarError as error:
        return Judged(test.name, Verdict.LATE, error.message)
    # Should the forms differ, one of them is wrong.
    return _verdict(test, accepted=test.valid if results == {test.valid} else not test.valid)


def _verdict(test: Instance, accepted: bool) -> Judged:
    if accepted == test.valid:
        return Judged(test.name, Verdict.RIGHT)
    return Judged(test.name, Verdict.WRONG_ACCEPT if accepted else Verdict.WRONG_REJECT)


def theirs(group: Group, registry: Mapping[str, Json]) -> Iterator[Judged]:
    """The same by the `jsonschema` package, on the values."""
    resources = [
        (
            uri,
            referencing.Resource.from_contents(_plain(schema), DRAFT202012),
        )
        for uri, schema in registry.items()
        if isinstance(schema, dict | bool)
    ]
    known = referencing.Registry().with_resources(resources)
    schema = _plain(group.schema)
    default = VALIDATORS[group.dialect.name]
    kind = jsonschema.validators.validator_for(schema, default) if schema is not True else default
    checker = kind.FORMAT_CHECKER if group.formats else None
    validator = kind(schema, registry=known, format_checker=checker)
    for test in group.instances:
        try:
            accepted = validator.is_valid(_plain(test.data))
        except (
            referencing.exceptions.Unresolvable,
            ValueError,
            TypeError,
            RecursionError,
        ) as error:
            yield Judged(test.name, Verdict.LATE, type(error).__name__)
        except Exception as error:  # noqa: BLE001 - what a foreign validator raises on odd schemas is its verdict
            yield Judged(test.name, Verdict.LATE, type(error).__name__)
        else:
            yield _verdict(test, accepted)


def _plain(value: Json) -> Json:
    """Decimals as floats, which is what that package expects."""
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_plain(part) for part in value]
    return float(value) if isinstance(value, Decimal) else value
