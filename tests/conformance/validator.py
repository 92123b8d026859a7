"""Documents against schemas by the `jsonschema` package: independent of the decoder.

Does: assert every format that package knows, read patterns as ECMA-262 does (through the service's translation to the
`regex` package, which the grammar does not use), keep decimals exact. Does not: fetch anything.
"""

import json
import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from functools import cache, partial
from typing import Any

import jsonschema
import jsonschema.validators
import referencing
from intaglio.service.extraction.ecma_patterns import search
from jsonschema_specifications import REGISTRY

_LEAP = re.compile(r"(\d\d):(\d\d):60(?:\.\d+)?(?:[zZ]|([+-])(\d\d):(\d\d))$")
_POSSESSIVE = re.compile(r"[*+?}]\+|\(\?>")
DEFAULT = jsonschema.validators.Draft202012Validator


class Doubtful(Exception):
    """The validator itself cannot tell."""


def exact(text: str) -> Any:
    """JSON text with its decimals kept; a key twice is an error.

    Raises:
        ValueError: it is not JSON, or has a key twice.
    """
    return json.loads(text, parse_float=Decimal, parse_constant=_refuse, object_pairs_hook=_once)


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a key twice")
    return dict(pairs)


def validator(schema: Any, formats: bool = True) -> Callable[[Any], str]:
    """A function that tells where a value breaks the schema: "" if nowhere. Both as `exact` reads them.

    It raises Doubtful where the package cannot tell.
    """
    draft = jsonschema.validators.validator_for(schema, default=DEFAULT)
    checker = _formats(draft) if formats else None
    made = _extended(draft)(schema, registry=REGISTRY, format_checker=checker)

    def fault(value: Any) -> str:
        try:
            first = next(made.iter_errors(value), None)
        except (RecursionError, referencing.exceptions.Unresolvable) as error:
            raise Doubtful(f"{type(error).__name__}: {error}") from error
        if first is None:
            return ""
        return "/".join(map(str, first.absolute_schema_path)) + f" at {list(first.absolute_path)}"

    return fault


@cache
def _formats(draft: Any) -> jsonschema.FormatChecker:
    """The formats of a draft, as their standards have them where the package differs.

    Leap seconds are among the times (RFC 3339, section 5.7), a host name has no dot at its end (RFC 1123, 2.1), and an
    address of mail has blanks only in quotation marks (RFC 5321, 4.1.2). Python reads `a++` and `(?>a)` as patterns,
    ECMA-262 does not: Doubtful.
    """
    checker = jsonschema.FormatChecker(())
    checker.checkers = dict(draft.FORMAT_CHECKER.checkers)
    for name in {"date-time", "time"} & checker.checkers.keys():
        plain, raised = checker.checkers[name]
        checker.checks(name, raised)(partial(_with_leap_seconds, plain))
    for name in {"hostname", "idn-hostname"} & checker.checkers.keys():
        plain, raised = checker.checkers[name]
        checker.checks(name, raised)(partial(_without_last_dot, plain))
    for name in {"email", "idn-email"} & checker.checkers.keys():
        plain, raised = checker.checkers[name]
        checker.checks(name, raised)(partial(_without_blanks, plain))
    if "regex" in checker.checkers:
        plain, raised = checker.checkers["regex"]
        checker.checks("regex", raised)(partial(_without_possessives, plain))
    return checker


def _without_blanks(plain: Callable[[object], bool], value: object) -> bool:
    is_plain = isinstance(value, str) and '"' not in value
    return plain(value) and not (is_plain and any(each.isspace() for each in str(value)))


def _without_possessives(plain: Callable[[object], bool], value: object) -> bool:
    if isinstance(value, str) and _POSSESSIVE.search(value) and plain(value):
        raise Doubtful(f"{value!r} may be a pattern of Python alone")
    return plain(value)


def _without_last_dot(plain: Callable[[object], bool], value: object) -> bool:
    return plain(value) and not (isinstance(value, str) and value.endswith("."))


def _with_leap_seconds(plain: Callable[[object], bool], value: object) -> bool:
    found = _LEAP.search(value) if isinstance(value, str) else None
    if found is None or not isinstance(value, str):
        return plain(value)
    hour, minute, sign, over_hours, over_minutes = found.groups()
    offset = int(over_hours or 0) * 60 + int(over_minutes or 0)
    utc = int(hour) * 60 + int(minute) - (-offset if sign == "-" else offset)
    at = found.start(2) + 3
    return utc % 1440 == 1439 and plain(value[:at] + "59" + value[at + 2 :])


@cache
def _extended(draft: Any) -> Any:
    # To draft 4 a number that is written with a point is no integer, whatever it is.
    whole = _is_plain if draft is jsonschema.validators.Draft4Validator else _is_integer
    types = draft.TYPE_CHECKER.redefine("integer", whole).redefine("number", _is_number)
    words: dict[str, Any] = {"pattern": _pattern, "patternProperties": _pattern_properties}
    words |= {"additionalProperties": _additional, "multipleOf": _multiple_of}
    # Later drafts keep it for compatibility (draft 2020-12, appendix A.1.3 of its validation part).
    words["dependencies"] = jsonschema.validators.Draft7Validator.VALIDATORS["dependencies"]
    return jsonschema.validators.extend(draft, words, type_checker=types)


def _is_number(_: Any, value: Any) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _is_integer(checker: Any, value: Any) -> bool:
    return _is_number(checker, value) and value == int(value)


def _is_plain(_: Any, value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


Errors = Iterator[jsonschema.exceptions.ValidationError]


def _multiple_of(validator: Any, step: Any, value: Any, _: Any) -> Errors:
    if _is_number(None, value) and Fraction(value) % Fraction(step):
        yield jsonschema.exceptions.ValidationError("not a multiple")


def _pattern(validator: Any, pattern: str, value: Any, _: Any) -> Errors:
    if isinstance(value, str) and not search(pattern, value):
        yield jsonschema.exceptions.ValidationError("does not match")


def _pattern_properties(validator: Any, patterns: Any, value: Any, _: Any) -> Errors:
    if isinstance(value, dict):
        for pattern, schema in patterns.items():
            for key, part in value.items():
                if search(pattern, key):
                    yield from validator.descend(part, schema, path=key, schema_path=pattern)


def _additional(validator: Any, allowed: Any, value: Any, schema: Any) -> Errors:
    if not isinstance(value, dict):
        return
    for key, part in value.items():
        patterns = schema.get("patternProperties", ())
        if key not in schema.get("properties", ()) and not any(search(p, key) for p in patterns):
            yield from validator.descend(part, allowed, path=key)
