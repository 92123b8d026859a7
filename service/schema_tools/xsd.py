"""JSON Schemas from XML Schemas (XSD): elements, complex and simple types of one file.

Does: read what `xml_document` can write: sequences, `all`, choices, occurrences, simple content, restrictions. Does
not: read imported files; attributes, wildcards, mixed content and substitution groups are refused by line.
"""

from typing import Any, Final, NoReturn
from xml.etree import ElementTree
from xml.parsers import expat

from .infer import DIALECT
from .source_text import SourceError, chosen_part
from .xsd_types import BUILT_IN, LINE, line_of, number_in, restricted

_NAMESPACE: Final = "http://www.w3.org/2001/XMLSchema"
_XS: Final = f"{{{_NAMESPACE}}}"
_IGNORED: Final = ("annotation", "unique", "key", "keyref")


def from_xsd(source: str, name: str | None = None) -> dict[str, Any]:
    """The schema of a global element, by default of the only one that no other refers to.

    Raises:
        SourceError: not an XSD, no such element, several by default, or a construct that cannot be translated.
    """
    if "<!DOCTYPE" in source or "<!ENTITY" in source:
        raise SourceError(1, "a document type is not read", "remove <!DOCTYPE ...>")
    root, prefixes = _parsed(source)
    if root.tag != f"{_XS}schema":
        raise SourceError(line_of(root), f"the root is {root.tag!r}, not an XML Schema")
    return _Translation(root, prefixes).of(name)


def _parsed(source: str) -> tuple[ElementTree.Element, dict[str, str]]:
    """The root, where each element has its line, and the namespaces by prefix."""
    parser, builder = expat.ParserCreate(namespace_separator="}"), ElementTree.TreeBuilder()
    prefixes: dict[str, str] = {}

    def start(tag: str, attributes: dict[str, str]) -> None:
        lined = {**attributes, LINE: str(parser.CurrentLineNumber)}
        builder.start("{" + tag if "}" in tag else tag, lined)

    def declare(prefix: str | None, address: str | None) -> None:
        prefixes[prefix or ""] = address or ""

    parser.StartElementHandler = start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data
    parser.StartNamespaceDeclHandler = declare
    try:
        parser.Parse(source, True)  # noqa: FBT003  a parameter without a name
    except expat.ExpatError as error:
        raise SourceError(error.lineno, f"not XML: {expat.ErrorString(error.code)}") from None
    return builder.close(), prefixes


