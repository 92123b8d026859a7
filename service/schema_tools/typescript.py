"""JSON Schemas from TypeScript: interfaces, type aliases and enums.

Does: read declarations of data as the compiler's checker would for JSON. Does not: run TypeScript: classes, functions,
conditional and mapped types are refused by line.
"""

import re
from typing import Any, Final

from .infer import DIALECT
from .source_text import SourceError, Word, Words, chosen_part, unquoted

_TOKEN: Final = re.compile(
    r"""(?P<space>\s+)
    |(?P<comment>//[^\n]*|/\*.*?\*/)
    |(?P<quoted>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
    |(?P<number>-?\d+(?:\.\d+)?)
    |(?P<name>[A-Za-z_$][\w$]*)
    |(?P<mark>=>|[{}()\[\]<>:;,|&?=.])""",
    re.VERBOSE | re.DOTALL,
)
_SIMPLE: Final[dict[str, dict[str, Any]]] = {
    "string": {"type": "string"},
    "number": {"type": "number"},
    "bigint": {"type": "integer"},
    "boolean": {"type": "boolean"},
    "null": {"type": "null"},
    "undefined": {"type": "null"},
    "any": {},
    "unknown": {},
    "object": {"type": "object"},
    "true": {"const": True},
    "false": {"const": False},
    "Date": {"type": "string", "format": "date-time"},
}
_DEEPEST: Final = 64
_HINT: Final = "translate the part that describes data, or write this type out"


def from_typescript(source: str, name: str | None = None) -> dict[str, Any]:
    """The schema of a declaration, by default of the only one that no other uses.

    Where declarations are exported, it is one of these.

    Raises:
        SourceError: a construct that does not declare data, an unknown name, or several declarations by default.
    """
    reader = _Reader(Words(source, _TOKEN))
    reader.declarations()
    chosen = chosen_part(name, "declaration", reader.found, _roots(reader))
    for used, line in reader.used.items():
        if used not in reader.found:
            raise SourceError(line, f"{used!r} is not declared", "add its declaration to the file")
    reader.complete()
    root = {"$schema": DIALECT, "$ref": f"#/$defs/{chosen}"}
    needed = _needed(chosen, reader.found)
    if len(needed) == 1 and "$ref" not in str(reader.found[chosen]):
        return {"$schema": DIALECT, "title": chosen, **reader.found[chosen]}
    return {**root, "$defs": {each: reader.found[each] for each in needed}}


def _roots(reader: "_Reader") -> list[str]:
    """The declarations that no other uses; where some are exported, of these."""
    found = [
        name
        for index, name in enumerate(reader.found)
        if not any(used == name and user != index for user, used in reader.uses)
    ]
    return [name for name in found if name in reader.exported] or reader.exported or found


def _needed(name: str, found: dict[str, dict[str, Any]]) -> list[str]:
    needed, stack = [name], [name]
    while stack:
        for used in re.findall(r"'\$ref': '#/\$defs/([^']+)'", str(found[stack.pop()])):
            if used not in needed:
                needed.append(used)
                stack.append(used)
    return needed


