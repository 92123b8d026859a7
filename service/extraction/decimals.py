"""Exact numbers and equality for final validation, in decimals of any size.

Does: replace the keywords that compute or compare (`multipleOf`, bounds, `const`, `enum`, `uniqueItems`) and the type
`integer` of the `jsonschema` package, which computes in binary floats. Does not: share code with the masks, or round. A
float counts as the shortest decimal that reads back as it; a caller that has the text should pass `Decimal` values.
"""

from collections.abc import Hashable, Iterator, Mapping
from decimal import Decimal
from typing import Any, Final

from jsonschema.exceptions import ValidationError

Errors = Iterator[ValidationError]
Number = int | Decimal


def number(value: Any) -> Number | None:
    """The exact value of a number; None for any other value."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float):
        return Decimal(repr(value))
    return value if isinstance(value, int | Decimal) else None


def key(value: Any) -> Hashable:
    """A hashable key, equal exactly for equal JSON values: 1.0 equals 1, `true` does not, member order is ignored."""
    if isinstance(value, bool):
        return bool, value
    if isinstance(value, list):
        return list, tuple(map(key, value))
    if isinstance(value, dict):
        return dict, frozenset((name, key(member)) for name, member in value.items())
    exact = number(value)
    return value if exact is None else exact  # an int and an equal Decimal have the same hash


def is_multiple(value: Number, step: Number) -> bool:
    """Whether `value` is a multiple of `step`, which must not be 0. The work is bounded by the number of digits."""
    (digits, places), (divisor, divisor_places) = _scaled(value), _scaled(step)
    shift = places - divisor_places
    if shift >= 0:
        return digits * pow(10, shift, divisor) % divisor == 0
    # A nonzero multiple of `divisor * 10 ** -shift` has more digits than -shift.
    return digits == 0 or (-shift < _bits(digits) and digits % (divisor * 10**-shift) == 0)


def _scaled(value: Number) -> tuple[int, int]:
    """(n, e) with |value| = n * 10 ** e."""
    if isinstance(value, int):
        return abs(value), 0
    _, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int):
        raise ValueError("not a finite number")
    return int(Decimal((0, digits, 0))), exponent


def _bits(digits: int) -> int:
    """The bits of `digits`, an upper bound of its number of decimal digits."""
    return digits.bit_length()


def is_integer(_checker: Any, value: Any) -> bool:
    """Whether a number is whole in any notation: the type `integer` of draft 6 and later."""
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
    # In drafts 3 and 4 `exclusiveMinimum` is a flag that modifies `minimum`.
    if value < least or (value == least and schema.get("exclusiveMinimum") is True):
        yield ValidationError("is less than the minimum")


def _maximum(_validator: Any, bound: Any, instance: Any, schema: Mapping[str, Any]) -> Errors:
    value, limit = number(instance), number(bound)
    if value is None or limit is None:
        return
    if value > limit or (value == limit and schema.get("exclusiveMaximum") is True):
        yield ValidationError("is greater than the maximum")


def _exclusive_minimum(_validator: Any, bound: Any, instance: Any, _schema: Any) -> Errors:
    value, least = number(instance), number(bound)
    if value is not None and least is not None and value <= least:
        yield ValidationError("is not greater than the exclusive minimum")


def _exclusive_maximum(_validator: Any, bound: Any, instance: Any, _schema: Any) -> Errors:
    value, limit = number(instance), number(bound)
    if value is not None and limit is not None and value >= limit:
        yield ValidationError("is not less than the exclusive maximum")


def _const(_validator: Any, const: Any, instance: Any, _schema: Any) -> Errors:
    if key(instance) != key(const):
        yield ValidationError("is not the constant")


def _enum(_validator: Any, values: list[Any], instance: Any, _schema: Any) -> Errors:
    if isinstance(instance, str):
        if instance not in values:
            yield ValidationError("is not among the values")
        return
    instance_key = key(instance)
    if not any(type(value) is not str and key(value) == instance_key for value in values):
        yield ValidationError("is not among the values")


def _unique_items(_validator: Any, unique: Any, instance: Any, _schema: Any) -> Errors:
    if unique and isinstance(instance, list) and len(set(map(key, instance))) < len(instance):
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


def keywords(draft_keywords: Mapping[str, Any]) -> dict[str, Any]:
    """The keywords of this module that exist in a draft with the keywords `draft_keywords`."""
    return {name: keyword for name, keyword in _KEYWORDS.items() if name in draft_keywords}
