"""Simple types of XML Schema: the built-in ones, and restrictions by facets.

Does: give the JSON Schema of each. Does not: read elements or complex types (`xsd`).
"""

import re
from typing import Any, Final
from xml.etree import ElementTree

from .source_text import SourceError, each_as
from .xsd_patterns import UnknownPattern, ecma_pattern

LINE: Final = "{}line"  # the attribute with the line of an element
_ZONE: Final = r"(Z|[+-](0[0-9]|1[0-3]):[0-5][0-9]|[+-]14:00)?"
_YEAR: Final = "-?([1-9][0-9]{3,8}|0[0-9]{3})"
_MONTH: Final = "(0[1-9]|1[0-2])"
_DAY: Final = "(0[1-9]|[12][0-9]|3[01])"
_SECONDS: Final = r"[0-9]{1,9}(\.[0-9]{1,9})?S"
_N: Final = "[0-9]{1,9}"
_CLOCK: Final = f"T({_N}H({_N}M)?({_SECONDS})?|{_N}M({_SECONDS})?|{_SECONDS})"
_DURATION: Final = (
    f"-?P({_N}Y({_N}M)?({_N}D)?({_CLOCK})?|{_N}M({_N}D)?({_CLOCK})?|{_N}D({_CLOCK})?|{_CLOCK})"
)


def _written(pattern: str) -> dict[str, Any]:
    return {"type": "string", "pattern": f"^{pattern}$"}


def _whole(least: int | None, most: int | None) -> dict[str, Any]:
    bounds = {"minimum": least, "maximum": most}
    return {"type": "integer", **{key: value for key, value in bounds.items() if value is not None}}


BUILT_IN: Final[dict[str, dict[str, Any]]] = {
    **each_as(("string", "normalizedString", "token", "anyURI", "NMTOKEN", "NMTOKENS", "Name", "NCName", "QName", "ID",
        "IDREF", "IDREFS", "ENTITY", "anySimpleType"), {"type": "string"}),
    **each_as(("decimal", "double", "float"), {"type": "number"}),
    "integer": _whole(None, None),
    "nonNegativeInteger": _whole(0, None),
    "positiveInteger": _whole(1, None),
    "nonPositiveInteger": _whole(None, 0),
    "negativeInteger": _whole(None, -1),
    **{name: _whole(-(2**bits), 2**bits - 1) for name, bits in (("long", 63), ("int", 31), ("short", 15), ("byte", 7))},
    **{f"unsigned{name}": _whole(0, 2**bits - 1)
       for name, bits in (("Long", 64), ("Int", 32), ("Short", 16), ("Byte", 8))},
    "boolean": {"type": "boolean"},
    "language": _written("[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*"),
    "date": {"type": "string", "format": "date"},
    "dateTime": {"type": "string", "format": "iso-date-time"},
    "time": {"type": "string", "format": "iso-time"},
    "duration": _written(_DURATION),
    "gYear": _written(_YEAR + _ZONE),
    "gYearMonth": _written(f"{_YEAR}-{_MONTH}{_ZONE}"),
    "gMonth": _written(f"--{_MONTH}{_ZONE}"),
    "gDay": _written(f"---{_DAY}{_ZONE}"),
    "gMonthDay": _written(f"--{_MONTH}-{_DAY}{_ZONE}"),
    "hexBinary": {**_written("([0-9A-Fa-f]{2})*"), "contentEncoding": "base16"},
    "base64Binary": {"type": "string", "contentEncoding": "base64"},
}  # fmt: skip
_LENGTHS: Final = {
    "length": ("minLength", "maxLength"),
    "minLength": ("minLength",),
    "maxLength": ("maxLength",),
}
_BOUNDS: Final = {
    "minInclusive": "minimum", "maxInclusive": "maximum",
    "minExclusive": "exclusiveMinimum", "maxExclusive": "exclusiveMaximum",
}  # fmt: skip
_DIGITS: Final = ("totalDigits", "fractionDigits")
_WITHOUT_EFFECT: Final = ("annotation", "whiteSpace", "simpleType")


