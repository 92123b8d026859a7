"""The drafts of JSON Schema as data: the keywords in force and the positions of sub-schemas.

Does: name the five dialects and derive one from a meta-schema's `$vocabulary`. Does not: read schemas.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from ...contract.errors import InvalidConstraint, Refusal

# Keywords with sub-schemas, by the shape of their value; that of `items` and `dependencies` depends on the draft.
ONE = frozenset([
    "additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if", "items", "not",
    "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties",
])  # fmt: skip
LISTS = frozenset(["allOf", "anyOf", "items", "oneOf", "prefixItems"])
MAPS = frozenset(
    ["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"]
)

# The one keyword of this service: an object; its member `verbatim` makes a string a substring of the document.
EXTENSION: Final = "x-intaglio"

_DRAFT4 = frozenset([
    "$ref", "additionalItems", "additionalProperties", "allOf", "anyOf", "definitions", "dependencies", "enum",
    "exclusiveMaximum", "exclusiveMinimum", "format", "items", "maxItems", "maxLength", "maxProperties", "maximum",
    "minItems", "minLength", "minProperties", "minimum", "multipleOf", "not", "oneOf", "pattern",
    "patternProperties", "properties", "required", "type", "uniqueItems", EXTENSION,
])  # fmt: skip
_DRAFT6 = _DRAFT4 | {"const", "contains", "propertyNames"}
_DRAFT7 = _DRAFT6 | {"else", "if", "then"}

# `dependencies` and `definitions` are kept from draft 7: both specifications permit them for compatibility.
_VOCABULARY_2019: dict[str, frozenset[str]] = {
    "core": frozenset({"$ref", "$defs", "definitions", "$recursiveRef", EXTENSION}),
    "applicator": frozenset([
        "additionalItems", "additionalProperties", "allOf", "anyOf", "contains", "dependencies", "dependentSchemas",
        "else", "if", "items", "not", "oneOf", "patternProperties", "properties", "propertyNames", "then",
        "unevaluatedItems", "unevaluatedProperties",
    ]),
    "validation": frozenset([
        "const", "dependentRequired", "enum", "exclusiveMaximum", "exclusiveMinimum", "maxContains", "maxItems",
        "maxLength", "maxProperties", "maximum", "minContains", "minItems", "minLength", "minProperties", "minimum",
        "multipleOf", "pattern", "required", "type", "uniqueItems",
    ]),
    "format": frozenset({"format"}),
}  # fmt: skip
_VOCABULARY_2020: dict[str, frozenset[str]] = {
    "core": frozenset({"$ref", "$defs", "definitions", "$dynamicRef", EXTENSION}),
    "applicator": (
        _VOCABULARY_2019["applicator"]
        - {"additionalItems", "unevaluatedItems", "unevaluatedProperties"}
    )
    | {"prefixItems"},
    "unevaluated": frozenset({"unevaluatedItems", "unevaluatedProperties"}),
    "validation": _VOCABULARY_2019["validation"],
    "format-annotation": frozenset({"format"}),
    "format-assertion": frozenset({"format"}),
}


@dataclass(frozen=True, slots=True)
class Dialect:
    """One draft, or a custom meta-schema derived from it.

    `keywords`: the applicators and assertions in force; all others are annotations. `ref_alone`: `$ref` hides its
    siblings. `asserts_formats`: the meta-schema itself requires that `format` is asserted.
    """

    name: str
    uri: str
    keywords: frozenset[str]
    id_keyword: str = "$id"
    ref_alone: bool = False
    asserts_formats: bool = False

    @property
    def modern(self) -> bool:
        """Whether this is 2019-09 or later: anchors, `$defs`, siblings of `$ref`."""
        return not self.ref_alone


DRAFT4 = Dialect("draft4", "http://json-schema.org/draft-04/schema", _DRAFT4, "id", ref_alone=True)
DRAFT6 = Dialect("draft6", "http://json-schema.org/draft-06/schema", _DRAFT6, ref_alone=True)
DRAFT7 = Dialect("draft7", "http://json-schema.org/draft-07/schema", _DRAFT7, ref_alone=True)
DRAFT2019 = Dialect(
    "2019-09",
    "https://json-schema.org/draft/2019-09/schema",
    frozenset().union(*_VOCABULARY_2019.values()),
)
DRAFT2020 = Dialect(
    "2020-12",
    "https://json-schema.org/draft/2020-12/schema",
    frozenset().union(*_VOCABULARY_2020.values()),
)

DIALECTS: Mapping[str, Dialect] = {
    dialect.uri: dialect for dialect in (DRAFT4, DRAFT6, DRAFT7, DRAFT2019, DRAFT2020)
}
_VOCABULARIES: Mapping[str, tuple[Dialect, Mapping[str, frozenset[str]]]] = {
    "https://json-schema.org/draft/2019-09/vocab/": (DRAFT2019, _VOCABULARY_2019),
    "https://json-schema.org/draft/2020-12/vocab/": (DRAFT2020, _VOCABULARY_2020),
}
_ANNOTATIONS = frozenset({"meta-data", "content"})


def named(uri: str) -> Dialect | None:
    """The dialect of `$schema: uri`; None if it is none of the five.

    Many schemas write `https` instead of the `http` of the draft, or name no draft, which means the latest.
    """
    return _BY_ADDRESS.get(_address(uri))


def _address(uri: str) -> str:
    return uri.rstrip("#").partition("://")[2]


_BY_ADDRESS: Final = {_address(uri): dialect for uri, dialect in DIALECTS.items()} | {
    "json-schema.org/schema": DRAFT2020
}


def from_vocabulary(uri: str, vocabulary: object, where: str) -> Dialect:
    """The dialect of a custom meta-schema, from its `$vocabulary`: vocabulary URI -> whether it is required.

    Raises:
        InvalidConstraint: a required vocabulary is unknown.
    """
    if not isinstance(vocabulary, dict):
        return replace(DRAFT2020, uri=uri)
    keywords: frozenset[str] = frozenset({EXTENSION})
    base, asserts = DRAFT2020, False
    for name, needed in vocabulary.items():
        for prefix, (dialect, known) in _VOCABULARIES.items():
            part = name.removeprefix(prefix)
            if part == name:
                continue
            base = dialect
            keywords |= known.get(part, frozenset())
            asserts = asserts or part == "format-assertion" or (part == "format" and bool(needed))
            needed = needed and part not in known and part not in _ANNOTATIONS
        if needed:
            raise InvalidConstraint(
                f"the vocabulary {name} is required but unknown",
                (Refusal(where, "$schema", f"vocabulary {name} is unknown", "remove it"),),
            )
    return replace(base, uri=uri, keywords=keywords, asserts_formats=asserts)
