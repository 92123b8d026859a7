"""JSON Schemas from TypeScript: interfaces, type aliases and enums.

Does: read declarations of data as the compiler's checker would for JSON. Does not: run TypeScript: classes, functions,
conditional and mapped types are refused by line.
"""

import re
from typing import Any, Final

from .infer import DIALECT
from .source_text import SourceError, Word, Words, chosen_part
from .typescript_objects import LateObjects
from .typescript_words import (
    enum_value,
    number_of_literal,
    text_of_literal,
    took_label,
    took_module_names,
)

_TOKEN: Final = re.compile(
    r"""(?P<space>\s+)
    |(?P<comment>//[^\n]*|/\*.*?\*/)
    |(?P<quoted>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
    |(?P<number>-?(?:0[xX][\da-fA-F_]+|\d[\d_]*(?:\.[\d_]+)?(?:[eE][+-]?\d+)?))
    |(?P<name>[A-Za-z_$][\w$]*)
    |(?P<mark>=>|[{}()\[\]<>:;,|&?=.*])""",
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
    "never": {"not": {}},
    "Date": {"type": "string", "format": "date-time"},
}
_HINT: Final = "translate the part that describes data, or write this type out"


def from_typescript(source: str, name: str | None = None) -> dict[str, Any]:
    """The schema of a declaration, by default of the only one that no other uses.

    Where declarations are exported, it is one of these.

    Raises:
        SourceError: a construct that does not declare data, an unknown name, or several declarations by default.
    """
    reader = _Reader(Words(source, _TOKEN))
    try:
        reader.declarations()
    except RecursionError:
        line = reader.words.here.line
        raise SourceError(line, "the types are nested too deeply", _HINT) from None
    chosen = chosen_part(name, "declaration", reader.found, _roots(reader))
    for used, line in reader.used.items():
        if used not in reader.found:
            raise SourceError(line, f"{used!r} is not declared", "add its declaration to the file")
    reader.objects.complete(reader.found)
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
        self.objects = LateObjects()

    def declarations(self) -> None:
        words = self.words
        while words.here.kind != "end":
            start = words.here
            note = words.comment_at(start.line)
            if took_module_names(words):
                continue
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
        return name, self.objects.joined([*parents, own], line) if parents else own

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
            value: str | int | float = number
            if self.words.skip("="):
                value = enum_value(self.words)
            values.append(value)
            number = int(value) + 1 if not isinstance(value, str) else number
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
            kinds = list(dict.fromkeys(part["type"] for part in parts))
            return {"type": kinds if len(kinds) > 1 else kinds[0]}
        return {"anyOf": parts}

    def _intersection(self) -> dict[str, Any]:
        line, parts = self.words.here.line, [self._postfix()]
        while self.words.skip("&"):
            parts.append(self._postfix())
        return parts[0] if len(parts) == 1 else self.objects.joined(parts, line)

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
            return {"const": text_of_literal(word.text)}
        if word.kind == "number":
            return {"const": number_of_literal(word.text)}
        if word.kind != "name":
            raise SourceError(word.line, f"{word.text!r} is no type of data", _HINT)
        return self._named(word)

    def _tuple(self) -> dict[str, Any]:
        items, least, rest = list[dict[str, Any]](), 0, None
        while not self.words.skip("]"):
            line, spread = self.words.here.line, self.words.skip(".", ".", ".")
            optional = took_label(self.words)
            found = self._union()
            optional = self.words.skip("?") or optional
            if spread and "items" not in found:
                raise SourceError(line, "only an array can be spread at the end of a tuple", _HINT)
            if spread:
                rest = found["items"]
            else:
                items.append(found)
                least += not optional
            self.words.skip(",")
        closed = False if rest is None else rest
        return {"type": "array", "prefixItems": items, "items": closed, "minItems": least}

    def _named(self, word: Word) -> dict[str, Any]:
        if word.text in ("Array", "ReadonlyArray", "Set") and self.words.skip("<"):
            found = {"type": "array", "items": self._union()}
            self.words.expect(">")
            return found
        if word.text in ("Record", "Map") and self.words.skip("<"):
            key = self._union()
            self.words.expect(",")
            value = self._union()
            self.words.expect(">")
            return self.objects.record(key, value, word.line)
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
        others: dict[str, Any] | bool = False
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
                others = self._union()
                words.skip(";") or words.skip(",")
                continue
            name = (
                str(number_of_literal(words.take().text))
                if start.kind == "number"
                else words.name()
            )
            optional = words.skip("?")
            if words.here.text == "(":
                raise SourceError(start.line, f"{name!r} is a function", "leave methods out")
            words.expect(":")
            note = words.comment_at(start.line)
            properties[name] = (
                self._union()
            )  # perhaps still to be completed, so that no copy will do
            properties[name].update({"description": note} if note else {})
            required += [] if optional else [name]
            words.skip(";") or words.skip(",")
        return {
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": others,
        }