class _Translation:
    def __init__(self, root: ElementTree.Element, prefixes: dict[str, str]) -> None:
        self.prefixes = prefixes
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
        found: dict[str, Any] = {"type": "string"}
        named = element.get("type")
        if named is not None:
            found = self._named(named, line_of(element))
        for child in element:
            if child.tag == f"{_XS}complexType":
                found = self._complex(child)
            elif child.tag == f"{_XS}simpleType":
                found = self._simple(child)
        fixed = element.get("fixed")
        if fixed is not None:
            number = number_in(fixed) if found.get("type") in ("integer", "number") else None
            found = {**found, "const": fixed if number is None else number}
        return {**found, **_described(element)}

    def _referred(self, name: str, line: int) -> dict[str, Any]:
        """The schema of a global element in the place of a reference to it."""
        if name not in self.elements:
            raise SourceError(line, f"there is no element {name!r}")
        key = name if name not in self.types else f"{name}.element"
        if key not in self.found:
            self.found[key] = {}
            schema = self._element(self.elements[name])
            if schema.get("type") != "object":
                del self.found[key]
                return schema
            self.found[key] = schema
        return {"$ref": f"#/$defs/{key}"}

    def _named(self, name: str, line: int) -> dict[str, Any]:
        prefix, _, local = name.rpartition(":")
        declared = local in self.types and (
            self.prefixes.get(prefix) != _NAMESPACE or local not in BUILT_IN
        )
        if declared:
            if local not in self.found:
                self.found[local] = {}
                given = self.types[local]
                is_complex = given.tag == f"{_XS}complexType"
                found = self._complex(given) if is_complex else self._simple(given)
                self.found[local] = {**found, **_described(given)}
            return {"$ref": f"#/$defs/{local}"}
        if local in BUILT_IN:
            return dict(BUILT_IN[local])
        hint = "imported types are not read; xs:anyType has no form"
        raise SourceError(line, f"the type {name!r} is not known", hint)

    def _simple(self, given: ElementTree.Element) -> dict[str, Any]:
        parts = [part for part in given if _tag(part) != "annotation"]
        if not parts or _tag(parts[0]) != "restriction":
            what = _tag(parts[0]) if parts else "an empty type"
            line = line_of(parts[0] if parts else given)
            hint = "use a restriction of one base type"
            raise SourceError(line, f"{what} is not translated", hint)
        restriction = parts[0]
        line, inner = line_of(restriction), restriction.find(f"{_XS}simpleType")
        if inner is not None:
            return restricted(self._simple(inner), restriction)
        base = self._named(restriction.get("base", "xs:string"), line)
        if "$ref" in base:
            base = dict(self.found[base["$ref"].rpartition("/")[2]])
            base.pop("description", None)
        if not base or base.get("type") == "object":
            reason = "a type of elements" if base else "itself"
            raise SourceError(line, f"a simple type is based on {reason}")
        return restricted(base, restriction)

    def _complex(self, given: ElementTree.Element) -> dict[str, Any]:
        if given.get("mixed") == "true":
            hint = "give texts elements of their own"
            raise SourceError(line_of(given), "mixed content is not translated", hint)
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
                hint = "write the content out as a sequence"
                raise SourceError(line_of(child), f"{tag} is not translated", hint)
        schema["additionalProperties"] = False
        return schema

    def _attribute(self, child: ElementTree.Element) -> NoReturn:
        raise SourceError(
            line_of(child),
            f"the attribute {child.get('name')!r} has no place in the documents that are written",
            "make it an element",
        )

    def _group(self, group: ElementTree.Element, schema: dict[str, Any]) -> None:
        """Add the elements of a sequence, or of `all`."""
        if group.get("maxOccurs", "1") != "1" or group.get("minOccurs", "1") != "1":
            hint = "state the occurrences of its elements"
            reason = f"a {_tag(group)} that is optional or repeated is not translated"
            raise SourceError(line_of(group), reason, hint)
        for child in group:
            tag = _tag(child)
            if tag == "sequence":
                self._group(child, schema)
            elif tag == "choice":
                self._choice(child, schema)
            elif tag == "element":
                self._member(child, schema, optional=False)
            elif tag not in _IGNORED:
                raise SourceError(line_of(child), f"{tag} is not translated")

    def _choice(self, group: ElementTree.Element, schema: dict[str, Any]) -> None:
        """Add the elements of a choice: one of them is there."""
        if group.get("maxOccurs", "1") != "1":
            hint = "repeat its elements"
            raise SourceError(line_of(group), "a repeated choice is not translated", hint)
        names = []
        for child in group:
            if _tag(child) in _IGNORED:
                continue
            if _tag(child) != "element" or child.get("minOccurs") == "0":
                hint = "use required elements"
                reason = f"{_tag(child)} in a choice is not translated"
                raise SourceError(line_of(child), reason, hint)
            names.append(self._member(child, schema, optional=True))
        some = [{"required": [name]} for name in names]
        none = [{"not": {"anyOf": some}}] if group.get("minOccurs") == "0" else []
        schema.setdefault("allOf", []).append({"oneOf": [*some, *none]})

    def _member(self, child: ElementTree.Element, schema: dict[str, Any], *, optional: bool) -> str:
        """Add an element; returns its name."""
        line = line_of(child)
        name = child.get("name") or (child.get("ref") or "").rpartition(":")[2]
        if name in schema["properties"]:
            hint = "let it stand once, with its occurrences"
            raise SourceError(line, f"the element {name!r} stands twice in one content", hint)
        low, high = _occurrences(child)
        if high == "0":
            return name
        referred = self._referred(name, line) if child.get("ref") else self._element(child)
        child_schema = {**referred, **_described(child)}
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


def _occurrences(element: ElementTree.Element) -> tuple[int, str]:
    low, high = element.get("minOccurs", "1").strip(), element.get("maxOccurs", "1").strip()
    for text in (low, high if high != "unbounded" else "0"):
        if not (text.isascii() and text.isdecimal()):
            raise SourceError(line_of(element), f"{text!r} is no number of occurrences")
    return int(low), high


def _described(element: ElementTree.Element) -> dict[str, str]:
    """The description that the documentation of an element or a type is, if it has one."""
    texts = [
        " ".join("".join(each.itertext()).split())
        for each in element.findall(f"{_XS}annotation/{_XS}documentation")
    ]
    note = " ".join(text for text in texts if text)
    return {"description": note} if note else {}
