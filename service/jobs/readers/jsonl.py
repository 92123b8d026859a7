"""Reader of JSON Lines: one JSON object per line.

Does: parse each line strictly. Does not: accept lines that are not objects, or duplicate keys.
"""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from intaglio.grammar.api import InvalidJson, parse_json
from intaglio.schemas.jobs import Source
from intaglio.schemas.json_pointer import value_at

from ..records.errors import InputRefused
from ..records.input_files import characters
from ..records.record import Record, RecordMapping, Rejected, suggestion

MOST_LINE: Final = 16 * 1024 * 1024  # characters
_PROBED_LINES: Final = 100  # lines; a field that none of them has is misspelled


def read(source: Source, path: Path) -> Iterator[Record | Rejected]:
    """The objects of a file; see `readers.records`. Fields are keys, or JSON Pointers where they begin with `/`."""
    shape = RecordMapping(source)
    _require_fields(source, path, shape)
    with characters(path, source.encoding) as file:
        number = 0
        while line := file.readline(MOST_LINE):
            number += 1
            where = f"/line/{number}"
            if len(line) >= MOST_LINE and not line.endswith("\n"):
                while (rest := file.readline(MOST_LINE)) and not rest.endswith("\n"):
                    pass
                yield Rejected(f"a line of more than {MOST_LINE} characters", where, "split it")
            elif line.strip():
                yield _record(shape, line, where)


def _record(shape: RecordMapping, line: str, where: str) -> Record | Rejected:
    try:
        value = parse_json(line)
    except InvalidJson as error:
        return Rejected(f"the line is not JSON: {error}", where)
    if not isinstance(value, dict):
        return Rejected("the line is not a JSON object", where)
    missing = [name for name in shape.required if not _has(value, name)]
    if missing:
        return Rejected(f"the object has no {missing[0]!r}", where)
    return shape.record(lambda name: _at(value, name) if _has(value, name) else None, where)


def _require_fields(source: Source, path: Path, shape: RecordMapping) -> None:
    """Refuse a field that none of the first objects has, because it is misspelled."""
    objects: list[dict[str, Any]] = []
    with characters(path, source.encoding) as file:
        begin = file.readline(MOST_LINE)
        while begin.isspace():
            begin = file.readline(MOST_LINE)
        line = begin
        while line and len(objects) < _PROBED_LINES:
            with suppress(InvalidJson):
                value = parse_json(line)
                objects += [value] if isinstance(value, dict) else []
            line = file.readline(MOST_LINE)
    _require_lines(path, begin, has_objects=bool(objects))
    known = tuple(dict.fromkeys(key for value in objects for key in value))
    for name in shape.names if objects else ():
        if not any(_has(value, name) for value in objects):
            raise InputRefused(
                f"none of the first {len(objects)} objects has the field {name!r}"
                if len(objects) == _PROBED_LINES
                else f"no object of the source has the field {name!r}",
                param="source",
                hint=suggestion(name, known),
            )


def _require_lines(path: Path, begin: str, *, has_objects: bool) -> None:
    """Refuse a file that is one JSON value, such as an array of objects. `begin`: its first line with text."""
    try:
        is_list = isinstance(parse_json(begin), list) and not has_objects
    except InvalidJson:
        # A value of several lines. Elsewhere a line that is not JSON is the fault of its record.
        is_list, is_open = begin.lstrip("\ufeff \t").startswith("["), begin.strip() in ("{", "[")
    else:
        is_open = False
    if is_list or is_open:
        what = (
            "one JSON array"
            if begin.lstrip("\ufeff \t").startswith("[")
            else "one JSON object of several lines"
        )
        command = f"jq -c '.[]' {path.name}" if is_list else f"jq -c . {path.name}"
        raise InputRefused(
            f"{path.name} is {what}, not JSON Lines",
            param="source.path",
            hint=f"write one object in each line, for instance: {command} > {path.stem}-lines.jsonl",
        )


def _at(value: Any, name: str) -> Any:
    """The value of a field. Raises LookupError if it is missing."""
    return value_at(value, name) if name.startswith("/") else value[name]


def _has(value: Any, name: str) -> bool:
    try:
        _at(value, name)
    except LookupError:
        return False
    return True
