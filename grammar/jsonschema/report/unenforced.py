"""The keywords of a schema that are not enforced although a reader may expect it.

Does: report unknown keywords, keywords of another draft, formats that are annotations, and keywords without effect at
their place, each with the reason and, for a probable misspelling, the intended word. Does not: report plain annotations
such as `title`.
"""

from difflib import get_close_matches
from functools import lru_cache
from typing import Final, NamedTuple

from ...contract.coverage import Unread, UnreadKind
from ...leaves.formats import KNOWN
from ..logic.keyword_formulas import UNREACHED
from ..logic.schema_formulas import SchemaFormulas
from ..read.dialects import DIALECTS, EXTENSION, Dialect
from ..read.dynamic_scope import Place, Schema
from ..read.uri import step

# Annotations that describe a value to readers: they assert nothing.
DESCRIBING: Final = frozenset(
    [
        *("$comment", "default", "deprecated", "description", "example", "examples", "readOnly"),
        *("title", "writeOnly", "discriminator", "xml", "externalDocs", "markdownDescription"),
    ]
)
# Keywords that organise a schema document and assert nothing by themselves.
_STRUCTURE: Final = frozenset(
    [
        *("$anchor", "$defs", "$dynamicAnchor", "$id", "$recursiveAnchor", "$schema"),
        *("$vocabulary", "definitions", "id", "$async"),
    ]
)
_CONTENT: Final = frozenset({"contentEncoding", "contentMediaType", "contentSchema"})
_WORDS: Final = frozenset().union(*(dialect.keywords for dialect in DIALECTS.values()))
# The sibling that a keyword needs to have an effect.
_NEEDED_SIBLING: Final = {
    **dict.fromkeys(("then", "else"), "if"),
    **dict.fromkeys(("minContains", "maxContains"), "contains"),
    "additionalItems": "items",
}
# Words of other schema languages, spelled without case, hyphens and underscores.
_INSTEAD: Final = {
    "nullable": 'use "type": ["string", "null"]',
    "optional": "leave the property out of `required`",
    "min": "use minimum, minLength or minItems",
    "max": "use maximum, maxLength or maxItems",
    "length": "use minLength and maxLength",
    "size": "use minItems and maxItems",
    "regex": "use pattern",
    "regexp": "use pattern",
    "choices": "use enum",
    "options": "use enum",
    "values": "use enum",
    "fields": "use properties",
    "property": "use properties",
    "unique": "use uniqueItems",
}
_FORMATS_INSTEAD: Final = {
    "datetime": "date-time",
    "timestamp": "date-time",
    "mail": "email",
    "url": "uri",
    "guid": "uuid",
    "ip": "ipv4",
    "localdatetime": "date-time-local",
    "localtime": "time-local",
}
# Formats that OpenAPI registers as annotations: known, but not enforced here.
_REGISTERED: Final = frozenset(
    [
        *("base64url", "binary", "byte", "char", "commonmark", "decimal", "decimal128", "double"),
        *("double-int", "float", "html", "http-date", "int16", "int32", "int64", "int8"),
        *("media-range", "password", "sf-binary", "sf-boolean", "sf-decimal", "sf-integer"),
        *("sf-string", "sf-token", "uint8", "uint16", "uint32", "uint64"),
    ]
)
_ALIKE: Final = 0.8  # similarity of two spellings; 1: equal
_LONGEST_NAME: Final = 64  # characters; longer words are not taken for misspelt keywords


class Cause(NamedTuple):
    """Why a keyword is not enforced. Kind `unknown`: it may be misspelt; `hint`: what to write instead."""

    kind: UnreadKind
    reason: str
    hint: str = ""


def unread(formulas: SchemaFormulas) -> tuple[Unread, ...]:
    """The unenforced keywords of all sub-schemas reached so far, in order."""
    found: list[Unread] = []
    for place in formulas.built:
        schema = formulas.schemas.value(place.site)
        if isinstance(schema, dict):
            for keyword in schema:
                cause = why_unread(place, schema, keyword, formulas.formats)
                if cause is not None:
                    found.append(Unread(step(place.site.where, keyword), keyword, *cause))
    return tuple(dict.fromkeys(found))


