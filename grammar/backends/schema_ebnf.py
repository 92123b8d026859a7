"""Shapes to a grammar in xgrammar's EBNF.

Does: write every shape as rules, compact or pretty; say a shortest document. Does not: judge schemas (`reader`).

Strings without a pattern may use every escape of JSON, each counting as the one character it stands for, and never half
a surrogate pair. Strings with a pattern, and names of properties, are escaped only where JSON demands it, in one way.
"""

import itertools
import json
from collections.abc import Callable, Sequence
from typing import Any

from ..errors import ConstraintTooLarge, Unsatisfiable
from ..spec import Whitespace
from . import ecma
from .chardfa import CharDfa
from .chars import Ranges, complement, intersection
from .ecma import Chars, Node, Repeat
from .shapes import Array, Language, Literals, Numeral, Object, Ref, Shape, Shapes, Text, Union

_MOST_RULES = 60_000
_MOST_TIMES = 100_000
_NIL = '""'
# Levels of pretty output: each has rules of its own, as it has an indentation of its own.
_DEEPEST = 24
_PLAIN: Ranges = complement(((0x00, 0x1F), (0x22, 0x22), (0x5C, 0x5C)))
_SHORT = {8: "b", 9: "t", 10: "n", 12: "f", 13: "r", 0x22: '"', 0x5C: "\\"}
_CHARACTER = (
    '[\\u0020\\u0021\\u0023-\\u005B\\u005D-\\uD7FF\\uE000-\\U0010FFFF] | "\\\\" (["\\\\/bfnrt] | "u" unit)',
    '[0-9a-cA-CefEF] hex{3} | [dD] [0-7] hex{2} | [dD] [89abAB] hex{2} "\\\\u" [dD] [c-fC-F] hex{2}',
    "[0-9a-fA-F]",
)


def write(shapes: Shapes, possible: frozenset[str], whitespace: Whitespace) -> str:
    """The grammar of all JSON texts of `shapes`, with start rule `root`. `possible` names the shapes that have values.

    Raises:
        Unsatisfiable: there is no such text.
        ConstraintTooLarge: it takes too many rules.
    """
    writer = _Writer(shapes, possible, whitespace is Whitespace.PRETTY)
    root = writer.named(shapes.root, 0)
    if root is None:
        raise Unsatisfiable("no JSON value meets the schema")
    rules = [f"root ::= {root}", *(f"{name} ::= {body}" for name, body in writer.rules.items())]
    names = ("char", "unit", "hex")
    rules += [f"{name} ::= {body}" for name, body in zip(names, _CHARACTER, strict=True)]
    return "\n".join(rules) + "\n"