def restricted(base: dict[str, Any], restriction: ElementTree.Element) -> dict[str, Any]:
    """The schema of a restriction of the simple type with the schema `base`.

    Raises:
        SourceError: a facet that cannot be stated for the type, or that has no value.
    """
    found, choices, patterns = dict(base), list[Any](), list[str]()
    digits: dict[str, int] = {}
    numeric = base.get("type") in ("integer", "number") or _has_numbers(base.get("enum", ()))
    for facet in restriction:
        tag, value = facet.tag.rpartition("}")[2], facet.get("value", "")
        if tag == "enumeration":
            choices.append(_number(facet) if numeric else value)
        elif tag == "pattern":
            patterns.append(_pattern(facet, numeric=numeric))
        elif tag in _LENGTHS:
            if "contentEncoding" in base:
                raise SourceError(line_of(facet), f"the {tag} of bytes is not translated")
            found.update(dict.fromkeys(_LENGTHS[tag], _count(facet)))
        elif tag in _BOUNDS:
            if not numeric:
                hint = "leave it out, and state it in the documentation"
                raise SourceError(line_of(facet), f"{tag} of a text is not translated", hint)
            found[_BOUNDS[tag]] = _number(facet)
        elif tag in _DIGITS:
            digits[tag] = _count(facet)
        elif tag not in _WITHOUT_EFFECT:
            raise SourceError(line_of(facet), f"{tag} is not translated")
    _limit_digits(found, digits)
    if patterns:
        _add_pattern(found, patterns)
    if choices:
        return {
            "enum": choices,
            **{key: found[key] for key in ("pattern", "allOf") if key in found},
        }
    return found


def line_of(element: ElementTree.Element) -> int:
    """The line of an element of the source."""
    return int(element.get(LINE, "1"))


def number_in(text: str) -> int | float | None:
    """The number that a text is; None for other texts and for infinities."""
    if re.fullmatch(r"\s*[+-]?\d{1,400}\s*", text):
        return int(text)
    decimal = re.fullmatch(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,2})?\s*", text)
    return float(text) if decimal else None


def _has_numbers(values: Any) -> bool:
    return any(isinstance(value, int | float) for value in values)


def _number(facet: ElementTree.Element) -> int | float:
    found = number_in(facet.get("value", ""))
    if found is None:
        tag = facet.tag.rpartition("}")[2]
        raise SourceError(line_of(facet), f"{tag}: {facet.get('value')!r} is no number")
    return found


def _count(facet: ElementTree.Element) -> int:
    found = _number(facet)
    if not isinstance(found, int) or found < 0:
        tag = facet.tag.rpartition("}")[2]
        raise SourceError(line_of(facet), f"{tag}: {facet.get('value')!r} is no count")
    return found


def _pattern(facet: ElementTree.Element, *, numeric: bool) -> str:
    if numeric:
        hint = "restrict its bounds, or a text"
        raise SourceError(line_of(facet), "the pattern of a number is not translated", hint)
    try:
        return ecma_pattern(facet.get("value", ""))
    except UnknownPattern as error:
        raise SourceError(line_of(facet), f"{error} in a pattern is not translated") from None


def _add_pattern(found: dict[str, Any], patterns: list[str]) -> None:
    """Require one of the patterns of a restriction, and the patterns of its base too."""
    one = "|".join(patterns)
    whole = f"^(?:{one})$"
    if "pattern" in found:
        found["allOf"] = [*found.get("allOf", ()), {"pattern": whole}]
    else:
        found["pattern"] = whole


def _limit_digits(found: dict[str, Any], digits: dict[str, int]) -> None:
    """State the digits of a number: of its fraction, and in all."""
    fraction, total = digits.get("fractionDigits"), digits.get("totalDigits")
    if found.get("type") == "integer":
        fraction = 0
    if total is not None:
        places = range(min(fraction or 0, total) + 1)
        ways = [{**_step(place), **_below(10 ** (total - place))} for place in places]
        if fraction is None:
            ways = [_below(10**total)]
        found["allOf"] = [*found.get("allOf", ()), ways[0] if len(ways) == 1 else {"anyOf": ways}]
    elif fraction is not None:
        found.update(_step(fraction))


def _step(places: int) -> dict[str, Any]:
    return {"multipleOf": float(f"1e-{places}")} if places else {"type": "integer"}


def _below(limit: int) -> dict[str, Any]:
    return {"exclusiveMinimum": -limit, "exclusiveMaximum": limit}
