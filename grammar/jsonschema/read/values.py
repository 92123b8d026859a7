"""JSON values as hashable Python values with the equality of JSON Schema.

Does: read JSON text without losing digits, convert it to canonical values, and canonical values back. Does not: know
about schemas.

A canonical value is None, a `Truth`, an int or a Fraction (1.0 is 1), a str, a `List` or a `Map`; `Truth`
distinguishes `true` from 1, which are equal in Python.
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

from ...base.strict_json import InvalidJson, parse_json
from ...contract.errors import ConstraintTooLarge, InvalidConstraint

Json: TypeAlias = object
Value: TypeAlias = Hashable

# Numbers with larger exponents are extremely long when written out, and beyond the range of doubles.
LARGEST_EXPONENT = 400


@dataclass(frozen=True, slots=True)
class Truth:
    """A JSON boolean."""

    value: bool


@dataclass(frozen=True, slots=True)
class List:
    """A JSON array."""

    items: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Map:
    """A JSON object; the order of its members is irrelevant."""

    members: frozenset[tuple[str, Value]]


TRUE, FALSE = Truth(True), Truth(False)  # noqa: FBT003


def number(value: float | Decimal | Fraction, largest: int = LARGEST_EXPONENT) -> int | Fraction:
    """The exact number; an int if it is whole. A float stands for its shortest decimal.

    Raises:
        ConstraintTooLarge: its exponent is beyond `largest`, or it is not finite.
    """
    if isinstance(value, int):
        return value
    if isinstance(value, Fraction):
        exact = value
    else:
        decimal = value if isinstance(value, Decimal) else Decimal(repr(value))
        if decimal.is_zero():
            return 0
        if not decimal.is_finite() or abs(decimal.adjusted()) > largest:
            raise ConstraintTooLarge(f"the number {value} is too large or too small")
        exact = Fraction(decimal)
    return exact.numerator if exact.denominator == 1 else exact


def canonical(value: Json, largest: int = LARGEST_EXPONENT) -> Value:
    """The canonical value of a value as `json` returns it (numbers: int, float or Decimal); `largest`: see `number`.

    Raises:
        ConstraintTooLarge: see `number`.
        TypeError: `value` is not a type that `json` returns.
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return TRUE if value else FALSE
    if isinstance(value, int | float | Decimal):
        return number(value, largest)
    if isinstance(value, list):
        return List(tuple(canonical(item, largest) for item in value))
    if isinstance(value, dict):
        return Map(frozenset((key, canonical(item, largest)) for key, item in value.items()))
    raise TypeError(f"not a JSON value: {type(value).__name__}")


def plain(value: Value) -> Json:
    """A canonical value as `json` would return it; the members of a map are sorted by name."""
    if isinstance(value, Truth):
        return value.value
    if isinstance(value, List):
        return [plain(item) for item in value.items]
    if isinstance(value, Map):
        return {key: plain(item) for key, item in sorted(value.members, key=lambda m: m[0])}
    return value


def read(text: str | bytes) -> Json:
    """Parse JSON strictly: one value, UTF-8, no NaN or Infinity, no duplicate key. Decimals keep all their digits.

    Raises:
        InvalidConstraint: `text` is not JSON, or nested too deeply.
    """
    try:
        source = text.decode("utf-8") if isinstance(text, bytes) else text
        value: Json = parse_json(source, exact=True)
    except UnicodeDecodeError:
        raise InvalidConstraint("the schema is not JSON: not UTF-8") from None
    except InvalidJson as error:
        raise InvalidConstraint(f"the schema is not JSON: {error}") from error
    return value


def read_all(documents: Iterable[tuple[str, str]]) -> dict[str, Json]:
    """Other schema documents by URI, without the empty fragment.

    Raises:
        InvalidConstraint: a document is not JSON, has no absolute URI, or occurs twice.
    """
    found: dict[str, Json] = {}
    for uri, text in documents:
        name = uri.removesuffix("#")
        if ":" not in name or "#" in name or name in found:
            raise InvalidConstraint(f"a schema must be given once, under an absolute URI: {uri!r}")
        try:
            found[name] = read(text)
        except InvalidConstraint as error:
            raise InvalidConstraint(f"{uri}: {error.message}") from error
    return found
