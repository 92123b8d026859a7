"""XML documents with an element for each member of a JSON Schema's objects.

Does: one element per member, in the order of the schema, and one per array item; text escaped and limited to the
characters that XML allows. Does not: attributes, name spaces, white space between elements. Null is an empty element.
"""

import re
from typing import Final

from ..automata import Dfa, intersection, union, union_all, words
from ..contract.errors import Unsatisfiable
from ..regex import whole
from . import grammar_tree as tree
from .grammar_tree import EMPTY, Fixed, Grammar, Part, Ref, Repeat, Sequence
from .scalars import refuse, respelled, scalars
from .shape import Array, Document, Object, Scalar

__all__ = ["grammar"]

_NAME: Final = re.compile(r"(?!(?i:xml))[A-Za-z_][A-Za-z0-9._-]*")
_CHARACTERS: Final = r"[\t\n\r\x20-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]*"
_ESCAPES: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"}
_DEFAULT: Final = "root"


def grammar(source: str) -> Grammar:
    """The grammar of the documents that a schema describes; the root element is named after its `title`, or `root`.

    Raises:
        InvalidConstraint, UnsupportedConstraint, ConstraintTooLarge, Unsatisfiable: with the JSON Pointer.
    """
    document = Document(source)
    title = document.root.get("title") if isinstance(document.root, dict) else None
    name = title if isinstance(title, str) and _NAME.fullmatch(title) else _DEFAULT
    pointer, null = document.resolved("")
    if null or not isinstance(document.shape(pointer), Object):
        refuse(
            pointer, "type", "a document is an object", "give it `type: object` and `properties`"
        )
    builder = _Builder(document)
    rules: dict[str, Part] = {"document": builder.element(name, pointer, null=False)}
    builder.settle(rules)
    return Grammar(rules, "document")


class _Builder:
    def __init__(self, document: Document) -> None:
        self.document = document
        self.waiting: list[str] = []
        self.texts: dict[str, Dfa] = {}

    def settle(self, rules: dict[str, Part]) -> None:
        """Add the rules of all contents that are referred to."""
        while self.waiting:
            pointer = self.waiting.pop()
            if _rule(pointer) not in rules:
                rules[_rule(pointer)] = self._content(pointer)

    def element(self, name: str, pointer: str, *, null: bool) -> Part:
        """An element with the content described at a resolved pointer."""
        self.waiting.append(pointer)
        content: Part = Ref(_rule(pointer))
        if null:
            content = Repeat(content, 0, 1)
        return Sequence((tree.literal(f"<{name}>"), content, tree.literal(f"</{name}>")))

    def _content(self, pointer: str) -> Part:
        shape = self.document.shape(pointer)
        if isinstance(shape, Scalar):
            return Fixed(self._text(pointer))
        if isinstance(shape, Array):
            refuse(pointer, "type", "an array inside an array has no name", "wrap it in an object")
        return Sequence(tuple(self._member(*member) for member in shape.members))

    def _member(self, name: str, place: str, required: bool) -> Part:
        if not _NAME.fullmatch(name):
            hint = "use letters, digits, '_', '.' and '-', with a letter or '_' first"
            refuse(place, "properties", f"{name[:40]!r} is not a valid element name", hint)
        pointer, null = self.document.resolved(place)
        shape = self.document.shape(pointer)
        if not isinstance(shape, Array):
            element = self.element(name, pointer, null=null)
            return element if required else Repeat(element, 0, 1)
        if shape.high is not None and shape.high < shape.low:
            raise Unsatisfiable(f"{pointer}: minItems is above maxItems")
        item, item_null = self.document.resolved(shape.items)
        items = Repeat(self.element(name, item, null=item_null), shape.low, shape.high)
        return items if required and not null else tree.Either((items, EMPTY))

    def _text(self, pointer: str) -> Dfa:
        """The texts of a scalar, built once per pointer."""
        if pointer not in self.texts:
            found = scalars(self.document.root, pointer)
            escaped = respelled(intersection(found.strings, whole(_CHARACTERS)), _ESCAPES)
            texts = union_all([found.plain, escaped])
            self.texts[pointer] = union(texts, words({"": 0})) if found.null else texts
        return self.texts[pointer]


def _rule(pointer: str) -> str:
    return f"content of {pointer or '/'}"
