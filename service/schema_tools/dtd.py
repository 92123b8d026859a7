"""JSON Schemas from document type definitions (DTD): the declared elements of one file.

Does: read what `xml_document` can write: sequences, choices, occurrences, text, empty elements. Does not: read entities
or other files; mixed content, `ANY`, repeated groups and required attributes are refused by line.
"""

import re
from typing import Any, Final

from .infer import DIALECT
from .source_text import SourceError, Word, Words, chosen_part

_TOKEN: Final = re.compile(
    r"(?P<space>\s+)|(?P<comment><!--(?:(?!--).)*-->|<\?(?:(?!\?>).)*\?>)"
    r"|(?P<open><![A-Z]+)|(?P<quoted>\"[^\"]*\"|'[^']*')|(?P<name>#?[A-Za-z_:][\w:.-]*)|(?P<sign>[(),|?*+>%&;\[\]])",
    re.DOTALL,
)
_OCCURRENCES: Final = {"?": (0, 1), "*": (0, None), "+": (1, None)}
_REPEATED: Final = "repeat its elements one by one, or give the group an element of its own"
_ATTRIBUTE: Final = "make it an element"


def from_dtd(source: str, name: str | None = None) -> dict[str, Any]:
    """The schema of an element, by default of the root that a document type names, or the only one in no other.

    Raises:
        SourceError: not a DTD, no such element, several by default, or a construct that cannot be translated.
    """
    declarations = _Declarations(source)
    contents = declarations.read()
    chosen = chosen_part(name, "element", contents, declarations.roots())
    schema = {"$schema": DIALECT, "title": chosen, **contents[chosen]}
    used = _used(chosen, contents)
    return {**schema, "$defs": {each: contents[each] for each in used}} if used else schema


def _used(root: str, contents: dict[str, dict[str, Any]]) -> list[str]:
    """The elements with children that an element refers to, directly or not."""
    waiting, found = [root], dict[str, None]()
    while waiting:
        for part in contents[waiting.pop()].get("properties", {}).values():
            _, _, target = part.get("items", part).get("$ref", "").rpartition("/")
            if target and target not in found:
                found[target] = None
                waiting.append(target)
    return list(found)


