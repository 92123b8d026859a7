"""Whether a second reading of a document gives the same values as the first.

Does: compare two JSON values scalar by scalar, with the items of arrays in pairs. Does not: read, or judge which of two
values is right.

Equal items of an array are paired first, in their order, then the others in theirs: an item that only one reading has
does not make all items after it differ.
"""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from intaglio.schemas.extraction.grounding import FieldReport, LeafConfidence
from intaglio.schemas.json_pointer import child_pointer

_ABSENT: Final = object()


def agreement(first: Any, second: Any) -> dict[str, bool]:
    """For each scalar of `first`, by JSON Pointer, whether `second` has the same value in its place.

    Numbers are int or `Decimal`.
    """
    found = dict[str, bool]()
    waiting = [("", first, second)]
    while waiting:
        pointer, value, other = waiting.pop()
        if isinstance(value, dict):
            members = other if isinstance(other, dict) else {}
            for name, member in value.items():
                below = child_pointer(pointer, name)
                waiting.append((below, member, members.get(name, _ABSENT)))
        elif isinstance(value, list):
            others = _partners(value, other if isinstance(other, list) else [])
            for index, (item, partner) in enumerate(zip(value, others, strict=True)):
                waiting.append((child_pointer(pointer, index), item, partner))
        else:
            found[pointer] = other is not _ABSENT and _key(value) == _key(other)
    return found


def agreeing_fields(
    fields: Mapping[str, FieldReport], first: Any, second: Any
) -> dict[str, FieldReport]:
    """The reports of `first` with `agrees` in the confidence of each scalar."""
    same = agreement(first, second)
    return {
        pointer: report.model_copy(
            update={
                "confidence": (report.confidence or LeafConfidence()).model_copy(
                    update={"agrees": same[pointer]}
                )
            }
        )
        for pointer, report in fields.items()
    }


def _partners(items: Sequence[Any], others: Sequence[Any]) -> Iterator[Any]:
    """For each item, the item of the other reading to compare it with."""
    places = dict[Any, list[int]]()
    for index in reversed(range(len(others))):
        places.setdefault(_key(others[index]), []).append(index)
    equal = [waiting.pop() if (waiting := places.get(_key(item))) else None for item in items]
    taken = {index for index in equal if index is not None}
    rest = iter([other for index, other in enumerate(others) if index not in taken])
    for found in equal:
        yield others[found] if found is not None else next(rest, _ABSENT)


def _key(value: Any) -> Any:
    """Equal for equal JSON values, and hashable: 1 and 1.0 are equal, 1 and true are not."""
    match value:
        case dict():
            return "object", frozenset((name, _key(member)) for name, member in value.items())
        case list():
            return "array", tuple(map(_key, value))
        case bool() | None | str():
            return type(value).__name__, value
        case int() | Decimal():
            return "number", Decimal(value)
        case _:
            return "absent", None