class _Writer:
    """Rules by what they are for: a shape at a depth, a language, a place in an object."""

    def __init__(self, shapes: Shapes, possible: frozenset[str], pretty: bool) -> None:
        self.shapes = shapes
        self.possible = possible
        self.pretty = pretty
        self.rules: dict[str, str] = {}
        self.known: dict[Any, str | None] = {}
        self.numbers = itertools.count()

    def rule(self, body: str) -> str:
        if len(self.rules) >= _MOST_RULES:
            raise ConstraintTooLarge(
                "the schema needs too many rules; make it smaller, or its bounds"
            )
        name = f"r{next(self.numbers)}"
        self.rules[name] = body
        return name

    def once(self, key: Any, make: Callable[[], str | None]) -> str | None:
        """The rule for `key`, made when first asked for; its name is known while it is made, so it may recur."""
        if key not in self.known:
            name = self.rule("")
            self.known[key] = name
            body = make()
            if body is None:
                self.known[key] = None
                del self.rules[
                    name
                ]  # whatever refers to it all the same is an error, not an empty text
            else:
                self.rules[name] = body
        return self.known[key]

    def named(self, name: str, depth: int) -> str | None:
        if name not in self.possible or depth > _DEEPEST:
            return None
        at = depth if self.pretty else 0
        return self.once((name, at), lambda: self.shape(self.shapes.named[name], at))

    def shape(self, shape: Shape, depth: int) -> str | None:
        match shape:
            case Ref(name):
                return self.named(name, depth)
            case Union(parts):
                bodies = [body for part in parts if (body := self.shape(part, depth)) is not None]
                return " | ".join(f"({body})" for body in bodies) or None
            case Literals(values):
                return " | ".join(_quote(self.spell(value, depth)) for value in values) or None
            case Numeral(language):
                return self.language(language, _raw_class)
            case Text(None, least, most):
                return f'"\\"" char{_times(least, most)} "\\""'
            case Text(language) if language is not None:
                body = self.language(language, _json_class)
                return None if body is None else f'"\\"" {body} "\\""'
            case Array():
                return self.array(shape, depth)
            case Object():
                return self.object(shape, depth)
        raise AssertionError(shape)

    def spell(self, value: Any, depth: int) -> str:
        text = json.dumps(
            value,
            ensure_ascii=False,
            indent=2 if self.pretty else None,
            separators=(",", ": ") if self.pretty else (",", ":"),
        )
        return text.replace("\n", "\n" + "  " * depth)

    def line(self, depth: int) -> str:
        return "\n" + "  " * depth if self.pretty else ""

    def array(self, shape: Array, depth: int) -> str | None:
        empty = '"[]"' if shape.least == 0 else None
        items = [self.named(item.name, depth + 1) for item in shape.prefix[: shape.most]]
        rest = self.named(shape.rest.name, depth + 1) if shape.rest is not None else None
        separator = _quote("," + self.line(depth + 1))
        after: str | None = None
        room = None if shape.most is None else shape.most - len(items)
        if None in items:
            items = items[: items.index(None)]
            room = 0
        if rest is not None and room != 0:
            needed = max(shape.least - len(items), 0)
            if items:
                after = f"({separator} {rest}){_times(needed, room)}"
            else:
                low = max(needed - 1, 0)
                after = (
                    f"{rest} ({separator} {rest}){_times(low, None if room is None else room - 1)}"
                )
        elif shape.least > len(items):
            return empty
        body = after
        for index in range(len(items) - 1, -1, -1):
            lead = f"{separator} {items[index]}" if index else f"{items[index]}"
            tail = "" if body is None else f" {body}"
            optional = index >= max(shape.least, 1)
            text = f"{lead}{tail}"
            body = self.rule(text) if not optional else f"({self.rule(text)})?"
        if body is None:
            return empty
        close = _quote(self.line(depth) + "]")
        filled = f"{_quote('[' + self.line(depth + 1))} {body} {close}"
        return f"{empty} | {filled}" if empty else filled

    def object(self, shape: Object, depth: int) -> str | None:
        colon = '"\\": "' if self.pretty else '"\\":"'
        fields: list[tuple[str | None, bool]] = []
        for field in shape.fields:
            value = self.named(field.shape.name, depth + 1)
            if value is None and field.required:
                return None
            key = _quote(
                json.dumps(field.name, ensure_ascii=False) + (": " if self.pretty else ":")
            )
            fields.append((None if value is None else self.rule(f"{key} {value}"), field.required))
        pairs = []
        for names, item in shape.others:
            key_body, value = self.language(names, _json_class), self.named(item.name, depth + 1)
            if key_body is not None and value is not None:
                pairs.append(self.rule(f'"\\"" {key_body} {colon} {value}'))
        free = self.rule(" | ".join(pairs)) if pairs else None
        separator = _quote("," + self.line(depth + 1))
        empty = '"{}"' if shape.least == 0 and not any(needed for _, needed in fields) else None
        body = self.members(shape, fields, free, separator)
        close = _quote(self.line(depth) + "}")
        filled = None if body is None else f"{_quote('{' + self.line(depth + 1))} {body} {close}"
        both = [part for part in (empty, filled) if part is not None]
        return " | ".join(both) or None

    def members(
        self,
        shape: Object,
        fields: Sequence[tuple[str | None, bool]],
        free: str | None,
        separator: str,
    ) -> str | None:
        """One property or more, from the last field back: `tails[count]` is what may follow `count` properties.

        Where no bound counts, 1 stands for any number above 0.
        """
        counted = shape.most is not None or shape.least > sum(needed for _, needed in fields)
        top = len(fields) if counted else 1
        tails = [
            self.ending(shape, free, separator, count, counted=counted) for count in range(top + 1)
        ]
        for field, needed in reversed(fields):
            new: list[str | None] = []
            for count, skipped in enumerate(tails):
                after = tails[min(count + 1, top)] if count < top or not counted else None
                ways = []
                if field is not None and after is not None:
                    lead = f"{separator} {field}" if count else field
                    ways.append(lead if after == _NIL else f"{lead} {after}")
                if not needed and skipped is not None:
                    ways.append(skipped)
                new.append(self.rule(" | ".join(ways)) if ways and ways != [_NIL] else None)
                if ways == [_NIL]:
                    new[-1] = _NIL
            tails = new
        return tails[0]

    def ending(
        self, shape: Object, free: str | None, separator: str, count: int, *, counted: bool
    ) -> str | None:
        """What may follow the last field after `count` properties: others, as the bounds allow. Not 0 in all."""
        low = max(shape.least - count, 0) if counted else 0
        room = None if shape.most is None else shape.most - count
        if room is not None and room < low:
            return None
        if free is None or room == 0:
            return _NIL if count and not low else None
        if count:
            return self.rule(f"({separator} {free}){_times(low, room)}")
        more = _times(max(low - 1, 0), None if room is None else room - 1)
        return self.rule(f"{free} ({separator} {free}){more}")

    def language(self, language: Language, spell: Callable[[Ranges], str | None]) -> str | None:
        if isinstance(language, CharDfa):
            if not language.accepting:
                return None
            return self.once(("dfa", id(language), spell), lambda: self.automaton(language, spell))
        return self.once(("node", language, spell), lambda: self.node(language, spell))

    def automaton(self, dfa: CharDfa, spell: Callable[[Ranges], str | None]) -> str:
        names = [self.rule("") for _ in dfa.arcs]
        for state, arcs in enumerate(dfa.arcs):
            ways = [
                f"{body} {names[target]}"
                for ranges, target in arcs
                if (body := self.characters(ranges, spell)) is not None
            ]
            self.rules[names[state]] = " | ".join(
                [*ways, *([_NIL] if state in dfa.accepting else [])]
            )
        return names[0]

    def characters(self, ranges: Ranges, spell: Callable[[Ranges], str | None]) -> str | None:
        """A class of characters; one that takes long to write has a rule of its own."""
        if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
            return spell(ranges)
        return self.once(("class", ranges, spell), lambda: spell(ranges))

    def node(self, node: Node, spell: Callable[[Ranges], str | None]) -> str | None:
        match node:
            case Chars(ranges):
                return self.characters(ranges, spell)
            case ecma.Sequence(parts):
                bodies = [self.node(part, spell) for part in parts]
                if None in bodies:
                    return None
                return " ".join(str(body) for body in bodies if body != _NIL) or _NIL
            case ecma.Choice(parts):
                bodies = [body for part in parts if (body := self.node(part, spell)) is not None]
                return "(" + " | ".join(str(body) for body in bodies) + ")" if bodies else None
            case Repeat(body, least, most):
                inner = self.node(body, spell)
                if inner is None or inner == _NIL or most == 0:
                    return _NIL if least == 0 or inner == _NIL else None
                return f"({inner}){_times(least, most)}"
        raise AssertionError(node)


