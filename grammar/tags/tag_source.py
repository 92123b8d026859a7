"""The source of a structural tag: JSON to a tree.

Does: read the notation of XGrammar's structural tags, the older form with `structures` and `triggers` included, and
check it strictly: unknown types and fields are errors with a JSON Pointer. Does not: compile contents (`tag_rules`).

The notation: https://xgrammar.mlc.ai/docs/tutorials/structural_tag. In addition, `repeat` has `min` and `max`, tags in
text have `at_least` and `at_most`, a content may be a Lark grammar (`lark`), and a JSON Schema may have a `whitespace`
of its own.
"""

from collections.abc import Callable, Mapping
from typing import Final, NoReturn

from ..contract.constraint import Whitespace
from ..contract.errors import InvalidConstraint, Refusal
from ..jsonschema.read.uri import step
from ..jsonschema.read.values import Json, read
from .tag_tree import Choice, Content, ContentKind, FixedText, FreeText, Part, Series, Times

_DEEPEST: Final = 32
_MOST_TIMES: Final = 256
_EMPTY: Final = Series(())


def parse(source: str) -> Part:
    """The tree of a structural tag.

    Raises:
        InvalidConstraint: the source is not JSON, or not a structural tag; `refusals` names the place.
    """
    value = read(source)
    if not isinstance(value, dict):
        _refuse("", "structural_tag", "a structural tag is an object", _HINT)
    if "structures" in value:
        return _older(value)
    fields = _Fields(value, "", "structural_tag", {"type", "format"})
    if value.get("type") != "structural_tag":
        _refuse("/type", "type", 'the type is not "structural_tag"', _HINT)
    return _format(fields.value("format"), "/format", 0)


_HINT: Final = 'write {"type": "structural_tag", "format": {"type": ...}}'


def _refuse(where: str, keyword: str, reason: str, hint: str) -> NoReturn:
    refusal = Refusal(where, keyword, reason, hint)
    raise InvalidConstraint(f"{where or 'the structural tag'}: {reason}", (refusal,))


class _Fields:
    """The fields of one object, with checks of their types."""

    def __init__(self, value: Mapping[str, Json], where: str, kind: str, known: set[str]) -> None:
        self._given = value
        self._where = where
        self._kind = kind
        for name in value:
            if name not in known:
                hint = f"{kind} has {', '.join(sorted(known - {'type'}))}"
                _refuse(self.at(name), name, f"the field is unknown in {kind}", hint)

    def at(self, name: str) -> str:
        """The JSON Pointer of a field."""
        return step(self._where, name)

    def value(self, name: str) -> Json:
        """A field that must be present."""
        if name not in self._given:
            _refuse(self.at(name), name, f"the field is missing in {self._kind}", "add it")
        return self._given[name]

    def text(self, name: str) -> str:
        """A string."""
        value = self.value(name)
        if not isinstance(value, str):
            _refuse(self.at(name), name, "not a string", "give a string")
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """A string, or an array of at least one string."""
        value = self.value(name)
        if isinstance(value, list) and value and all(isinstance(each, str) for each in value):
            return tuple(value)
        return (self.text(name),)

    def items(self, name: str) -> list[Json]:
        """An array of at least one item."""
        value = self.value(name)
        if not isinstance(value, list) or not value:
            _refuse(self.at(name), name, "not an array with items", "give at least one item")
        return value

    def flag(self, name: str) -> bool:
        """A boolean, false if it is absent."""
        value = self._given.get(name, False)
        if not isinstance(value, bool):
            _refuse(self.at(name), name, "not a boolean", "give true or false")
        return value

    def whitespace(self) -> Whitespace | None:
        """The white space of a JSON Schema; None if the field is absent."""
        if "whitespace" not in self._given:
            return None
        text, known = self.text("whitespace"), [each.value for each in Whitespace]
        if text not in known:
            hint = f"one of {', '.join(known)}"
            _refuse(self.at("whitespace"), "whitespace", f"unknown white space {text!r}", hint)
        return Whitespace(text)

    def count(self, name: str, default: int | None) -> int | None:
        """A number of repetitions; -1 and null mean unbounded."""
        value = self._given.get(name, default)
        if value is None or value == -1:
            return None
        if type(value) is not int or not 0 <= value <= _MOST_TIMES:
            reason = f"not a whole number between 0 and {_MOST_TIMES}"
            _refuse(self.at(name), name, reason, "give a number, or null for no bound")
        return value


