"""JSON Schemas from Protocol Buffers: messages of a proto3 file in the canonical JSON form.

Does: read messages, enums, maps, `oneof`, `optional` and well-known types. Does not: read imported files; a type that
is not in the file is refused by line. Options, services and reserved fields are skipped.
"""

import re
from typing import Any, Final

from .infer import DIALECT
from .source_text import SourceError, Words, chosen_part, each_as, unquoted, unused

_TOKEN: Final = re.compile(
    r"""(?P<space>\s+)
    |(?P<comment>//[^\n]*|/\*.*?\*/)
    |(?P<quoted>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
    |(?P<number>-?(?:0x[0-9a-fA-F]+|\d+(?:\.\d+)?))
    |(?P<name>\.?[A-Za-z_][\w.]*)
    |(?P<mark>[{}()\[\]<>:;,=-])""",
    re.VERBOSE | re.DOTALL,
)


def _at_most(most: int) -> str:
    """A pattern of the whole numbers from 1 to a number, without leading zeros."""
    digits = str(most)
    ways = [f"[1-9][0-9]{{0,{len(digits) - 2}}}"]
    for at, digit in enumerate(digits):
        least, below = int(at == 0), int(digit) - 1
        if below >= least:
            ways.append(f"{digits[:at]}[{least}-{below}][0-9]{{{len(digits) - at - 1}}}")
    return f"({'|'.join([*ways, digits])})"


_SMALL: Final = {"type": "integer", "minimum": -(2**31), "maximum": 2**31 - 1}
_UNSIGNED: Final = {"type": "integer", "minimum": 0, "maximum": 2**32 - 1}
# The canonical JSON form writes integers of 64 bits as texts.
_LARGE: Final = {"type": "string", "pattern": f"^(0|{_at_most(2**63 - 1)}|-{_at_most(2**63)})$"}
_LARGE_UNSIGNED: Final = {"type": "string", "pattern": f"^(0|{_at_most(2**64 - 1)})$"}
_BYTES: Final = "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"
_SCALARS: Final[dict[str, dict[str, Any]]] = {
    **each_as(("double", "float"), {"type": "number"}),
    **each_as(("int32", "sint32", "sfixed32"), _SMALL),
    **each_as(("uint32", "fixed32"), _UNSIGNED),
    **each_as(("int64", "sint64", "sfixed64"), _LARGE),
    **each_as(("uint64", "fixed64"), _LARGE_UNSIGNED),
    "bool": {"type": "boolean"},
    "string": {"type": "string"},
    "bytes": {"type": "string", "pattern": _BYTES},
    "google.protobuf.Timestamp": {"type": "string", "format": "date-time"},
    "google.protobuf.Duration": {"type": "string", "pattern": r"^-?[0-9]+(\.[0-9]{1,9})?s$"},
    "google.protobuf.Struct": {"type": "object"},
    "google.protobuf.Value": {},
    "google.protobuf.ListValue": {"type": "array"},
    "google.protobuf.StringValue": {"type": ["string", "null"]},
    "google.protobuf.BoolValue": {"type": ["boolean", "null"]},
    **each_as(
        ("google.protobuf.DoubleValue", "google.protobuf.FloatValue"), {"type": ["number", "null"]}
    ),
    "google.protobuf.Int32Value": {**_SMALL, "type": ["integer", "null"]},
    "google.protobuf.UInt32Value": {**_UNSIGNED, "type": ["integer", "null"]},
    "google.protobuf.Int64Value": {**_LARGE, "type": ["string", "null"]},
    "google.protobuf.UInt64Value": {**_LARGE_UNSIGNED, "type": ["string", "null"]},
    "google.protobuf.BytesValue": {"type": ["string", "null"], "pattern": _BYTES},
    "google.protobuf.NullValue": {"type": "null"},
    "google.protobuf.FieldMask": {"type": "string"},
    "google.protobuf.Any": {
        "type": "object",
        "properties": {"@type": {"type": "string"}},
        "required": ["@type"],
    },
    "google.protobuf.Empty": {"type": "object", "additionalProperties": False},
}

_NUMBERS: Final = f"^(0|{_at_most(2**31 - 1)}|-{_at_most(2**31)})$"
_KEYS: Final = {
    "bool": "^(true|false)$",
    **dict.fromkeys(("int32", "sint32", "sfixed32"), _NUMBERS),
    **dict.fromkeys(("uint32", "fixed32"), f"^(0|{_at_most(2**32 - 1)})$"),
    **dict.fromkeys(("int64", "sint64", "sfixed64"), _LARGE["pattern"]),
    **dict.fromkeys(("uint64", "fixed64"), _LARGE_UNSIGNED["pattern"]),
}
"""Patterns of the keys of maps; other keys are any texts."""


def from_protobuf(source: str, name: str | None = None) -> dict[str, Any]:
    """The schema of a message, by default of the only one at the top that no other uses.

    Fields of proto3 are required unless they are `optional`, in a `oneof`, repeated or a map: a document states the
    others, and null is none of their values.

    Raises:
        SourceError: a construct or a type that is not known, no such message, or several by default.
    """
    reader = _Reader(Words(source, _TOKEN))
    reader.file()
    reader.resolve()
    roots = [each for each in unused(reader.found) if each in reader.messages]
    chosen = chosen_part(name, "message", reader.found, roots or reader.messages)
    return {"$schema": DIALECT, "$ref": f"#/$defs/{chosen}", "$defs": reader.found}


