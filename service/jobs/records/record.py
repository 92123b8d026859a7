"""The records of a source, as every reader yields them.

Does: define both shapes, and build the text from fields by a template. Does not: read files (`readers`).
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches

from intaglio.schemas.jobs import Source
from pydantic import JsonValue

from .errors import InputRefused
from .row_files import RowFiles

MOST_CHARACTERS = 1_000_000  # of a document; the limit of one request
_INVALID_HALF = re.compile("[\ud800-\udfff]")  # replaces invalid bytes (`input_files`)
_FIELD = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


@dataclass(frozen=True, slots=True)
class Record:
    """One document. `id` is None if the source names no field for it; `keep` are the fields that the outputs repeat.

    `images` are paths and data URLs as the record states them, `files` the file that it was read from, if a model sees
    pages of it. With one of both the text may be empty. `where` is its place for error reports.
    """

    text: str
    id: str | None = None
    keep: Mapping[str, JsonValue] = field(default_factory=dict)
    images: tuple[str, ...] = ()
    files: RowFiles | None = None
    where: str = ""


@dataclass(frozen=True, slots=True)
class Rejected:
    """A record that is not a document. `pointer` is its place in the source (`/line/12`, `/column/body`)."""

    reason: str
    pointer: str = ""
    hint: str = ""
    code: str = "invalid_record"
    id: str | None = None
    keep: Mapping[str, JsonValue] = field(default_factory=dict)


Fields = Callable[[str], JsonValue]  # the value of a field in its source type


@dataclass(frozen=True, slots=True)
class RecordMapping:
    """The mapping from the fields of a record to its text, its id and the kept values."""

    source: Source

    @property
    def names(self) -> tuple[str, ...]:
        """All fields that the source must have, without duplicates."""
        return tuple(dict.fromkeys((*self.required, *self.source.keep)))

    @property
    def required(self) -> tuple[str, ...]:
        """The fields that each record must have; a kept one may be absent, and is null then."""
        template = self.source.template
        fields = [*([] if template is None else template_fields(template)), *self.source.images]
        fields += [name for name in (self.source.text, self.source.id) if name is not None]
        return tuple(dict.fromkeys(fields))

    def check(self, known: tuple[str, ...]) -> None:
        """Raise `InputRefused` for a field that the table does not have, or if none is named for the text."""
        source = self.source
        if source.text is None and source.template is None and not source.images:
            hint = f"name the column (--text-column), or give a template; there are: {', '.join(known)}"
            raise InputRefused("no column is named for the text", param="source.text", hint=hint)
        for name in self.names:
            if name not in known:
                raise InputRefused(
                    f"the source has no column {name!r}",
                    param="source",
                    hint=suggestion(name, known),
                )

    def record(self, fields: Fields, where: str) -> Record | Rejected:
        """The record of these fields; `where` is its place for error reports."""
        source = self.source
        name = None if source.id is None else as_text(fields(source.id))
        keep = {key: fields(key) for key in source.keep}
        if source.id is not None and not name:
            return Rejected(f"the field {source.id!r} is empty", where, "every record needs a name")
        if source.template is not None:
            text = _FIELD.sub(lambda found: _filled(found, fields), source.template)
        elif source.text is not None:
            text = as_text(fields(source.text)) or ""
        elif source.images:
            text = ""
        else:
            raise InputRefused(
                "no field is named for the text",
                param="source.text",
                hint="name the column or field (--text-column), or give a template",
            )
        images = list[str]()
        for field_name in source.images:
            stated = stated_images(fields(field_name))
            if stated is None:
                hint = "give a path, a data URL, or a list of them"
                reason = f"the field {field_name!r} does not name images"
                return Rejected(reason, where, hint, id=name, keep=keep)
            images += stated
        if not images:
            return document(text, where, name, keep)
        text = text if text.strip() else ""
        found = document(text or "-", where, name, keep)
        if isinstance(found, Rejected):
            return found
        return replace(found, text=text, images=tuple(images), where=where)


def stated_images(value: JsonValue) -> list[str] | None:
    """The images that a field states, one or several; a list may be JSON in a text. None if it cannot state images."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = json.loads(value)
        except ValueError:
            return None
    if value is None or value == "":
        return []
    parts = value if isinstance(value, list) else [value]
    texts = [part for part in parts if isinstance(part, str) and part.strip()]
    return texts if len(texts) == len(parts) else None


def as_text(value: JsonValue) -> str | None:
    """A value as text for a document, an id or a cell: strings unchanged, everything else as JSON."""
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def suggestion(name: str, known: tuple[str, ...]) -> str:
    """A hint for a missing field: the likely intended one, and the existing ones."""
    folded = {one.strip().casefold(): one for one in reversed(known)}
    close = get_close_matches(name.strip().casefold(), folded, n=1)
    guess = f"did you mean {folded[close[0]]!r}? " if close else ""
    return f"{guess}it has: {', '.join(known[:20])}{', …' if len(known) > 20 else ''}"


def document(
    text: str, where: str, name: str | None, keep: Mapping[str, JsonValue]
) -> Record | Rejected:
    """A record of a text, or `Rejected` if the text cannot be a document."""
    if _INVALID_HALF.search(text):
        hint = "name the encoding of the source, or fix the bytes"
        return Rejected("bytes that are invalid in the encoding", where, hint, id=name, keep=keep)
    if "\0" in text:
        return Rejected(
            "the document holds a NUL character", where, "remove it", id=name, keep=keep
        )
    if not text.strip():
        return Rejected("the document is empty", where, id=name, keep=keep)
    if len(text) > MOST_CHARACTERS:
        reason = f"the document has {len(text)} characters; at most {MOST_CHARACTERS} are accepted"
        return Rejected(reason, where, "split it", id=name, keep=keep)
    return Record(text, name, keep)


def template_fields(template: str) -> tuple[str, ...]:
    """The fields of a template. `{{` and `}}` are literal braces.

    Raises:
        InputRefused: a brace is unmatched, a field has no name, or there is no field, so that all texts would be equal.
    """
    names: list[str] = []
    for found in _FIELD.finditer(template):
        if found.group() in ("{", "}") or found.group(1) == "":
            raise InputRefused(
                f"the template has a stray {found.group()!r} at character {found.start()}",
                param="source.template",
                hint="fields are written {name}; double a literal brace",
            )
        if found.group(1) is not None:
            names.append(found.group(1))
    if not names:
        raise InputRefused(
            "the template has no field, so that all documents would be equal",
            param="source.template",
            hint="fields are written {name}",
        )
    return tuple(dict.fromkeys(names))


def _filled(found: re.Match[str], fields: Fields) -> str:
    if found.group(1) is None:
        return found.group()[0]
    return as_text(fields(found.group(1))) or ""