def _times(least: int, most: int | None) -> str:
    if max(least, most or 0) > _MOST_TIMES:
        raise ConstraintTooLarge(
            f"a bound goes over {_MOST_TIMES}; a smaller one is enough for any output"
        )
    if most is None:
        return {0: "*", 1: "+"}.get(least, f"{{{least},}}")
    return "?" if (least, most) == (0, 1) else f"{{{least},{most}}}"


def _point(code: int) -> str:
    char = chr(code)
    if char.isascii() and char.isalnum():
        return char
    return f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"


def _raw_class(ranges: Ranges) -> str | None:
    """A class of characters that stand for themselves."""
    if not ranges:
        return None
    parts = [_point(a) if a == b else f"{_point(a)}-{_point(b)}" for a, b in ranges]
    return "[" + "".join(parts) + "]"


def _json_class(ranges: Ranges) -> str | None:
    """A class of characters inside a JSON string, each written in one way."""
    plain = _raw_class(intersection(ranges, _PLAIN))
    ways = [plain] if plain else []
    escaped = [c for a, b in intersection(ranges, complement(_PLAIN)) for c in range(a, b + 1)]
    ways += [_quote("\\" + _SHORT[c] if c in _SHORT else f"\\u{c:04x}") for c in escaped]
    return ways[0] if len(ways) == 1 else f"({' | '.join(ways)})" if ways else None


def _quote(text: str) -> str:
    """A literal of the grammar."""
    plain = set(range(0x20, 0x7F)) - {0x22, 0x5C}
    return '"' + "".join(c if ord(c) in plain else _point(ord(c)) for c in text) + '"'
