"""The keywords of a schema that nothing is enforced for, where somebody may believe otherwise.

Does: tell each with the reason: unknown words, words of another draft, formats that are annotations, words that mean
nothing where they stand. Does not: report plain annotations such as `title`.
"""

from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from ..leaves.formats import NAMES
from .dialects import DIALECTS, Dialect
from .normal import UNREACHED, Normal
from .places import Place, Schema
from .uri import step

_NOTES: Final = frozenset(
    [
        *("$anchor", "$comment", "$defs", "$dynamicAnchor", "$id", "$recursiveAnchor", "$schema"),
        *("$vocabulary", "default", "definitions", "deprecated", "description", "example"),
        *("examples", "id", "readOnly", "title", "writeOnly", "discriminator", "xml"),
        *("externalDocs", "$async", "markdownDescription"),
    ]
)
_CONTENT: Final = frozenset({"contentEncoding", "contentMediaType", "contentSchema"})
_WORDS: Final = frozenset().union(*(dialect.keywords for dialect in DIALECTS.values()))
# What a keyword needs beside it to mean anything.
_BESIDE: Final = {
    **dict.fromkeys(("then", "else"), "if"),
    **dict.fromkeys(("minContains", "maxContains"), "contains"),
    "additionalItems": "items",
}


@dataclass(frozen=True, slots=True)
class Unread:
    """One keyword at one place that changes nothing, and why."""

    where: str
    keyword: str
    reason: str


def unread(normal: Normal) -> tuple[Unread, ...]:
    """Of all sub-schemas that have been reached, in their order."""
    found: list[Unread] = []
    for place in normal.built:
        schema = normal.schemas.value(place.site)
        if isinstance(schema, dict):
            for keyword in schema:
                reason = why_unread(place, schema, keyword, normal.formats)
                if reason:
                    found.append(Unread(step(place.site.where, keyword), keyword, reason))
    return tuple(dict.fromkeys(found))


def why_unread(place: Place, schema: Schema, keyword: str, formats: bool) -> str:
    """Why a keyword is not enforced; empty where it is, or where nobody expects it to be."""
    dialect, value = place.site.dialect, schema[keyword]
    if dialect.ref_alone and "$ref" in schema:
        beside = keyword in dialect.keywords - {"$ref", "definitions"}
        return f"{dialect.name} ignores everything beside $ref" if beside else ""
    if keyword in _NOTES or keyword.startswith("x-"):
        return ""
    if keyword in _CONTENT:
        return "what a string encodes is an annotation in every draft"
    if keyword not in dialect.keywords:
        return _foreign(keyword, dialect)
    needed = _BESIDE.get(keyword)
    if needed is not None and needed not in schema:
        return f"it means nothing without {needed} beside it"
    if keyword == "format":
        return _of_format(value, formats or dialect.asserts_formats)
    if keyword == "maxLength" and isinstance(value, int) and value >= UNREACHED:
        return f"no output has a string of {UNREACHED} characters"
    return ""


def _of_format(value: object, asserted: bool) -> str:
    if not asserted:
        return "formats are annotations here"
    return "" if value in NAMES else f"{value!r} is no format of the specification"


def _foreign(keyword: str, dialect: Dialect) -> str:
    if keyword in _WORDS:
        return f"{dialect.name} has no such keyword"
    close = get_close_matches(keyword, dialect.keywords, 1, 0.8)
    return f"no such keyword; did you mean {close[0]}?" if close else "no such keyword"
