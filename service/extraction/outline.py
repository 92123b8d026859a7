"""The outline of a JSON Schema: a compact form that reads like a type declaration, for prompts.

An outline informs the model; the masks alone decide which tokens are legal. Does not: build prompts (`prompt`) or
enforce schemas.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from intaglio.schemas.json_pointer import local_target

# Annotations that do not help to find values; outlines omit them.
_SILENT = frozenset(
    {
        "$schema",
        "$id",
        "$anchor",
        "$comment",
        "$defs",
        "definitions",
        "title",
        "examples",
        "default",
    }
    | {"deprecated", "readOnly", "writeOnly", "description", "type"}
)
# Definitions with two references each would otherwise expand to 2**depth copies.
_MOST_EXPANSIONS = 64
_BOUNDS = {
    "string": frozenset({"format", "pattern", "minLength", "maxLength"}),
    "number": frozenset(
        {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
    ),
    "array": frozenset({"items", "minItems", "maxItems", "uniqueItems"}),
    "object": frozenset({"properties", "required", "additionalProperties"}),
    "boolean": frozenset[str](),
    "null": frozenset[str](),
}
_BOUNDS["integer"] = _BOUNDS["number"]
_SHOWN_VALUES = 10  # of a truncated enumeration
# Names of formats that models understand.
_SPELLED = {"iso-date-time": "date-time", "time-local": "local time"}


@dataclass(frozen=True, slots=True)
class OutlineLimits:
    """Limits of an outline in characters (`members` in properties). Longer parts are truncated, long lists with a
    count.

    Masks enforce the whole schema nevertheless; a prompt with thousands of enum values would leave no room for the
    document.
    """

    values: int = 4000  # of an enumeration
    text: int = 2000  # of a description, literal or pattern
    raw: int = 10_000  # of a sub-schema that is shown as JSON
    members: int = 1000  # properties of one object


USUAL = OutlineLimits()
BRIEF = OutlineLimits(values=400, text=200, raw=800, members=100)


def outline(
    schema: Mapping[str, Any] | bool, *, limits: OutlineLimits = USUAL, described: bool = True
) -> str:
    """Render a JSON Schema with one property per line, nested by indentation.

    `name?: type` marks an optional property, `| null` a nullable one, `// …` carries the description. Local references
    are expanded where they are used; recursive ones, and all after the first 64 expansions, are named and declared
    below. A sub-schema without a short form appears as compact JSON. Text beyond `limits` is truncated;
    `described=False` omits descriptions. Expects a schema that is valid in its dialect; whether it can be enforced is
    decided by the compiler.
    """
    writer = _Outline(schema, limits, described)
    lines = writer.root()
    return "\n".join(lines)


@dataclass
class _Outline:
    """Renders one schema; `declared` collects the definitions that are not expanded in place."""

    schema: Mapping[str, Any] | bool
    limits: OutlineLimits
    described: bool
    declared: dict[str, str] = field(default_factory=dict)
    expansions: int = 0

    def root(self) -> list[str]:
        lines: list[str] = []
        schema = self.schema
        if isinstance(schema, Mapping):
            heading = ": ".join(
                self._short(one_line(schema[key]))
                for key in ("title", "description")
                if schema.get(key)
            )
            if heading and self.described:
                lines.append(f"// {heading}")
            if _is_plain_object(schema):
                lines.extend(self._members(schema, "", ()))
            else:
                lines.extend(self._lines("", schema, "", ()))
        else:
            lines.append(json.dumps(schema))
        written = 0
        while written < len(self.declared):
            reference = list(self.declared)[written]
            target = self._target(reference)
            lines.extend(self._lines(f"{self.declared[reference]} = ", target, "", (reference,)))
            written += 1
        return lines

    def _members(
        self, schema: Mapping[str, Any], indent: str, references: tuple[str, ...]
    ) -> list[str]:
        """One line or an indented block for each property of an object schema."""
        required = schema.get("required", ())
        lines: list[str] = []
        properties = schema.get("properties", {})
        for name, member in islice(properties.items(), self.limits.members):
            mark = "" if name in required else "?"
            lines.extend(self._lines(f"{indent}{_key(name)}{mark}: ", member, indent, references))
        if len(properties) > self.limits.members:
            lines.append(f"{indent}… and {len(properties) - self.limits.members:,} more properties")
        rest = schema.get("additionalProperties", False)
        if isinstance(rest, Mapping) and rest:
            lines.extend(self._lines(f"{indent}[key]: ", rest, indent, references))
        return lines

    def _lines(self, head: str, schema: Any, indent: str, references: tuple[str, ...]) -> list[str]:
        """`head` and the schema's type; the description follows at the end of the first line."""
        body = self._type(schema, indent, references)
        first, *rest = f"{head}{body}".split("\n")
        note = self._description(schema)
        return [f"{first} // {note}" if note and (indent or head) else first, *rest]

    def _description(self, schema: Any) -> str:
        if not self.described or not isinstance(schema, Mapping):
            return ""
        text = schema.get("description")
        if text is None and isinstance(schema.get("$ref"), str):
            target = self._target(schema["$ref"])
            text = target.get("description") if isinstance(target, Mapping) else None
        if text is None and isinstance(schema.get("items"), Mapping):
            text = schema["items"].get("description")
        return self._short(one_line(text)) if isinstance(text, str) else ""

    def _type(self, schema: Any, indent: str, references: tuple[str, ...]) -> str:
        """The type in short form; several lines for an object."""
        if schema is True or schema == {}:
            return "any"
        if not isinstance(schema, Mapping):
            return self._raw(schema)
        keys = set(schema) - _SILENT
        keys = {key for key in keys if not key.startswith("x-")}
        if "$ref" in keys:
            return self._reference(schema, keys, indent, references)
        if "const" in keys:
            return (
                self._short(_literal(schema["const"])) if keys == {"const"} else self._raw(schema)
            )
        if "enum" in keys:
            return self._enum(schema, keys)
        for word in ("anyOf", "oneOf"):
            if keys == {word} and "type" not in schema and isinstance(schema[word], Sequence):
                return " | ".join(self._type(part, indent, references) for part in schema[word])
        return self._typed(schema, keys, indent, references)

    def _enum(self, schema: Mapping[str, Any], keys: set[str]) -> str:
        values = schema["enum"]
        if keys != {"enum"} or not isinstance(values, Sequence):
            return self._raw(schema)
        shown, more = _shown_values(values, self.limits.values)
        literals = [self._short(_literal(value)) for value in shown]
        return " | ".join([*literals, more] if more else literals)

    def _typed(
        self, schema: Mapping[str, Any], keys: set[str], indent: str, references: tuple[str, ...]
    ) -> str:
        declared = schema.get("type")
        if not isinstance(declared, str | list | None):
            return self._raw(schema)
        types = [declared] if isinstance(declared, str) else list(declared or _implied_type(keys))
        known = frozenset[str]().union(*(_BOUNDS.get(name, frozenset()) for name in types))
        if not types or not keys <= known or any(name not in _BOUNDS for name in types):
            return self._raw(schema)
        return " | ".join(self._single_type(name, schema, indent, references) for name in types)

    def _single_type(
        self, name: str, schema: Mapping[str, Any], indent: str, references: tuple[str, ...]
    ) -> str:
        if name == "object":
            if not schema.get("properties") and not isinstance(
                schema.get("additionalProperties"), Mapping
            ):
                return "{}"
            members = self._members(schema, indent + "  ", references)
            return "\n".join(["{", *members, indent + "}"])
        if name == "array":
            item = self._type(schema.get("items", True), indent, references)
            unique = " unique" if schema.get("uniqueItems") else ""
            return f"[{item}]{_range(schema.get('minItems'), schema.get('maxItems'))}{unique}"
        if name == "string":
            return self._string(schema)
        if name in ("number", "integer"):
            return name + _numeric(schema)
        return name

    def _reference(
        self, schema: Mapping[str, Any], keys: set[str], indent: str, references: tuple[str, ...]
    ) -> str:
        reference = schema["$ref"]
        target = self._target(reference)
        if keys != {"$ref"} or target is None:
            return self._raw(schema)
        if reference in references or self.expansions == _MOST_EXPANSIONS:
            return self._name(reference)
        self.expansions += 1
        return self._type(target, indent, (*references, reference))

    def _name(self, reference: str) -> str:
        """The name of a recursive definition; its declaration follows the outline."""
        name = reference.rsplit("/", 1)[-1].replace("#", "") or "Root"
        while name in (used for known, used in self.declared.items() if known != reference):
            name += "_"
        return self.declared.setdefault(reference, name)

    def _target(self, reference: Any) -> Any:
        """The target of a local JSON Pointer reference, or None if it does not exist."""
        return local_target(self.schema, reference) if isinstance(reference, str) else None

    def _raw(self, schema: Any) -> str:
        """The sub-schema as JSON; definitions it refers to are declared below."""
        shown = schema
        if isinstance(schema, Mapping):
            shown = {key: value for key, value in schema.items() if key != "description"}
        for reference in _references(shown):
            if self._target(reference) is not None:
                self._name(reference)
        return _cut(_literal(_trim(shown, self.limits.values)), self.limits.raw)

    def _string(self, schema: Mapping[str, Any]) -> str:
        name = str(schema.get("format", "string"))
        name = _SPELLED.get(name, self._short(name))
        pattern = f" /{self._short(one_line(schema['pattern']))}/" if "pattern" in schema else ""
        return name + pattern + _range(schema.get("minLength"), schema.get("maxLength"))

    def _short(self, text: str) -> str:
        return _cut(text, self.limits.text)


