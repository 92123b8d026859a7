"""The leaves of an expected and a given value in pairs, with lists aligned independent of order.

Does: pair members by name and the elements of lists by the assignment with the most right leaves. Does not: count over
documents (`figures`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from intaglio.schemas.json_pointer import child_pointer, leaves, pointer_keys, pointer_of
from pydantic import JsonValue

from .assignment import best_assignment
from .leaf_values import Agreement, agreement

MOST_ALIGNED: Final = 200
"""Elements that an optimal alignment compares with each other; the rest of a longer list is paired in order."""

_EXACT_COUNTS: Final = 1  # breaks ties between alignments with as many right leaves
_RIGHT_COUNTS: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class LeafPair:
    """A gold leaf and the given leaf for it; one of the two pointers is None if the other side has no such leaf.

    `field` is the pointer with `*` for every index: the same for all elements of a list.
    """

    field: str
    gold_pointer: str | None
    given_pointer: str | None
    gold: JsonValue = None
    given: JsonValue = None
    agreement: Agreement = "none"


def leaf_pairs(gold: JsonValue, given: JsonValue) -> list[LeafPair]:
    """Every leaf of both values exactly once, in pairs where there is a counterpart.

    Elements that are equal are paired first, in order; the others by the assignment that gets most leaves right, and
    among these most leaves exactly right. More than `MOST_ALIGNED` remaining elements are paired in order.
    """
    return list(_pairs(gold, given, _Place("", "", "")))


@dataclass(frozen=True, slots=True)
class _Place:
    field: str
    gold: str
    given: str

    def member(self, key: str) -> "_Place":
        part = pointer_of((key,))
        return _Place(self.field + part, self.gold + part, self.given + part)

    def element(self, gold: int, given: int) -> "_Place":
        return _Place(f"{self.field}/*", f"{self.gold}/{gold}", f"{self.given}/{given}")


def _pairs(gold: JsonValue, given: JsonValue, place: _Place) -> Iterator[LeafPair]:
    if isinstance(gold, dict) and isinstance(given, dict) and gold and given:
        yield from _of_objects(gold, given, place)
    elif isinstance(gold, list) and isinstance(given, list) and gold and given:
        yield from _of_lists(gold, given, place)
    elif _is_leaf(gold) and _is_leaf(given):
        yield LeafPair(place.field, place.gold, place.given, gold, given, agreement(gold, given))
    else:
        yield from _missing(gold, place)
        yield from _extra(given, place)


def _of_objects(
    gold: dict[str, JsonValue], given: dict[str, JsonValue], place: _Place
) -> Iterator[LeafPair]:
    for key, value in gold.items():
        if key in given:
            yield from _pairs(value, given[key], place.member(key))
        else:
            yield from _missing(value, place.member(key))
    for key, value in given.items():
        if key not in gold:
            yield from _extra(value, place.member(key))


def _of_lists(gold: list[JsonValue], given: list[JsonValue], place: _Place) -> Iterator[LeafPair]:
    aligned = dict(_aligned(gold, given))
    for index, value in enumerate(gold):
        if index in aligned:
            other = aligned[index]
            yield from _pairs(value, given[other], place.element(index, other))
        else:
            yield from _missing(value, place.element(index, index))
    used = set(aligned.values())
    for index, value in enumerate(given):
        if index not in used:
            yield from _extra(value, place.element(index, index))


def _missing(gold: JsonValue, place: _Place) -> Iterator[LeafPair]:
    for pointer, value in leaves(gold):
        yield LeafPair(place.field + _generic(gold, pointer), place.gold + pointer, None, value)


def _extra(given: JsonValue, place: _Place) -> Iterator[LeafPair]:
    for pointer, value in leaves(given):
        field = place.field + _generic(given, pointer)
        yield LeafPair(field, None, place.given + pointer, given=value)


def _generic(value: JsonValue, pointer: str) -> str:
    """The pointer of a leaf of `value` with `*` for every index."""
    field = ""
    for key in pointer_keys(pointer):
        if isinstance(value, list):
            field, value = f"{field}/*", value[int(key)]
        elif isinstance(value, dict):
            field, value = child_pointer(field, key), value[key]
    return field


def _is_leaf(value: JsonValue) -> bool:
    return not isinstance(value, list | dict) or not value


def _aligned(gold: Sequence[JsonValue], given: Sequence[JsonValue]) -> list[tuple[int, int]]:
    equal = _equal_elements(gold, given)
    paired_gold, paired_given = {i for i, _ in equal}, {j for _, j in equal}
    rest_gold = [i for i in range(len(gold)) if i not in paired_gold]
    rest_given = [j for j in range(len(given)) if j not in paired_given]
    if max(len(rest_gold), len(rest_given)) > MOST_ALIGNED:
        return equal + list(zip(rest_gold, rest_given, strict=False))
    gains = [[_gain(gold[i], given[j]) for j in rest_given] for i in rest_gold]
    return equal + [(rest_gold[i], rest_given[j]) for i, j in best_assignment(gains)]


def _equal_elements(gold: Sequence[JsonValue], given: Sequence[JsonValue]) -> list[tuple[int, int]]:
    """Pairs of equal elements, in order. Only the others need an assignment, so that long lists stay cheap."""
    places: dict[str, list[int]] = {}
    for index in range(len(given) - 1, -1, -1):
        places.setdefault(_key(given[index]), []).append(index)
    found = []
    for index, value in enumerate(gold):
        free = places.get(_key(value))
        if free:
            found.append((index, free.pop()))
    return found


def _key(value: JsonValue) -> str:
    """Equal for equal JSON values: 12 and 12.0, objects in any order."""
    match value:
        case bool() | None:
            return repr(value)
        case int() | float():
            return repr(int(value)) if value == int(value) else repr(value)
        case str():
            return f"{value!r}"
        case list():
            return f"[{','.join(map(_key, value))}]"
        case dict():
            return f"{{{','.join(f'{k!r}:{_key(value[k])}' for k in sorted(value))}}}"


def _gain(gold: JsonValue, given: JsonValue) -> int:
    found = [pair.agreement for pair in leaf_pairs(gold, given)]
    right = sum(each != "none" for each in found)
    return _RIGHT_COUNTS * right + _EXACT_COUNTS * found.count("exact")
