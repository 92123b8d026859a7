"""JSON Schemas from XML Schemas (XSD): elements, complex and simple types of one file.

Does: read what `xml_document` can write: sequences, `all`, choices, occurrences, simple content, restrictions. Does
not: read imported files or namespaces; wildcards, mixed content and substitution groups are refused by name.
"""

import re
from typing import Any, Final, NoReturn
from xml.etree import ElementTree

from .infer import DIALECT
from .source_text import SourceError, chosen_part, each_as

_XS: Final = "{http://www.w3.org/2001/XMLSchema}"
_BUILT_IN: Final[dict[str, dict[str, Any]]] = {
    **each_as(
        (
            "string",
            "normalizedString",
            "token",
            "anyURI",
            "NMTOKEN",
            "Name",
            "NCName",
            "ID",
            "IDREF",
            "language",
        ),
        {"type": "string"},
    ),
    **each_as(("decimal", "double", "float"), {"type": "number"}),
    **each_as(("integer", "long", "int"), {"type": "integer"}),
    "short": {"type": "integer", "minimum": -(2**15), "maximum": 2**15 - 1},
    "byte": {"type": "integer", "minimum": -128, "maximum": 127},
    "nonNegativeInteger": {"type": "integer", "minimum": 0},
    "unsignedInt": {"type": "integer", "minimum": 0, "maximum": 2**32 - 1},
    "unsignedShort": {"type": "integer", "minimum": 0, "maximum": 2**16 - 1},
    "unsignedByte": {"type": "integer", "minimum": 0, "maximum": 255},
    "positiveInteger": {"type": "integer", "minimum": 1},
    "boolean": {"type": "boolean"},
    "date": {"type": "string", "format": "date"},
    "dateTime": {"type": "string", "format": "date-time"},
    "gYear": {"type": "string", "pattern": "^-?[0-9]{4}$"},
    "base64Binary": {"type": "string", "contentEncoding": "base64"},
}
_FACETS: Final = {
    "minLength": "minLength", "maxLength": "maxLength", "minInclusive": "minimum", "maxInclusive": "maximum",
    "minExclusive": "exclusiveMinimum", "maxExclusive": "exclusiveMaximum",
}  # fmt: skip
_IGNORED: Final = (
    "annotation",
    "whiteSpace",
    "unique",
    "key",
    "keyref",
    "fractionDigits",
    "totalDigits",
)


def from_xsd(source: str, name: str | None = None) -> dict[str, Any]:
    """The schema of a global element, by default of the only one that no other refers to.

    Raises:
        SourceError: not an XSD, no such element, several by default, or a construct that cannot be translated.
    """
    if "<!DOCTYPE" in source or "<!ENTITY" in source:
        raise SourceError(1, "a document type is not read", "remove <!DOCTYPE ...>")
    try:
        root = ElementTree.fromstring(source)  # noqa: S314 - without a document type there are no entities
    except ElementTree.ParseError as error:
        raise SourceError(error.position[0], f"not XML: {error}") from None
    if root.tag != f"{_XS}schema":
        raise SourceError(1, f"the root is {root.tag!r}, not an XML Schema")
    return _Translation(root).of(name)