def one_line(text: Any) -> str:
    """`text` with each run of white space collapsed to one space, so that it cannot start a new line."""
    return " ".join(str(text).split())


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]}…"


def _shown_values(values: Sequence[Any], limit: int) -> tuple[Sequence[Any], str]:
    """The values to show and a phrase with the number of omitted ones; all values if they are short enough together."""
    if sum(len(_literal(value)) for value in values) <= limit:
        return values, ""
    more = len(values) - _SHOWN_VALUES
    return values[:_SHOWN_VALUES], f"… and {more:,} more" if more > 0 else ""


def _trim(schema: Any, limit: int) -> Any:
    """A sub-schema with its long enumerations truncated."""
    if isinstance(schema, list):
        return [_trim(part, limit) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    trimmed = {key: _trim(part, limit) for key, part in schema.items()}
    if isinstance(schema.get("enum"), list):
        shown, more = _shown_values(schema["enum"], limit)
        trimmed["enum"] = [*shown, more] if more else list(shown)
    return trimmed


def _is_plain_object(schema: Mapping[str, Any]) -> bool:
    keys = {key for key in set(schema) - _SILENT if not key.startswith("x-")}
    return (
        schema.get("type", "object") == "object"
        and "properties" in schema
        and keys <= _BOUNDS["object"]
    )


def _implied_type(keys: set[str]) -> list[str]:
    """The type that a schema without `type` implies by its keywords, if only one fits."""
    return [name for name in ("object", "array") if keys and keys <= _BOUNDS[name]]


def _references(value: Any) -> list[str]:
    if isinstance(value, Mapping):
        own = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
        return own + [ref for part in value.values() for ref in _references(part)]
    if isinstance(value, list):
        return [ref for part in value for ref in _references(part)]
    return []


def _literal(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _key(name: str) -> str:
    """A property name, quoted only if it would be misread."""
    plain = name and not any(sign in name for sign in '"?:[]{}|\n\r\t') and name == name.strip()
    return name if plain else _literal(name)


def _range(low: Any, high: Any) -> str:
    """`2..5` for a length between bounds; an open bound is omitted."""
    if low in (None, 0) and high is None:
        return ""
    return f" {'' if low is None else low}..{'' if high is None else high}"


def _numeric(schema: Mapping[str, Any]) -> str:
    signs = {
        "minimum": ">=",
        "exclusiveMinimum": ">",
        "maximum": "<=",
        "exclusiveMaximum": "<",
        "multipleOf": "*",
    }
    return "".join(f" {sign}{schema[key]}" for key, sign in signs.items() if key in schema)