class _Reader:
    def __init__(self, words: Words) -> None:
        self.words = words
        self.found: dict[str, dict[str, Any]] = {}
        self.used: dict[str, int] = {}
        self.uses: set[tuple[int, str]] = set()  # index of a declaration, name that it uses
        self.exported: list[str] = []
        self.joins: list[tuple[dict[str, Any], list[dict[str, Any]], int]] = []

    def declarations(self) -> None:
        words = self.words
        while words.here.kind != "end":
            start = words.here
            note = words.comment_at(start.line)
            exported = words.skip("export")
            words.skip("default")
            words.skip("declare")
            words.skip("const") if words.ahead.text == "enum" else None
            if words.skip("interface"):
                name, schema = self._interface()
            elif words.skip("type"):
                name, schema = self._alias()
            elif words.skip("enum"):
                name, schema = self._enum()
            elif words.skip(";"):
                continue
            else:
                raise SourceError(start.line, f"{words.here.text!r} declares no data", _HINT)
            if name in self.found:
                raise SourceError(start.line, f"{name!r} is declared twice")
            schema.update({"description": note} if note else {})
            self.found[name] = schema
            if exported:
                self.exported.append(name)

    def _interface(self) -> tuple[str, dict[str, Any]]:
        name = self.words.name()
        self._no_generics()
        parents = []
        if self.words.skip("extends"):
            parents.append(self._named(self.words.take()))
            while self.words.skip(","):
                parents.append(self._named(self.words.take()))
        line, own = self.words.here.line, self._object()
        return name, self._joined([*parents, own], line) if parents else own

    def _no_generics(self) -> None:
        if self.words.here.text == "<":
            raise SourceError(self.words.here.line, "generic declarations are no data", _HINT)

    def _alias(self) -> tuple[str, dict[str, Any]]:
        name = self.words.name()
        self._no_generics()
        self.words.expect("=")
        found = self._union()
        self.words.skip(";")
        return name, found

    def _enum(self) -> tuple[str, dict[str, Any]]:
        name, values, number = self.words.name(), [], 0
        self.words.expect("{")
        while not self.words.skip("}"):
            self.words.name()
            value: str | int = number
            if self.words.skip("="):
                word = self.words.take()
                value = unquoted(word.text) if word.kind == "quoted" else int(word.text)
            values.append(value)
            number = value + 1 if isinstance(value, int) else number
            self.words.skip(",")
        return name, {"enum": values}

    def _union(self) -> dict[str, Any]:
        self.words.skip("|")
        parts = [self._intersection()]
        while self.words.skip("|"):
            parts.append(self._intersection())
        if len(parts) == 1:
            return parts[0]
        if all(set(part) == {"const"} for part in parts):
            return {"enum": [part["const"] for part in parts]}
        plain = [part for part in parts if set(part) == {"type"} and isinstance(part["type"], str)]
        if len(plain) == len(parts):
            return {"type": [part["type"] for part in parts]}
        return {"anyOf": parts}

    def _intersection(self) -> dict[str, Any]:
        line, parts = self.words.here.line, [self._postfix()]
        while self.words.skip("&"):
            parts.append(self._postfix())
        return parts[0] if len(parts) == 1 else self._joined(parts, line)

    def _joined(self, parts: list[dict[str, Any]], line: int) -> dict[str, Any]:
        """An object with the members of all parts; it is completed once all declarations are known."""
        found: dict[str, Any] = {}
        self.joins.append((found, parts, line))
        return found

    def complete(self) -> None:
        """Complete the joined objects, those that others are made of first."""
        waiting = {id(found): (found, parts, line) for found, parts, line in self.joins}

        def members(part: dict[str, Any], line: int, depth: int) -> dict[str, Any]:
            if depth > _DEEPEST:
                raise SourceError(line, "a type is made of itself")
            while "$ref" in part:
                part = self.found[part["$ref"].rpartition("/")[2]]
            if id(part) in waiting:
                target, parts, at = waiting.pop(id(part))
                join(target, parts, at, depth + 1)
            if "properties" not in part or part.get("additionalProperties") is not False:
                hint = "only objects with named members can be joined"
                raise SourceError(line, "this type cannot be extended or joined", hint)
            return part

        def join(
            target: dict[str, Any], parts: list[dict[str, Any]], line: int, depth: int
        ) -> None:
            every = [members(part, line, depth) for part in parts]
            properties = {
                name: value for each in every for name, value in each["properties"].items()
            }
            required = dict.fromkeys(name for each in every for name in each["required"])
            target.update(
                type="object",
                properties=properties,
                required=list(required),
                additionalProperties=False,
            )

        while waiting:
            target, parts, line = waiting.pop(next(iter(waiting)))
            join(target, parts, line, 0)

    def _postfix(self) -> dict[str, Any]:
        self.words.skip("readonly")
        found = self._primary()
        while self.words.here.text == "[" and self.words.ahead.text == "]":
            self.words.skip("[", "]")
            found = {"type": "array", "items": found}
        return found

    def _primary(self) -> dict[str, Any]:
        word = self.words.here
        if word.text == "{":
            return self._object()
        if self.words.skip("("):
            found = self._union()
            self.words.expect(")")
            return found
        if self.words.skip("["):
            return self._tuple()
        self.words.take()
        if word.kind == "quoted":
            return {"const": unquoted(word.text)}
        if word.kind == "number":
            return {"const": float(word.text) if "." in word.text else int(word.text)}
        if word.kind != "name":
            raise SourceError(word.line, f"{word.text!r} is no type of data", _HINT)
        return self._named(word)

    def _tuple(self) -> dict[str, Any]:
        items = []
        while not self.words.skip("]"):
            items.append(self._union())
            self.words.skip(",")
        return {"type": "array", "prefixItems": items, "items": False, "minItems": len(items)}

    def _named(self, word: Word) -> dict[str, Any]:
        if word.text in ("Array", "ReadonlyArray", "Set") and self.words.skip("<"):
            found = {"type": "array", "items": self._union()}
            self.words.expect(">")
            return found
        if word.text in ("Record", "Map") and self.words.skip("<"):
            self._union()
            self.words.expect(",")
            found = {"type": "object", "additionalProperties": self._union()}
            self.words.expect(">")
            return found
        if self.words.here.text in ("<", "."):
            raise SourceError(word.line, f"{word.text}{self.words.here.text} is not known", _HINT)
        if word.text in _SIMPLE:
            return dict(_SIMPLE[word.text])
        self.used.setdefault(word.text, word.line)
        self.uses.add((len(self.found), word.text))
        return {"$ref": f"#/$defs/{word.text}"}

    def _object(self) -> dict[str, Any]:
        words, required = self.words, list[str]()
        properties: dict[str, Any] = {}
        words.expect("{")
        while not words.skip("}"):
            start = words.here
            words.skip("readonly")
            if words.skip("["):
                words.name()
                words.expect(":")
                words.name()
                words.expect("]")
                words.expect(":")
                rest = self._union()
                words.skip(";") or words.skip(",")
                words.expect("}")
                return {
                    "type": "object",
                    "properties": properties,
                    "required": required,
                    "additionalProperties": rest,
                }
            name = words.name()
            optional = words.skip("?")
            if words.here.text == "(":
                raise SourceError(start.line, f"{name!r} is a function", "leave methods out")
            words.expect(":")
            note = words.comment_at(start.line)
            properties[name] = {**self._union(), **({"description": note} if note else {})}
            required += [] if optional else [name]
            words.skip(";") or words.skip(",")
        return {
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": False,
        }
