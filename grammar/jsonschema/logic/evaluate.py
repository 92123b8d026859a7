"""Judges a value against a formula: the plain meaning of every atom.

Does: decide whether a canonical value is valid, for atoms that no automaton decides and for single values such as
constants. Does not: parse text, build automata, or report errors by place.
"""

from ... import regex
from ...leaves import formats
from ...leaves.document_text import document_text
from ..read.values import List, Map, Truth, Value
from .atoms import (
    PLAIN_INTEGER,
    AtLeast,
    AtMost,
    Contains,
    Format,
    Integer,
    ItemCount,
    ItemCover,
    Items,
    Length,
    MemberCount,
    MemberCover,
    MultipleOf,
    OneOf,
    Pattern,
    Possibly,
    Properties,
    PropertyNames,
    Required,
    SubSchema,
    Superset,
    Surely,
    Types,
    UnevaluatedItems,
    UnevaluatedMembers,
    Unique,
    Verbatim,
)
from .formula import Atom, Formula, evaluate


def holds(formula: Formula, value: Value) -> bool:
    """Whether `value` is valid against `formula`."""
    return evaluate(formula, lambda atom: _true_of(atom, value))


def matches(pattern: str, text: str) -> bool:
    """Whether the ECMA-262 `pattern` matches somewhere in `text`; in time linear in the text.

    Raises:
        InvalidConstraint, UnsupportedConstraint, ConstraintTooLarge: the pattern cannot be compiled.
    """
    return regex.search(pattern).judge(map(ord, text)) >= 0


def _true_of(atom: Atom, value: Value) -> bool:
    """Whether one atom holds for `value`."""
    if isinstance(atom, Types):
        return not atom.names.isdisjoint(_type_names(value))
    if isinstance(atom, OneOf):
        return value in atom.values
    if isinstance(value, str):
        return _string(atom, value)
    if isinstance(value, Map):
        return _object(atom, dict(value.members))
    if isinstance(value, List):
        return _array(atom, value.items)
    if value is None or isinstance(value, Truth):
        return True
    return _number(atom, value)


def _string(atom: Atom, text: str) -> bool:
    if isinstance(atom, Pattern):
        return matches(atom.source, text)
    if isinstance(atom, Length):
        return _in_range(len(text), atom.least, atom.most)
    if isinstance(atom, Verbatim):
        return document_text(atom.document).has(text)
    if isinstance(atom, Superset):
        return True  # a bound for automata; the format itself is judged separately
    if isinstance(atom, Possibly):
        return formats.possible_texts(atom.name).judge(map(ord, text)) >= 0
    return not isinstance(atom, Format | Surely) or formats.holds(atom.name, text)


def _object(atom: Atom, members: dict[str, Value]) -> bool:
    if isinstance(atom, Required):
        return atom.names <= members.keys()
    if isinstance(atom, MemberCount):
        return _in_range(len(members), atom.least, atom.most)
    if isinstance(atom, PropertyNames):
        return all(holds(atom.sub.formula, name) for name in members)
    if isinstance(atom, Properties):
        return all(
            holds(sub.formula, value)
            for name, value in members.items()
            for sub in selected(atom, name)
        )
    if isinstance(atom, UnevaluatedMembers):
        whole = Map(frozenset(members.items()))
        true = [cover for cover, condition in atom.covers if holds(condition, whole)]
        return all(
            holds(atom.sub.formula, value)
            for name, value in members.items()
            if not any(_member_covered(cover, name) for cover in true)
        )
    return True


def selected(props: Properties, name: str) -> list[SubSchema]:
    """The sub-schemas for the member `name`."""
    found = [sub for known, sub in props.named if known == name]
    found += [sub for source, sub in props.patterns if matches(source, name)]
    return found if found or props.rest is None else [props.rest]


def _member_covered(cover: MemberCover, name: str) -> bool:
    """Whether `cover` evaluates members of this name."""
    return (
        cover.everything
        or name in cover.names
        or any(matches(source, name) for source in cover.patterns)
    )


def _array(atom: Atom, items: tuple[Value, ...]) -> bool:
    if isinstance(atom, Items):
        heads = zip(atom.prefix, items, strict=False)
        if not all(holds(sub.formula, item) for sub, item in heads):
            return False
        tail = items[len(atom.prefix) :]
        return atom.rest is None or all(holds(atom.rest.formula, item) for item in tail)
    if isinstance(atom, ItemCount):
        return _in_range(len(items), atom.least, atom.most)
    if isinstance(atom, Contains):
        found = sum(holds(atom.sub.formula, item) for item in items)
        return _in_range(found, atom.least, atom.most)
    if isinstance(atom, Unique):
        return len(set(items)) == len(items)
    if isinstance(atom, UnevaluatedItems):
        whole = List(items)
        true = [cover for cover, condition in atom.covers if holds(condition, whole)]
        return all(
            holds(atom.sub.formula, item)
            for index, item in enumerate(items)
            if not any(_item_covered(cover, index, item) for cover in true)
        )
    return True


def _item_covered(cover: ItemCover, index: int, item: Value) -> bool:
    """Whether `cover` evaluates an item."""
    if cover.everything or index < cover.prefix:
        return True
    return cover.contains is not None and holds(cover.contains.formula, item)


def _type_names(value: Value) -> tuple[str, ...]:
    """The type names of JSON Schema for a canonical value."""
    if value is None:
        return ("null",)
    if isinstance(value, Truth):
        return ("boolean",)
    if isinstance(value, str):
        return ("string",)
    if isinstance(value, List):
        return ("array",)
    if isinstance(value, Map):
        return ("object",)
    return (PLAIN_INTEGER, "integer", "number") if isinstance(value, int) else ("number",)


def _number(atom: Atom, value: Value) -> bool:
    """Whether one atom holds for a number."""
    if isinstance(atom, Integer):
        return isinstance(value, int)
    if isinstance(atom, AtLeast):
        return value > atom.bound if atom.strictly else value >= atom.bound  # type: ignore[operator]
    if isinstance(atom, AtMost):
        return value < atom.bound if atom.strictly else value <= atom.bound  # type: ignore[operator]
    if isinstance(atom, MultipleOf):
        return value % atom.step == 0  # type: ignore[operator]
    return True


def _in_range(count: int, least: int, most: int | None) -> bool:
    """Whether a count is in [least, most]."""
    return count >= least and (most is None or count <= most)
