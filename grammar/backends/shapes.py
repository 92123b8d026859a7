"""What a JSON Schema comes to: a small tree of shapes, each of which can be enforced in full.

Does: hold them. Does not: read schemas (`reader`) or write grammars (`schema_ebnf`).
"""

from dataclasses import dataclass
from typing import Any

from .chardfa import CharDfa
from .ecma import ANY, Node

Language = Node | CharDfa  # whole texts over characters; a Node here has no anchors


@dataclass(frozen=True, slots=True)
class Literals:
    """One of these JSON values, spelled as JSON text in one way."""

    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Numeral:
    """A number whose text is in the language."""

    language: Language


@dataclass(frozen=True, slots=True)
class Text:
    """A string. Without a language, `least` to `most` characters, escaped in any way JSON knows."""

    language: Language | None = None
    least: int = 0
    most: int | None = None


@dataclass(frozen=True, slots=True)
class Ref:
    """The shape of this name among `Shapes.named`."""

    name: str


@dataclass(frozen=True, slots=True)
class Array:
    """`prefix` item by item, then `rest` (None: nothing), `least` to `most` items in all."""

    prefix: tuple[Ref, ...]
    rest: Ref | None
    least: int
    most: int | None


@dataclass(frozen=True, slots=True)
class Field:
    """A property with a name."""

    name: str
    shape: Ref
    required: bool


@dataclass(frozen=True, slots=True)
class Object:
    """Named fields in this order, then others: (language of names, shape). `least` to `most` properties in all."""

    fields: tuple[Field, ...]
    others: tuple[tuple[Language, Ref], ...]
    least: int
    most: int | None


@dataclass(frozen=True, slots=True)
class Union:
    """Any of the parts; none means that no value fits."""

    parts: tuple["Shape", ...]


Shape = Literals | Numeral | Text | Ref | Array | Object | Union
ANY_TEXT = ANY


@dataclass(frozen=True, slots=True)
class Shapes:
    """A schema as named shapes; `root` is one of the names."""

    root: str
    named: dict[str, Shape]
