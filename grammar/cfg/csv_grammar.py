"""CSV tables with rows described by a JSON Schema: `{"type": "array", "items": {"type": "object", ...}}`.

Does: a header line; one line per row, ended by a line feed; quotes as in RFC 4180, where needed only. Does not: nested
values. A missing or null member is an empty field; an empty string is `""`.
"""

from ..automata import Dfa, concatenation, difference, intersection, union_all, words
from ..contract.errors import Unsatisfiable
from ..regex import whole
from . import grammar_tree as tree
from .grammar_tree import Fixed, Grammar, Part, Ref, Repeat, Sequence
from .scalars import ScalarTexts, refuse, respelled, scalars
from .shape import Array, Document, Object, Scalar

__all__ = ["grammar"]


def grammar(source: str, *, header: bool) -> Grammar:
    """The grammar of the tables that a schema describes.

    Raises:
        InvalidConstraint, UnsupportedConstraint, ConstraintTooLarge, Unsatisfiable: with the JSON Pointer.
    """
    document = Document(source)
    pointer, _ = document.resolved("")
    rows = document.shape(pointer)
    if not isinstance(rows, Array):
        refuse(pointer, "type", "a table is an array of rows", "give it `type: array` and `items`")
    if rows.high is not None and rows.high < rows.low:
        raise Unsatisfiable(f"{pointer}: minItems is above maxItems")
    where, null = document.resolved(rows.items)
    row = document.shape(where)
    if null or not isinstance(row, Object):
        refuse(rows.items, "type", "a row is an object", "give it `type: object` and `properties`")
    alone = len(row.members) == 1
    fields: list[Part] = []
    for _, place, required in row.members:
        target, null = document.resolved(place)
        if not isinstance(document.shape(target), Scalar):
            refuse(target, "type", "a field is a scalar", "give each member a scalar `type`")
        found = scalars(document.root, target)
        empty = null or not required or found.null
        fields += [tree.literal(","), Fixed(_field(found, empty=empty, alone=alone))]
    names = ",".join(_quoted(name) for name, _, _ in row.members) + "\n"
    lines: list[Part] = [tree.literal(names)] if header else []
    rules: dict[str, Part] = {
        "table": Sequence((*lines, Repeat(Ref("row"), rows.low, rows.high))),
        "row": Sequence((*fields[1:], tree.literal("\n"))),
    }
    return Grammar(rules, "table", frozenset({"row"}))


def _quoted(text: str) -> str:
    if not text or any(char in text for char in ',"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text


def _field(values: ScalarTexts, *, empty: bool, alone: bool) -> Dfa:
    """The texts of a field.

    `alone`: the only field of its line. It is quoted if it is empty, because most readers skip empty lines.
    """
    bare = intersection(values.strings, whole(r'[^,"\r\n]+'))
    quoted = respelled(difference(values.strings, bare), {'"': '""'})
    quote = words({'"': 0})
    parts = [values.plain, bare]
    if not quoted.empty:
        parts.append(concatenation([quote, quoted, quote]))
    if empty:
        parts.append(words({'""' if alone else "": 0}))
    return union_all(parts)