def why_unread(place: Place, schema: Schema, keyword: str, formats: bool) -> Cause | None:
    """Why a keyword is not enforced; None if it is enforced, or if no reader expects it to be."""
    dialect, value = place.site.dialect, schema[keyword]
    if dialect.ref_alone and "$ref" in schema:
        is_ignored = keyword in dialect.keywords - {"$ref", "definitions"}
        return _annotation(f"{dialect.name} ignores all siblings of $ref") if is_ignored else None
    if keyword in DESCRIBING or keyword in _STRUCTURE:
        return None
    if keyword.startswith("x-"):
        return None if keyword == EXTENSION else _extension(keyword)
    if keyword in _CONTENT:
        return _annotation("the encoding of a string is an annotation in every draft")
    if keyword not in dialect.keywords:
        return _foreign(keyword, value, dialect)
    needed = _NEEDED_SIBLING.get(keyword)
    if needed is not None and needed not in schema:
        return _annotation(f"it has no effect without {needed} next to it")
    if keyword == "format":
        return _of_format(value, formats or dialect.asserts_formats)
    if keyword == "maxLength" and isinstance(value, int) and value >= UNREACHED:
        return _annotation(f"no output contains a string of {UNREACHED} characters")
    return None


def is_annotation(keyword: str) -> bool:
    """Whether a keyword describes a value and no reader expects it to be enforced."""
    is_foreign = keyword.startswith("x-") and _extension(keyword) is None
    return keyword in DESCRIBING or is_foreign


def _annotation(reason: str) -> Cause:
    return Cause("annotation", reason)


def _extension(keyword: str) -> Cause | None:
    """Why an x- keyword is reported: only the prefix x-intaglio is ours, all others are annotations."""
    if not keyword.startswith(EXTENSION):
        return None
    return Cause("unknown", f"the one keyword of ours is {EXTENSION}", "remove it")


def _of_format(value: object, asserted: bool) -> Cause | None:
    if not asserted:
        return _annotation("formats are annotations here")
    if not isinstance(value, str) or value in KNOWN:
        return None
    if value in _REGISTERED:
        return _annotation(f"the format {value!r} is an annotation: nothing checks it")
    meant = _meant(value, tuple(sorted(KNOWN))) or _FORMATS_INSTEAD.get(_plain(value))
    hint = f"did you mean {meant}?" if meant else "use a pattern instead"
    return Cause("unknown", f"{_short(value)!r} is not a known format", hint)


def _foreign(keyword: str, value: object, dialect: Dialect) -> Cause:
    if keyword in _WORDS:
        reason = f"{dialect.name} has no such keyword"
        return Cause(
            "unknown", reason, "use the equivalent of that draft, or name another draft in $schema"
        )
    meant = _meant(keyword, tuple(sorted(dialect.keywords | DESCRIBING | _STRUCTURE)))
    hint = f"did you mean {meant}?" if meant else _INSTEAD.get(_plain(keyword), "")
    if not hint and isinstance(value, dict):
        hint = "a property of that name belongs under `properties`"
    return Cause("unknown", "there is no such keyword", hint)


@lru_cache(1024)
def _meant(word: str, known: tuple[str, ...]) -> str | None:
    """The known word of a misspelling: it differs in case, hyphens or underscores, or else in a letter or two."""
    if len(word) > _LONGEST_NAME:
        return None
    plain = {_plain(name): name for name in known}
    if _plain(word) in plain:
        return plain[_plain(word)]
    close = get_close_matches(_plain(word), plain, 1, _ALIKE)
    return plain[close[0]] if close else None


def _plain(word: str) -> str:
    return word.casefold().replace("-", "").replace("_", "")


def _short(word: str) -> str:
    return word if len(word) <= _LONGEST_NAME else word[:_LONGEST_NAME] + "…"
