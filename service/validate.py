"""The last word on every document: does it meet its schema, by a validator that shares no code with the decoder.

Does: validate under the schema's own draft, formats asserted, numbers exact, references resolved locally only, in
bounded work. Does not: repair anything, or fetch anything.
"""

import datetime
import re
import threading
from collections.abc import Iterator, Mapping
from functools import cache, partial
from typing import Any
from urllib.parse import quote

import jsonschema
import jsonschema.exceptions
import jsonschema.validators
import referencing.exceptions
from jsonschema_specifications import REGISTRY
from rfc3986_validator import validate_rfc3986

from . import exact
from .errors import InvalidOutput
from .patterns import PatternTooCostly, PatternUnreadable, search

MOST_REFERENCES = 100_000

_UNCHECKABLE_HINT = "simplify the patterns and references of the schema"


class _Fuel(threading.local):
    """References that the validation in this thread may still follow; short schemas can ask for 2**60."""

    left = 0


_fuel = _Fuel()


def check(value: Any, schema: Mapping[str, Any] | bool) -> None:
    """Return where `value` is valid against `schema`. A number that is no integer should be a `Decimal` (`exact`).

    Raises:
        InvalidOutput: it is not, or that cannot be found out within bounds. The message holds nothing of `value`.
    """
    try:
        fault = next(faults(value, schema), None)
    except (PatternTooCostly, PatternUnreadable, RecursionError) as error:
        raise InvalidOutput(
            f"the output cannot be checked against the schema: {type(error).__name__}",
            hint=_UNCHECKABLE_HINT,
        ) from None
    except referencing.exceptions.Unresolvable as error:
        raise InvalidOutput(
            f"the schema refers to {error.ref!r}, which is not part of it",
            hint="put what is referred to under $defs",
        ) from None
    if fault is not None:
        place = "".join(f"/{part}" for part in fault.absolute_schema_path)
        raise InvalidOutput(
            f"the output does not meet the schema at {place or '/'}",
            hint="this is a defect of the service: please report it with the schema",
        )


def faults(
    value: Any, schema: Mapping[str, Any] | bool
) -> Iterator[jsonschema.exceptions.ValidationError]:
    """Where `value` is not valid, one by one. Raises what looking for them raises, under the bounds of `check`."""
    _fuel.left = MOST_REFERENCES
    yield from _validator(schema).iter_errors(value)


def _validator(schema: Mapping[str, Any] | bool) -> Any:
    draft = _draft(schema)
    return _bounded(draft)(schema, registry=REGISTRY, format_checker=_formats(draft))


def _draft(schema: Mapping[str, Any] | bool) -> Any:
    """The validator of the draft that the schema names, with either scheme; else that of the latest."""
    uri = "" if isinstance(schema, bool) else str(schema.get("$schema", ""))
    for scheme in ("http", "https"):
        named = {"$schema": f"{scheme}://{uri.partition('://')[2]}"}
        draft = jsonschema.validators.validator_for(named, default=None)
        if draft is not None:
            return draft
    return jsonschema.validators.Draft202012Validator


@cache
def _formats(draft: Any) -> jsonschema.FormatChecker:
    """The formats of `draft`, IRIs and times without an offset among them."""
    checker = jsonschema.FormatChecker(())
    checker.checkers = dict(draft.FORMAT_CHECKER.checkers)
    for name, form in _TIMES.items():
        checker.checks(name)(partial(_is_time, form=re.compile(form, re.ASCII)))
    if "uri" in checker.checkers:
        checker.checks("iri")(partial(_is_iri, rule="URI"))
        checker.checks("iri-reference")(partial(_is_iri, rule="URI_reference"))
    return checker


# In full what `datetime` reads beside other spellings; the calendar is its to judge.
_HOUR_MINUTE = r"(?:[01]\d|2[0-3]):[0-5]\d"
_CLOCK = rf"{_HOUR_MINUTE}(?::[0-5]\d)?"
_ZONED_CLOCK = rf"{_HOUR_MINUTE}(?::[0-5]\d(?:\.\d{{1,9}})?)?(?:Z|[+-]{_HOUR_MINUTE})?"
_DAY = r"\d{4}-\d\d-\d\dT"
_TIMES = {
    "date-time-local": _DAY + _CLOCK,
    "time-local": _CLOCK,
    "iso-date-time": _DAY + _ZONED_CLOCK,
    "iso-time": _ZONED_CLOCK,
}


def _is_time(value: object, form: "re.Pattern[str]") -> bool:
    if not isinstance(value, str):
        return True
    if form.fullmatch(value) is None:
        return False
    kind = datetime.datetime if "T" in value else datetime.time
    try:
        kind.fromisoformat(value)
    except ValueError:
        return False
    return True


def _is_iri(value: object, rule: str) -> bool:
    """RFC 3987, section 3.1: an IRI is what becomes a URI once its characters beyond ASCII are escaped."""
    if not isinstance(value, str):
        return True
    escaped = "".join(sign if sign.isascii() else quote(sign) for sign in value)
    return validate_rfc3986(escaped, rule=rule) is not None


def _pattern(
    validator: Any, pattern: str, instance: Any, _schema: Any
) -> Iterator[jsonschema.exceptions.ValidationError]:
    if validator.is_type(instance, "string") and not search(pattern, instance):
        yield jsonschema.exceptions.ValidationError("does not match the pattern")


def _pattern_properties(
    validator: Any, patterns: Mapping[str, Any], instance: Any, _schema: Any
) -> Iterator[jsonschema.exceptions.ValidationError]:
    if not validator.is_type(instance, "object"):
        return
    for pattern, schema in patterns.items():
        for key, value in instance.items():
            if search(pattern, key):
                yield from validator.descend(value, schema, path=key, schema_path=pattern)


def _additional_properties(
    validator: Any, allowed: Any, instance: Any, schema: Mapping[str, Any]
) -> Iterator[jsonschema.exceptions.ValidationError]:
    if not validator.is_type(instance, "object"):
        return
    named, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    for key, value in instance.items():
        if key in named or any(search(pattern, key) for pattern in patterns):
            continue
        if allowed is False:
            yield jsonschema.exceptions.ValidationError("has a property too many")
        elif allowed is not True:
            yield from validator.descend(value, allowed, path=key)


def _metered(keyword: Any) -> Any:
    """`keyword`, which follows a reference, on a meter."""

    def follow(
        validator: Any, reference: Any, instance: Any, schema: Any
    ) -> Iterator[jsonschema.exceptions.ValidationError]:
        _fuel.left -= 1
        if _fuel.left < 0:
            raise PatternTooCostly("references")
        yield from keyword(validator, reference, instance, schema) or ()

    return follow


@cache
def _bounded(draft: Any) -> Any:
    """`draft` with its references on a meter, its patterns read as ECMA-262 and its numbers exact."""
    words = draft.VALIDATORS
    types = draft.TYPE_CHECKER
    if types.is_type(1.0, "integer"):  # to drafts 3 and 4 what is written with a point is none
        types = types.redefine("integer", exact.is_integer)
    references = {
        name: _metered(words[name])
        for name in ("$ref", "$dynamicRef", "$recursiveRef")
        if name in words
    }
    return jsonschema.validators.extend(
        draft,
        {
            **references,
            **exact.keywords(words),
            "pattern": _pattern,
            "patternProperties": _pattern_properties,
            "additionalProperties": _additional_properties,
        },
        type_checker=types,
    )