def _object(value: Json, where: str) -> Mapping[str, Json]:
    if not isinstance(value, dict):
        _refuse(where, "", "not an object", "give an object with a type")
    return value


def _format(value: Json, where: str, depth: int) -> Part:
    given = _object(value, where)
    if depth > _DEEPEST:
        _refuse(where, "", f"formats are nested more than {_DEEPEST} deep", "nest less")
    kind = given.get("type")
    reader = _READERS.get(kind) if isinstance(kind, str) else None
    if reader is None:
        _refuse(f"{where}/type", "type", f"unknown type {kind!r}", f"one of {', '.join(_READERS)}")
    known, build = reader
    return build(_Fields(given, where, str(kind), known | {"type"}), depth + 1)


def _content(kind: ContentKind, name: str) -> Callable[[_Fields, int], Part]:
    def build(fields: _Fields, _depth: int) -> Part:
        return Content(kind, fields.text(name), fields.at(name))

    return build


def _schema(fields: _Fields, _depth: int) -> Part:
    where = fields.at("json_schema")
    return Content("json_schema", fields.value("json_schema"), where, fields.whitespace())


def _fixed(fields: _Fields, _depth: int) -> Part:
    return FixedText(fields.text("value"))


def _any_text(fields: _Fields, _depth: int) -> Part:
    return FreeText(_not_empty(fields, "excludes") if "excludes" in fields._given else ())


def _not_empty(fields: _Fields, name: str) -> tuple[str, ...]:
    texts = fields.texts(name)
    if "" in texts:
        _refuse(fields.at(name), name, "the empty text occurs everywhere", "remove it")
    return texts


def _parts(fields: _Fields, name: str, depth: int) -> tuple[Part, ...]:
    items = enumerate(fields.items(name))
    return tuple(_format(item, f"{fields.at(name)}/{number}", depth) for number, item in items)


def _sequence(fields: _Fields, depth: int) -> Part:
    return _series(_parts(fields, "elements", depth))


def _series(parts: tuple[Part, ...]) -> Part:
    """The parts one after another; a free text ends where a fixed beginning of the next part first occurs."""
    rest: tuple[Part, ...] = ()
    for part in reversed(parts):
        exits: tuple[tuple[str, Part], ...] = ()
        if isinstance(part, FreeText) and not part.exits:
            exits = _beginnings(rest)
            part = FreeText(part.without, exits)
        rest = (part,) if exits else (part, *rest)
    return Series(rest)


def _beginnings(parts: tuple[Part, ...]) -> tuple[tuple[str, Part], ...]:
    """The fixed texts that `parts` may begin with, each with the part after it; empty if they may begin otherwise."""
    if not parts:
        return ()
    first, *rest = parts
    match first:
        case FixedText(text) if text:
            return ((text, Series(tuple(rest))),)
        case Series(inner):
            return _beginnings((*inner, *rest))
        case Choice(options):
            found = [_beginnings((option, *rest)) for option in options]
            return sum(found, ()) if all(found) else ()
        case _:
            return ()


def _or(fields: _Fields, depth: int) -> Part:
    return Choice(_parts(fields, "elements", depth))


def _repeat(fields: _Fields, depth: int) -> Part:
    low, high = fields.count("min", 0) or 0, fields.count("max", None)
    _check_counts(fields, "max", low, high)
    return Times(_format(fields.value("content"), fields.at("content"), depth), low, high)


def _check_counts(fields: _Fields, name: str, low: int, high: int | None) -> None:
    if high is not None and high < low:
        _refuse(fields.at(name), name, "the upper bound is below the lower one", "raise it")


def _tag(fields: _Fields, depth: int) -> Part:
    content = _format(fields.value("content"), fields.at("content"), depth)
    end = Choice(tuple(map(FixedText, fields.texts("end"))))
    return Series((FixedText(fields.text("begin")), _series((content, end))))


def _tags(fields: _Fields, depth: int) -> tuple[tuple[Part, ...], list[str]]:
    """The parts of the tags of a format, and their beginnings."""
    parts, begins = [], []
    for number, item in enumerate(fields.items("tags")):
        where = f"{fields.at('tags')}/{number}"
        given = _object(item, where)
        if given.get("type", "tag") != "tag":
            _refuse(f"{where}/type", "type", "only tags are allowed here", 'use the type "tag"')
        inner = _Fields(given, where, "tag", _READERS["tag"][0] | {"type"})
        parts.append(_tag(inner, depth + 1))
        begins.append(inner.text("begin"))
    return tuple(parts), begins


