"""Final validation of every document by a validator that shares no code with the decoder.

Does: validate under the draft of the schema, with formats asserted, exact numbers and local references only, in bounded
work. Does not: repair or fetch anything.
"""

import datetime
import re
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Set
from functools import cache, partial
from typing import Any
from urllib.parse import quote

import jsonschema
import jsonschema.exceptions
import jsonschema.validators
import referencing.exceptions
from jsonschema_specifications import REGISTRY
from rfc3986_validator import validate_rfc3986

from ..errors import InvalidOutput
from . import decimals
from .ecma_patterns import PatternTooCostly, PatternUnreadable, search

MAX_REFERENCES = 100_000

_UNCHECKABLE_HINT = "simplify the patterns and references of the schema"


class _ReferenceBudget(threading.local):
    """The number of references that validation in this thread may still follow; short schemas can ask for 2**60."""

    remaining = 0


class _Source(threading.local):
    """The document that verbatim strings of the value being validated in this thread must occur in."""

    document: str | None = None


_references = _ReferenceBudget()
_source = _Source()
_WHITE_SPACE = re.compile(r"\s+")


def check(value: Any, schema: Mapping[str, Any] | bool, document: str | None = None) -> None:
    """Return if `value` is valid against `schema`. A number that is not an integer should be a `Decimal` (`exact`).

    `document`: the text that verbatim strings must occur in. Without it, no string is verbatim.

    Raises:
        InvalidOutput: the value is invalid, or the check exceeded its bounds. The message holds no part of `value`.
    """
    try:
        fault = next(faults(value, schema, document), None)
    except (PatternTooCostly, PatternUnreadable, RecursionError) as error:
        raise InvalidOutput(
            f"the output cannot be checked against the schema: {type(error).__name__}",
            hint=_UNCHECKABLE_HINT,
        ) from None
    except referencing.exceptions.Unresolvable as error:
        raise InvalidOutput(
            f"the schema refers to {error.ref!r}, which is not part of it",
            hint="put the referenced schema under $defs",
        ) from None
    if fault is not None:
        place = "".join(f"/{part}" for part in fault.absolute_schema_path)
        raise InvalidOutput(
            f"the output does not meet the schema at {place or '/'}",
            hint="this is a defect of the service: please report it with the schema",
        )


def faults(
    value: Any, schema: Mapping[str, Any] | bool, document: str | None = None
) -> Iterator[jsonschema.exceptions.ValidationError]:
    """Iterate over the validation errors of `value`, under the bounds of `check`."""
    _references.remaining = MAX_REFERENCES
    _source.document = document
    yield from _validator(schema).iter_errors(value)


def verbatim_values(
    value: Any, schema: Mapping[str, Any] | bool
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """The place and the text of each string of a valid `value` that the schema declares verbatim."""
    # Without a document, each of them is a fault.
    todo = list(faults(value, schema))
    while todo:
        fault = todo.pop()
        if fault.validator == "x-intaglio":
            yield tuple(fault.absolute_path), str(fault.instance)
        todo.extend(fault.context or ())


def values_of_formats(
    value: Any, schema: Mapping[str, Any] | bool, formats: Set[str]
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """The place and the text of each string of a valid `value` that the schema requires to have one of `formats`.

    Nothing where that takes more references than a check may follow.
    """
    _references.remaining = MAX_REFERENCES
    checker = jsonschema.FormatChecker(())
    checker.checkers = dict.fromkeys(formats, (_is_no_string, ()))  # each of them is a fault
    draft = _draft(schema)
    validator = _bounded(draft)(schema, registry=REGISTRY, format_checker=checker)
    try:
        todo = deque(validator.iter_errors(value))
    except (PatternTooCostly, RecursionError):
        return
    found = dict[tuple[str | int, ...], str]()
    while todo:
        fault = todo.popleft()
        if fault.validator == "format":
            found[tuple(fault.absolute_path)] = str(fault.instance)
        todo.extend(fault.context or ())
    yield from found.items()


def _is_no_string(value: object) -> bool:
    return not isinstance(value, str)


def _validator(schema: Mapping[str, Any] | bool) -> Any:
    draft = _draft(schema)
    return _bounded(draft)(schema, registry=REGISTRY, format_checker=_formats(draft))


def _draft(schema: Mapping[str, Any] | bool) -> Any:
    """The validator of the draft that `$schema` names, under http or https; by default the latest."""
    uri = "" if isinstance(schema, bool) else str(schema.get("$schema", ""))
    for scheme in ("http", "https"):
        named = {"$schema": f"{scheme}://{uri.partition('://')[2]}"}
        draft = jsonschema.validators.validator_for(named, default=None)
        if draft is not None:
            return draft
    return jsonschema.validators.Draft202012Validator


@cache
def _formats(draft: Any) -> jsonschema.FormatChecker:
    """The format checker of `draft`, extended by IRIs and times without an offset."""
    checker = jsonschema.FormatChecker(())
    checker.checkers = dict(draft.FORMAT_CHECKER.checkers)
    for name, form in _TIMES.items():
        checker.checks(name)(partial(_is_time, form=re.compile(form, re.ASCII)))
    if "uri" in checker.checkers:
        checker.checks("iri")(partial(_is_iri, rule="URI"))
        checker.checks("iri-reference")(partial(_is_iri, rule="URI_reference"))
    return checker


# The exact forms. `datetime` accepts others too, but it checks the calendar.
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
    """Whether a value is an IRI (RFC 3987, section 3.1): escaping its non-ASCII characters gives a URI."""
    if not isinstance(value, str):
        return True
    escaped = "".join(character if character.isascii() else quote(character) for character in value)
    return validate_rfc3986(escaped, rule=rule) is not None


def _verbatim(
    validator: Any, extension: Any, instance: Any, _schema: Any
) -> Iterator[jsonschema.exceptions.ValidationError]:
    """A verbatim string is a substring of the document, or of the document with its white space folded."""
    asks = isinstance(extension, Mapping) and extension.get("verbatim") is True
    if not asks or not validator.is_type(instance, "string"):
        return
    document = _source.document
    if document is None or not (
        instance in document or instance in _WHITE_SPACE.sub(" ", document)
    ):
        yield jsonschema.exceptions.ValidationError("does not occur in the document")


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
            yield jsonschema.exceptions.ValidationError("has an additional property")
        elif allowed is not True:
            yield from validator.descend(value, allowed, path=key)


def _counted(keyword: Any) -> Any:
    """`keyword`, which follows a reference, charged to the reference budget."""

    def follow(
        validator: Any, reference: Any, instance: Any, schema: Any
    ) -> Iterator[jsonschema.exceptions.ValidationError]:
        _references.remaining -= 1
        if _references.remaining < 0:
            raise PatternTooCostly("references")
        yield from keyword(validator, reference, instance, schema) or ()

    return follow


@cache
def _bounded(draft: Any) -> Any:
    """`draft` with bounded references, ECMA-262 patterns and exact numbers."""
    keywords = draft.VALIDATORS
    types = draft.TYPE_CHECKER
    # In drafts 3 and 4 a number written with a decimal point is not an integer.
    if types.is_type(1.0, "integer"):
        types = types.redefine("integer", decimals.is_integer)
    references = {
        name: _counted(keywords[name])
        for name in ("$ref", "$dynamicRef", "$recursiveRef")
        if name in keywords
    }
    return jsonschema.validators.extend(
        draft,
        {
            **references,
            **decimals.keywords(keywords),
            "pattern": _pattern,
            "x-intaglio": _verbatim,
            "patternProperties": _pattern_properties,
            "additionalProperties": _additional_properties,
        },
        type_checker=types,
    )
