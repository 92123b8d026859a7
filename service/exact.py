"""Numbers and equality as JSON Schema means them, for the last check: in decimals, whatever the size.

Does: the keywords that compute or compare (`multipleOf`, bounds, `const`, `enum`, `uniqueItems`) and the type
`integer`, for the `jsonschema` package, which computes in binary floats. Does not: share code with the masks, or round.
A float counts as the shortest decimal that reads back as it; whoever has the text should hand over `Decimal`s.
"""

from collections.abc import Hashable, Iterator, Mapping
from decimal import Decimal
from typing import Any, Final

from jsonschema.exceptions import ValidationError

Errors = Iterator[ValidationError]
Number = int | Decimal


def number(value: Any) -> Number | None:
    """The exact number; None for anything that is not one."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float):
        return Decimal(repr(value))
    return value if isinstance(value, int | Decimal) else None


def key(value: Any) -> Hashable:
    """The same for equal JSON values and different for others: 1.0 is 1, `true` is not 1, members have no order."""
    if isinstance(value, bool):
        return bool, value
    if isinstance(value, list):
        return list, tuple(map(key, value))
    if isinstance(value, dict):
        return dict, frozenset((name, key(member)) for name, member in value.items())
    exact = number(value)
    return value if exact is None else exact  # an int and a Decimal that are equal have one hash


def is_multiple(value: Number, step: Number) -> bool:
    """Whether `value` is a whole multiple of `step`, which is not 0; in work bounded by their digits."""
    (digits, places), (divisor, divisor_places) = _scaled(value), _scaled(step)
    shift = places - divisor_places
    if shift >= 0:
        return digits * pow(10, shift, divisor) % divisor == 0
    # A multiple of `divisor * 10 ** -shift` that is not 0 has more digits than -shift.
    return digits == 0 or (-shift < _bits(digits) and digits % (divisor * 10**-shift) == 0)


def _scaled(value: Number) -> tuple[int, int]:
    """(n, e) so that the absolute value is n * 10 ** e."""
    if isinstance(value, int):
        return abs(value), 0
    _, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int):
        raise ValueError("not a finite number")
    return int(Decimal((0, digits, 0))), exponent


def _bits(digits: int) -> int:
    """At least as many as `digits` has decimal digits."""
    return digits.bit_length()


def is_integer(_checker: Any, value: Any) -> bool:
    """Whether a value is whole, however it is written; what drafts from 6 on call an integer."""
    exact = number(value)
    return isinstance(exact, int) or (exact is not None and exact == exact.to_integral_value())


def _multiple_of(_validator: Any, step: Any, instance: Any, _schema: Any) -> Errors:
    value, divisor = number(instance), number(step)
    if value is not None and divisor is not None and not is_multiple(value, divisor):
        yield ValidationError("is not a multiple")


def _minimum(_validator: Any, bound: Any, instance: Any, schema: Mapping[str, Any]) -> Errors:
    value, least = number(instance), number(bound)
    if value is None or least is None:
        return
    # In drafts 3 and 4 `exclusiveMinimum` is a flag beside `minimum`.
    if value < least or (value == least and schema.get("exclusiveMinimum") is True):
        yield ValidationError("is less than the minimum")


def _maximum(_validator: Any, bound: Any, instance: Any, schema: Mapping[str, Any]) -> Errors:
    value, most = number(instance), number(bound)
    if value is None or most is None:
        return
    if value > most or (value == most and schema.get("exclusiveMaximum") is True):
        yield ValidationError("is greater than the maximum")


def _exclusive_minimum(_validator: Any, bound: Any, instance: Any, _schema: Any) -> Errors:
    value, least = number(instance), number(bound)
    if value is not None and least is not None and value <= least:
        yield ValidationError("is not greater than the exclusive minimum")


def _exclusive_maximum(_validator: Any, bound: Any, instance: Any, _schema: Any) -> Errors:
    value, most = number(instance), number(bound)
    if value is not None and most is not None and value >= most:
        yield ValidationError("is not less than the exclusive maximum")


def _const(_validator: Any, const: Any, instance: Any, _schema: Any) -> Errors:
    if key(instance) != key(const):
        yield ValidationError("is not the constant")


def _enum(_validator: Any, values: list[Any], instance: Any, _schema: Any) -> Errors:
    if isinstance(instance, str):
        if instance not in values:
            yield ValidationError("is not among the values")
        return
    wanted = key(instance)
    if not any(type(value) is not str and key(value) == wanted for value in values):
        yield ValidationError("is not among the values")


def _unique_items(_validator: Any, asked: Any, instance: Any, _schema: Any) -> Errors:
    if asked and isinstance(instance, list) and len(set(map(key, instance))) < len(instance):
        yield ValidationError("has equal items")


_KEYWORDS: Final[dict[str, Any]] = {
    "multipleOf": _multiple_of,
    "divisibleBy": _multiple_of,
    "minimum": _minimum,
    "maximum": _maximum,
    "exclusiveMinimum": _exclusive_minimum,
    "exclusiveMaximum": _exclusive_maximum,
    "const": _const,
    "enum": _enum,
    "uniqueItems": _unique_items,
}


def keywords(known: Mapping[str, Any]) -> dict[str, Any]:
    """The keywords of this module that a draft, whose keywords are `known`, has as well."""
    return {name: keyword for name, keyword in _KEYWORDS.items() if name in known}