def _counts(fields: _Fields) -> tuple[int, int | None]:
    """The bounds on the number of tags."""
    low = fields.count("at_least", 0) or 0
    high = fields.count("at_most", None)
    if fields.flag("at_least_one"):
        low = max(low, 1)
    if fields.flag("stop_after_first"):
        high = 1
    _check_counts(fields, "at_most", low, high)
    return low, high


def _triggered(fields: _Fields, depth: int) -> Part:
    triggers = _not_empty(fields, "triggers")
    parts, begins = _tags(fields, depth)
    _check_begins(begins, triggers, fields.at("tags"))
    low, high = _counts(fields)
    tags = Times(_in_text(triggers, parts, begins), low, high)
    return Series((tags, _EMPTY if fields.flag("stop_after_first") else FreeText(triggers)))


def _check_begins(begins: list[str], triggers: tuple[str, ...], where: str) -> None:
    for number, begin in enumerate(begins):
        if not begin.startswith(triggers):
            reason = "the beginning does not start with a trigger"
            hint = f"begin with one of {', '.join(map(repr, triggers))}"
            _refuse(f"{where}/{number}/begin", "begin", reason, hint)


def _in_text(triggers: tuple[str, ...], tags: tuple[Part, ...], begins: list[str]) -> Part:
    """Free text that ends with one of the tags: once a trigger is written, one of its tags follows."""
    exits = []
    for trigger in triggers:
        after = [
            Series((FixedText(begin[len(trigger) :]), *tag.parts[1:]))
            for tag, begin in zip(tags, begins, strict=True)
            if isinstance(tag, Series) and begin.startswith(trigger)
        ]
        exits.append((trigger, Choice(tuple(after))))
    return FreeText((), tuple(exits))


def _separated(fields: _Fields, depth: int) -> Part:
    tags = Choice(_tags(fields, depth)[0])
    separator = FixedText(fields.text("separator"))
    low, high = _counts(fields)
    if high == 0:
        return _EMPTY
    rest = Times(Series((separator, tags)), max(low - 1, 0), None if high is None else high - 1)
    return Times(Series((tags, rest)), min(low, 1), 1)


def _older(value: Mapping[str, Json]) -> Part:
    """The form `{"structures": [{"begin", "schema", "end"}], "triggers": [...]}`."""
    fields = _Fields(value, "", "structural_tag", {"type", "structures", "triggers"})
    triggers = _not_empty(fields, "triggers")
    tags, begins = [], []
    for number, item in enumerate(fields.items("structures")):
        where = f"/structures/{number}"
        inner = _Fields(_object(item, where), where, "structure", {"begin", "schema", "end"})
        schema = Content("json_schema", inner.value("schema"), inner.at("schema"))
        tags.append(Series((FixedText(inner.text("begin")), schema, FixedText(inner.text("end")))))
        begins.append(inner.text("begin"))
    _check_begins(begins, triggers, "/structures")
    text = _in_text(triggers, tuple(tags), begins)
    return Series((Times(text, 0, None), FreeText(triggers)))


_COUNTED: Final = {"at_least_one", "stop_after_first", "at_least", "at_most"}
_READERS: Final[dict[str, tuple[set[str], Callable[[_Fields, int], Part]]]] = {
    "const_string": ({"value"}, _fixed),
    "any_text": ({"excludes"}, _any_text),
    "json_schema": ({"json_schema", "whitespace"}, _schema),
    "regex": ({"pattern"}, _content("regex", "pattern")),
    "grammar": ({"grammar"}, _content("grammar", "grammar")),
    "lark": ({"lark"}, _content("lark", "lark")),
    "sequence": ({"elements"}, _sequence),
    "or": ({"elements"}, _or),
    "repeat": ({"content", "min", "max"}, _repeat),
    "tag": ({"begin", "content", "end"}, _tag),
    "triggered_tags": ({"triggers", "tags", *_COUNTED}, _triggered),
    "tags_with_separator": ({"tags", "separator", *_COUNTED}, _separated),
}