class _Reader:
    def __init__(self, words: Words) -> None:
        self.words = words
        self.found: dict[str, dict[str, Any]] = {}
        self.messages: list[str] = []  # at the top
        self.used: list[tuple[dict[str, Any], str, str, int]] = []  # schema, name, scope, line

    def file(self) -> None:
        words = self.words
        while words.here.kind != "end":
            word = words.take()
            match word.text:
                case "syntax" | "edition":
                    words.expect("=")
                    if unquoted(words.take().text) == "proto2":
                        raise SourceError(
                            word.line, "proto2 is not read", "translate the file to proto3"
                        )
                    words.expect(";")
                case "message":
                    self.messages.append(self._message(""))
                case "enum":
                    self._enum("")
                case "service" | "extend":
                    words.name()
                    words.skip_block("{", "}")
                case "package" | "import" | "option":
                    self._to_semicolon()
                case ";":
                    continue
                case _:
                    raise SourceError(word.line, f"{word.text!r} begins no declaration")

    def _to_semicolon(self) -> None:
        while self.words.here.kind != "end" and not self.words.skip(";"):
            if self.words.here.text == "{":
                self.words.skip_block("{", "}")
            else:
                self.words.take()

    def _enum(self, scope: str) -> None:
        line = self.words.here.line
        name, values = scope + self.words.name(), []
        self.words.expect("{")
        while not self.words.skip("}"):
            if self.words.here.text in ("option", "reserved"):
                self._to_semicolon()
                continue
            values.append(self.words.name())
            self._to_semicolon()
        if not values:
            raise SourceError(line, f"the enum {name!r} has no values")
        self.found[name] = {"enum": values}

    def _message(self, scope: str) -> str:
        note = self.words.comment_at(self.words.here.line)
        name = scope + self.words.name()
        schema: dict[str, Any] = {"type": "object", "properties": {}, "required": []}
        schema |= {"description": note} if note else {}
        self.found[name] = schema
        self.words.expect("{")
        while not self.words.skip("}"):
            word = self.words.here
            match word.text:
                case "message" | "enum":
                    self.words.take()
                    (self._message if word.text == "message" else self._enum)(name + ".")
                case "option" | "reserved" | "extensions":
                    self._to_semicolon()
                case ";":
                    self.words.take()
                case "oneof":
                    self.words.take()
                    self._oneof(schema, name)
                case "end" | "":
                    raise SourceError(word.line, f"the message {name!r} has no end")
                case _:
                    self._field(schema, name)
        schema["additionalProperties"] = False
        return name

    def _oneof(self, schema: dict[str, Any], scope: str) -> None:
        self.words.name()
        self.words.expect("{")
        names = []
        while not self.words.skip("}"):
            if self.words.here.text == "option":
                self._to_semicolon()
                continue
            names.append(self._field(schema, scope, required=False))
        some = [{"required": [name]} for name in names]
        schema.setdefault("allOf", []).append({"oneOf": [*some, {"not": {"anyOf": some}}]})

    def _field(self, schema: dict[str, Any], scope: str, *, required: bool = True) -> str:
        words, line = self.words, self.words.here.line
        repeated = words.skip("repeated")
        required = required and not words.skip("optional") and not repeated
        if words.skip("map", "<"):
            key = _KEYS.get(words.name())
            words.expect(",")
            value, required = {"type": "object", "additionalProperties": self._type(scope)}, False
            value |= {"propertyNames": {"pattern": key}} if key else {}
            words.expect(">")
        else:
            value = self._type(scope)
        name = words.name()
        note = words.comment_at(line)
        words.expect("=")
        shown = self._json_name() or re.sub(r"_([a-z0-9])", lambda found: found[1].upper(), name)
        if repeated:
            value = {"type": "array", "items": value}
        schema["properties"][shown] = value
        if note:
            value["description"] = note
        if required:
            schema["required"].append(shown)
        return shown

    def _json_name(self) -> str | None:
        """Read the rest of a field; the name that its options give it in JSON, or None."""
        words, found = self.words, None
        while words.here.kind != "end" and not words.skip(";"):
            if words.skip("json_name", "="):
                found = unquoted(words.take().text)
            elif words.here.text == "{":
                words.skip_block("{", "}")
            else:
                words.take()
        return found

    def _type(self, scope: str) -> dict[str, Any]:
        line, name = self.words.here.line, self.words.name()
        if name.lstrip(".") in _SCALARS:
            return dict(_SCALARS[name.lstrip(".")])
        found: dict[str, Any] = {}
        self.used.append((found, name, scope, line))
        return found

    def resolve(self) -> None:
        """Complete the references to other messages, from the innermost scope outwards."""
        for found, name, scope, line in self.used:
            parts, short = scope.split("."), name.lstrip(".")
            scopes = [".".join((*parts[:i], short)) for i in range(len(parts), -1, -1)]
            known = next((each for each in scopes if each in self.found), None)
            known = known or next((e for e in self.found if short.endswith("." + e)), None)
            if known is None:
                hint = "add its message to the file: imports are not read"
                raise SourceError(line, f"the type {name!r} is not declared", hint)
            found["$ref"] = f"#/$defs/{known}"
        for name in self.found:
            self._release(name)

    def _release(self, name: str) -> None:
        """Make the fields of a message optional that would contain the message itself without end."""
        required = self.found[name].get("required", [])
        for field in [each for each in required if name in self._within(name, each)]:
            required.remove(field)

    def _within(self, name: str, field: str) -> set[str]:
        """The messages that a field of a message always contains."""
        found, fields = set[str](), [(name, field)]
        while fields:
            owner, each = fields.pop()
            value = self.found[owner]["properties"][each]
            target = value.get("$ref", "").rpartition("/")[2]
            if target and target not in found:
                found.add(target)
                fields += [(target, other) for other in self.found[target].get("required", [])]
        return found
