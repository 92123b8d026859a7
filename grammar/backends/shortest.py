"""The shortest documents of shapes, and which shapes have any.

Does: find by iteration to a fixed point, for every named shape, a shortest JSON text it allows. Does not: know tokens.
"""

import json
from collections.abc import Iterable

from .chardfa import CharDfa, sample
from .ecma import Chars, Choice, Node, Repeat, Sequence
from .shapes import Array, Language, Literals, Numeral, Object, Ref, Shape, Shapes, Text, Union

Texts = dict[str, str]
LONGEST = (
    20_000  # characters; a text that needs more is cut there, and then is none of the language
)


def shortest(shapes: Shapes) -> Texts:
    """A short compact JSON text for every named shape that has a value; shapes without one are left out."""
    texts: Texts = {}
    while True:
        changed = False
        for name, shape in shapes.named.items():
            if name not in texts and (text := _text(shape, texts)) is not None:
                texts[name] = text[:LONGEST]
                changed = True
        if not changed:
            break
    for _ in range(3):  # the first text found need not be the shortest
        for name, shape in shapes.named.items():
            text = _text(shape, texts)
            if text is not None and name in texts and len(text) < len(texts[name]):
                texts[name] = text
    return texts


def _text(shape: Shape, texts: Texts) -> str | None:
    match shape:
        case Ref(name):
            return texts.get(name)
        case Union(parts):
            return _least(_text(part, texts) for part in parts)
        case Literals(values):
            dumped = (
                json.dumps(value, ensure_ascii=False, separators=(",", ":")) for value in values
            )
            return _least(dumped)
        case Numeral(language):
            return plain(language)
        case Text(None, least, _):
            return '"' + "a" * min(least, LONGEST) + '"'
        case Text(language) if language is not None:
            text = plain(language)
            return None if text is None else json.dumps(text, ensure_ascii=False)
        case Array(prefix, rest, least, _):
            items = [texts.get(ref.name) for ref in prefix[:least]]
            if least > len(items):
                last = None if rest is None else texts.get(rest.name)
                items += [last] * min(least - len(items), LONGEST // len(last or "-") + 1)
            return None if None in items else "[" + ",".join(str(item) for item in items) + "]"
        case Object():
            return _object(shape, texts)
    raise AssertionError(shape)


def _object(shape: Object, texts: Texts) -> str | None:
    if shape.most is not None and shape.most < max(
        shape.least, sum(f.required for f in shape.fields)
    ):
        return None
    chosen = {field.name for field in shape.fields if field.required}
    if any(texts.get(field.shape.name) is None for field in shape.fields if field.required):
        return None
    spare = [f.name for f in shape.fields if not f.required and f.shape.name in texts]
    missing = shape.least - len(chosen)
    chosen |= set(spare[: max(missing, 0)])
    members = [
        json.dumps(f.name, ensure_ascii=False) + ":" + texts[f.shape.name]
        for f in shape.fields
        if f.name in chosen
    ]
    missing -= len(spare[: max(missing, 0)])
    if missing > 0:
        pairs = [
            (json.dumps(name, ensure_ascii=False) + ":" + texts[ref.name])
            for names, ref in shape.others
            if ref.name in texts and (name := plain(names)) is not None
        ]
        other = _least(pairs)
        if other is None:
            return None
        members += [other] * min(missing, LONGEST // len(other) + 1)
    return "{" + ",".join(members) + "}"


def plain(language: Language) -> str | None:
    """A short text of a language."""
    return language.shortest() if isinstance(language, CharDfa) else _of_node(language)


def _of_node(node: Node) -> str | None:
    match node:
        case Chars(ranges):
            return sample(ranges) if ranges else None
        case Sequence(parts):
            found = [_of_node(part) for part in parts]
            return None if None in found else "".join(str(part) for part in found)
        case Choice(parts):
            return _least(_of_node(part) for part in parts)
        case Repeat(body, least, _):
            text = _of_node(body) if least else ""
            return None if text is None else text * min(least, LONGEST // max(len(text), 1) + 1)
        case _:
            return ""


def _least(texts: Iterable[str | None]) -> str | None:
    return min((text for text in texts if text is not None), key=len, default=None)
