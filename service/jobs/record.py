"""A record of a source, as every reader gives it.

Does: the two shapes, and the text that a template makes of fields. Does not: read files (`readers`).
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches

from pydantic import JsonValue

from ...schemas.jobs import Source
from .errors import InputRefused

MOST_CHARACTERS = 1_000_000  # of a document; what the service takes in one request
_INVALID_HALF = re.compile("[\ud800-\udfff]")  # what `opening` puts where bytes mean nothing
_FIELD = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


@dataclass(frozen=True, slots=True)
class Record:
    """One document. `id` is None where the source names no field for it; `keep` are the fields the outputs repeat."""

    text: str
    id: str | None = None
    keep: Mapping[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rejected:
    """A record that is no document. `pointer` says where in the source (`/line/12`, `/column/body`)."""

    reason: str
    pointer: str = ""
    hint: str = ""
    code: str = "invalid_record"
    id: str | None = None
    keep: Mapping[str, JsonValue] = field(default_factory=dict)


Fields = Callable[[str], JsonValue]  # the value of a field, with the type that it has in the source


@dataclass(frozen=True, slots=True)
class RecordMapping:
    """What of a record's fields becomes its text, its name, and what is kept."""

    source: Source

    @property
    def names(self) -> tuple[str, ...]:
        """Every field that is asked for, once."""
        asked = [*template_fields(self.source.template or ""), *self.source.keep]
        asked += [name for name in (self.source.text, self.source.id) if name is not None]
        return tuple(dict.fromkeys(asked))

    def check(self, known: tuple[str, ...]) -> None:
        """Raise `InputRefused` for a field that a table does not have."""
        for name in self.names:
            if name not in known:
                raise InputRefused(
                    f"the source has no column {name!r}",
                    param="source",
                    hint=suggestion(name, known),
                )

    def record(self, fields: Fields, where: str) -> Record | Rejected:
        """The record of these fields; `where` is a pointer to it for what is refused."""
        source = self.source
        name = None if source.id is None else as_text(fields(source.id))
        keep = {key: fields(key) for key in source.keep}
        if source.id is not None and not name:
            return Rejected(f"the field {source.id!r} is empty", where, "every record needs a name")
        if source.template is not None:
            text = _FIELD.sub(lambda found: _filled(found, fields), source.template)
        elif source.text is not None:
            text = as_text(fields(source.text)) or ""
        else:
            raise InputRefused(
                "it is not said which field holds the text",
                param="source.text",
                hint="name the column or field (--text-column), or give a template",
            )
        return document(text, where, name, keep)


def as_text(value: JsonValue) -> str | None:
    """A value as a document, an id or a cell of text holds it: texts as they are, everything else as JSON."""
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def suggestion(name: str, known: tuple[str, ...]) -> str:
    """A hint for a field that is not there: which one may be meant, and which there are."""
    folded = {one.strip().casefold(): one for one in reversed(known)}
    close = get_close_matches(name.strip().casefold(), folded, n=1)
    guess = f"did you mean {folded[close[0]]!r}? " if close else ""
    return f"{guess}it has: {', '.join(known[:20])}{', …' if len(known) > 20 else ''}"


def document(
    text: str, where: str, name: str | None, keep: Mapping[str, JsonValue]
) -> Record | Rejected:
    """A record of a text, unless the text cannot be a document."""
    if _INVALID_HALF.search(text):
        hint = "name the encoding that the source is written in, or mend the bytes"
        return Rejected("bytes that the encoding does not have", where, hint, id=name, keep=keep)
    if "\0" in text:
        return Rejected(
            "the document holds a NUL character", where, "take it out", id=name, keep=keep
        )
    if not text.strip():
        return Rejected("the document is empty", where, id=name, keep=keep)
    if len(text) > MOST_CHARACTERS:
        reason = f"the document has {len(text)} characters; at most {MOST_CHARACTERS} are taken"
        return Rejected(reason, where, "split it", id=name, keep=keep)
    return Record(text, name, keep)


def template_fields(template: str) -> tuple[str, ...]:
    """The fields a template names. `{{` and `}}` are braces.

    Raises:
        InputRefused: a brace stands alone, or a field has no name.
    """
    names = []
    for found in _FIELD.finditer(template):
        if found.group() in ("{", "}") or found.group(1) == "":
            raise InputRefused(
                f"the template has a stray {found.group()!r} at character {found.start()}",
                param="source.template",
                hint="fields are written {name}; a brace itself is written twice",
            )
        if found.group(1) is not None:
            names.append(found.group(1))
    return tuple(dict.fromkeys(names))


def _filled(found: re.Match[str], fields: Fields) -> str:
    if found.group(1) is None:
        return found.group()[0]
    return as_text(fields(found.group(1))) or ""