class _Declarations:
    """The declarations of a DTD, read one after the other."""

    def __init__(self, source: str) -> None:
        self.words = Words(source, _TOKEN)
        self.declared: dict[str, tuple[dict[str, Any], list[tuple[str, int]]]] = {}
        self.root: str | None = None  # that a document type names

    def read(self) -> dict[str, dict[str, Any]]:
        """The schema of each element by its name, in which other elements are references."""
        self._internal_subset()
        while self.words.here.kind != "end":
            self._declaration()
        return {name: self._linked(*found) for name, found in self.declared.items()}

    def roots(self) -> list[str]:
        """The root that a document type names, else the elements that are in no other; those with children if any."""
        if self.root in self.declared:
            return [self.root]
        inside = {
            child
            for name, (_, children) in self.declared.items()
            for child, _ in children
            if child != name
        }
        outside = [name for name in self.declared if name not in inside]
        return [name for name in outside if self.declared[name][1]] or outside

    def _internal_subset(self) -> None:
        """Skip the frame around the declarations of a whole document: `<!DOCTYPE name [`."""
        if self.words.skip("<!DOCTYPE"):
            self.root = self.words.name()
            self.words.expect("[")

    def _declaration(self) -> None:
        word = self.words.take()
        if word.text == "<!ELEMENT":
            self._element()
        elif word.text == "<!ATTLIST":
            self._attributes()
        elif word.text == "<!NOTATION":
            while self.words.take().text not in (">", ""):
                pass
        elif word.text == "]":
            self.words.expect(">")
        elif word.text in ("<!ENTITY", "%", "&"):
            raise SourceError(word.line, "entities are not read", "write their text in their place")
        else:
            raise SourceError(word.line, f"{word.text!r} begins no declaration")

    def _element(self) -> None:
        described = self.words.comment_at(self.words.here.line).strip("<!->? ")
        line, name = self.words.here.line, self.words.name()
        if name in self.declared:
            raise SourceError(line, f"the element {name!r} is declared twice")
        schema, children = self._content()
        self.words.expect(">")
        if described:
            schema["description"] = described
        self.declared[name] = schema, children

    def _content(self) -> tuple[dict[str, Any], list[tuple[str, int]]]:
        """The schema of a content, and the elements in it with their lines."""
        word = self.words.here
        if self.words.skip("EMPTY"):
            return {"type": "null"}, []
        if self.words.skip("ANY"):
            raise SourceError(word.line, "ANY is not translated", "name the elements")
        self.words.expect("(")
        if self.words.skip("#PCDATA"):
            if self.words.here.text == "|":
                hint = "give texts elements of their own"
                raise SourceError(word.line, "mixed content is not translated", hint)
            self.words.expect(")")
            self.words.skip("*")
            return {"type": "string"}, []
        schema: dict[str, Any] = {"type": "object", "properties": {}, "required": []}
        children: list[tuple[str, int]] = []
        self._group(schema, children)
        schema["additionalProperties"] = False
        return schema, children

    def _group(self, schema: dict[str, Any], children: list[tuple[str, int]]) -> None:
        """Read a group after its `(` with its occurrence, and add its elements to the schema of an object."""
        line, members, groups, separator = self.words.here.line, list[str](), 0, ""
        begun = len(children)
        while True:
            if self.words.skip("("):
                groups += 1
                self._group(schema, children)
            else:
                members.append(self._member(schema, children))
            sign = self.words.take()
            if sign.text == ")":
                break
            separator = self._separator(sign, separator)
        is_choice = separator == "|"
        if is_choice and groups:
            raise SourceError(line, "a group in a choice is not translated", _REPEATED)
        low, high = self._occurrence()
        if high is None or (low == 0 and not is_choice):
            if len(children) - begun == 1 and not groups:
                self._repeat(schema, members[0], low, high)
                return
            raise SourceError(line, "an optional or repeated group is not translated", _REPEATED)
        if is_choice:
            self._choose(schema, members, line, optional=low == 0)

    @staticmethod
    def _separator(sign: Word, earlier: str) -> str:
        if sign.text not in (",", "|") or earlier not in ("", sign.text):
            found = repr(sign.text) if sign.text else "the end"
            raise SourceError(sign.line, f"expected ',', '|' or ')', not {found}")
        return sign.text

    def _member(self, schema: dict[str, Any], children: list[tuple[str, int]]) -> str:
        """Read one element of a group with its occurrence."""
        line, name = self.words.here.line, self.words.name()
        if name in schema["properties"]:
            hint = "let it stand once, with an occurrence"
            raise SourceError(line, f"the element {name!r} stands twice in one content", hint)
        children.append((name, line))
        schema["properties"][name] = {"$ref": f"#/$defs/{name}"}
        schema["required"].append(name)
        self._repeat(schema, name, *self._occurrence())
        return name

    def _occurrence(self) -> tuple[int, int | None]:
        sign = self.words.here.text
        if sign in _OCCURRENCES:
            self.words.take()
        return _OCCURRENCES.get(sign, (1, 1))

    @staticmethod
    def _repeat(schema: dict[str, Any], name: str, low: int, high: int | None) -> None:
        """Apply an occurrence to a member that occurs once."""
        if low == 0 and name in schema["required"]:
            schema["required"].remove(name)
        if high is None and "items" not in schema["properties"][name]:
            array = {"type": "array", "items": schema["properties"][name]}
            schema["properties"][name] = array | ({"minItems": low} if low else {})

    @staticmethod
    def _choose(schema: dict[str, Any], members: list[str], line: int, *, optional: bool) -> None:
        """Make the elements of a choice alternatives."""
        if any(name not in schema["required"] for name in members):
            raise SourceError(line, "an optional element in a choice is not translated", _REPEATED)
        schema["required"] = [name for name in schema["required"] if name not in members]
        some = [{"required": [name]} for name in members]
        none = [{"not": {"anyOf": some}}] if optional else []
        schema.setdefault("allOf", []).append({"oneOf": [*some, *none]})

    def _attributes(self) -> None:
        element = self.words.name()
        while not self.words.skip(">"):
            word = self.words.take()
            if word.kind == "end":
                raise SourceError(word.line, "an <!ATTLIST without its '>'")
            if word.text == "#REQUIRED":
                reason = f"a required attribute of {element!r} has no place in the documents"
                raise SourceError(word.line, reason, _ATTRIBUTE)

    def _linked(self, schema: dict[str, Any], children: list[tuple[str, int]]) -> dict[str, Any]:
        """The schema, with the contents of plain elements in the place of references."""
        for name, line in children:
            if name not in self.declared:
                raise SourceError(line, f"the element {name!r} is not declared")
            content = self.declared[name][0]
            if content.get("type") != "object":
                place = schema["properties"][name]
                if "items" in place:
                    place["items"] = dict(content)
                else:
                    schema["properties"][name] = dict(content)
        return schema