class _Translation:
    def __init__(self, root: ElementTree.Element) -> None:
        self.types = {
            each.get("name", ""): each
            for each in root
            if each.tag in (f"{_XS}complexType", f"{_XS}simpleType")
        }
        self.elements = {e.get("name", ""): e for e in root if e.tag == f"{_XS}element"}
        self.referenced = {
            e.get("ref", "").rpartition(":")[2] for e in root.iter(f"{_XS}element") if e.get("ref")
        }
        self.found: dict[str, Any] = {}

    def of(self, name: str | None) -> dict[str, Any]:
        roots = [each for each in self.elements if each not in self.referenced]
        chosen = chosen_part(name, "element", self.elements, roots)
        schema = {"$schema": DIALECT, "title": chosen, **self._element(self.elements[chosen])}
        return {**schema, "$defs": self.found} if self.found else schema

    def _element(self, element: ElementTree.Element) -> dict[str, Any]:
        """The schema of one occurrence of an element."""
        named = element.get("type")
        if named is not None:
            return self._named(named)
        for child in element:
            if child.tag == f"{_XS}complexType":
                return self._complex(child)
            if child.tag == f"{_XS}simpleType":
                return self._simple(child)
        return {"type": "string"}

    def _named(self, name: str) -> dict[str, Any]:
        _, _, local = name.rpartition(":")
        if local in self.types:
            if local not in self.found:
                self.found[local] = {}
                given = self.types[local]
                is_complex = given.tag == f"{_XS}complexType"
                self.found[local] = self._complex(given) if is_complex else self._simple(given)
            return {"$ref": f"#/$defs/{local}"}
        if local in _BUILT_IN:
            return dict(_BUILT_IN[local])
        raise SourceError(1, f"the type {name!r} is not known", "imported types are not read")

    def _simple(self, given: ElementTree.Element) -> dict[str, Any]:
        restriction = given.find(f"{_XS}restriction")
        if restriction is None:
            raise SourceError(
                1,
                f"{_tag(given[0]) if len(given) else 'an empty type'} is not translated",
                "use a restriction of one base type",
            )
        base = restriction.get("base", "string")
        found = (
            self._named(base) if ":" in base or base in self.types else dict(_BUILT_IN["string"])
        )
        if "$ref" in found:
            found = dict(self.found[found["$ref"].rpartition("/")[2]])
        choices: list[Any] = []
        for facet in restriction:
            value, tag = facet.get("value", ""), _tag(facet)
            if tag == "enumeration":
                choices.append(value if found.get("type") == "string" else _number(value))
            elif tag == "pattern":
                found["pattern"] = f"^(?:{value})$"
            elif tag == "length":
                found["minLength"] = found["maxLength"] = int(value)
            elif tag in _FACETS:
                found[_FACETS[tag]] = _number(value)
            elif tag not in _IGNORED:
                raise SourceError(1, f"{tag} is not translated")
        return {"enum": choices} if choices else found

    def _complex(self, given: ElementTree.Element) -> dict[str, Any]:
        if given.get("mixed") == "true":
            raise SourceError(
                1, "mixed content is not translated", "give texts elements of their own"
            )
        schema: dict[str, Any] = {"type": "object", "properties": {}, "required": []}
        for child in given:
            tag = _tag(child)
            if tag in ("sequence", "all"):
                self._group(child, schema)
            elif tag == "choice":
                self._choice(child, schema)
            elif tag == "attribute":
                self._attribute(child)
            elif tag not in _IGNORED:
                raise SourceError(
                    1, f"{tag} is not translated", "write the content out as a sequence"
                )
        schema["additionalProperties"] = False
        return schema

    def _attribute(self, child: ElementTree.Element) -> NoReturn:
        raise SourceError(
            1,
            f"the attribute {child.get('name')!r} has no place in the documents that are written",
            "make it an element",
        )

    def _group(self, group: ElementTree.Element, schema: dict[str, Any]) -> None:
        """Add the elements of a sequence, or of `all`."""
        if group.get("maxOccurs", "1") != "1" or group.get("minOccurs", "1") != "1":
            hint = "state the occurrences of its elements"
            raise SourceError(
                1, f"a {_tag(group)} that is optional or repeated is not translated", hint
            )
        for child in group:
            tag = _tag(child)
            if tag == "sequence":
                self._group(child, schema)
            elif tag == "choice":
                self._choice(child, schema)
            elif tag == "element":
                self._member(child, schema, optional=False)
            elif tag not in _IGNORED:
                raise SourceError(1, f"{tag} is not translated")

    def _choice(self, group: ElementTree.Element, schema: dict[str, Any]) -> None:
        """Add the elements of a choice: one of them is there."""
        if group.get("maxOccurs", "1") != "1":
            raise SourceError(1, "a repeated choice is not translated", "repeat its elements")
        names = []
        for child in group:
            if _tag(child) != "element" or child.get("minOccurs") == "0":
                raise SourceError(
                    1, f"{_tag(child)} in a choice is not translated", "use required elements"
                )
            names.append(self._member(child, schema, optional=True))
        some = [{"required": [name]} for name in names]
        none = [{"not": {"anyOf": some}}] if group.get("minOccurs") == "0" else []
        schema.setdefault("allOf", []).append({"oneOf": [*some, *none]})

    def _member(self, child: ElementTree.Element, schema: dict[str, Any], *, optional: bool) -> str:
        """Add an element; returns its name."""
        name = child.get("name") or (child.get("ref") or "").rpartition(":")[2]
        if child.get("ref"):
            if name not in self.elements:
                raise SourceError(1, f"there is no element {name!r}")
            child_schema = self._element(self.elements[name])
        else:
            child_schema = self._element(child)
        low, high = int(child.get("minOccurs", "1")), child.get("maxOccurs", "1")
        if high != "1":
            array: dict[str, Any] = {"type": "array", "items": child_schema}
            array |= {"minItems": low} if low else {}
            array |= {} if high == "unbounded" else {"maxItems": int(high)}
            schema["properties"][name] = array
        else:
            schema["properties"][name] = child_schema
        if low and not optional:
            schema["required"].append(name)
        return name


def _tag(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def _number(text: str) -> int | float:
    return int(text) if re.fullmatch(r"[+-]?\d+", text) else float(text)
