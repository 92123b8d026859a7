"""The catalogue of ready-made extraction schemas, each with a sample document and the expected result.

Does: read the files beside this module (`catalogue/NAME.json`, `.txt`, `.expected.json`). Does not: cache them; every
call reads its entry again, so that no caller can modify the entry of another.
"""

import json
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, Final

from pydantic import JsonValue

PATH_HINT: Final = (
    "this is the path of a file: give the schema in it as an object, such as json.load(open(path))"
)


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """A schema (JSON Schema 2020-12), a sample document, and the expected result."""

    name: str
    title: str
    description: str
    schema: dict[str, Any]
    sample: str
    expected: JsonValue


class UnknownSchema(KeyError):
    """The catalogue has no schema of that name; `matches` are similar names, best first."""

    def __init__(self, name: str, matches: tuple[str, ...]) -> None:
        super().__init__(name)
        self.name = name
        self.matches = matches

    def __str__(self) -> str:
        guess = f"; did you mean {' or '.join(self.matches)}?" if self.matches else ""
        return f"no schema named {self.name!r} in the catalogue{guess}"


def names() -> tuple[str, ...]:
    """The names of all entries, sorted."""
    suffix = ".txt"
    return tuple(
        sorted(
            path.name.removesuffix(suffix)
            for path in _folder().iterdir()
            if path.name.endswith(suffix)
        )
    )


def get(name: str) -> CatalogueEntry:
    """The entry `name`. Raises `UnknownSchema`, which is a `KeyError`."""
    known = names()
    if name not in known:  # also prevents names that are paths
        raise UnknownSchema(name, tuple(get_close_matches(name.lower(), known, n=3)))
    schema = json.loads(_read(f"{name}.json"))
    return CatalogueEntry(
        name=name,
        title=schema["title"],
        description=schema["description"],
        schema=schema,
        sample=_read(f"{name}.txt"),
        expected=json.loads(_read(f"{name}.expected.json")),
    )


def not_a_name(given: str) -> str:
    """What `given` is, if it cannot be the name of a schema, and what to give in its place; empty if it may be a name.

    Callers pass JSON text and paths where a name is expected.
    """
    if given.lstrip()[:1] in ("{", "["):
        return (
            "this is the text of a schema: give the schema as an object, such as json.loads(text)"
        )
    if {"/", "\\"} & set(given) or given.lower().endswith((".json", ".yaml", ".yml")):
        return PATH_HINT
    return ""


def _folder() -> Traversable:
    return files("intaglio.schemas") / "catalogue"


def _read(name: str) -> str:
    return (_folder() / name).read_text(encoding="utf-8")
