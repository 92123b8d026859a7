"""The scalars of a JSON value, grouped by object and array, as a document groups them.

Does: walk a value of any depth. Does not: know documents.
"""

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from intaglio.schemas.json_pointer import child_pointer

Scalar = str | int | float | Decimal | bool | None


@dataclass(slots=True)
class LeafGroup:
    """The scalars that are reached without entering an array, by JSON Pointer, and the items of the arrays among them.

    An item of an array is a record of its own, also if it is a scalar.
    """

    leaves: list[str] = field(default_factory=list)
    arrays: list[list["LeafGroup"]] = field(default_factory=list)


def records(data: Any) -> tuple[LeafGroup, dict[str, Scalar]]:
    """The record of a whole value, and its scalars by JSON Pointer, in order."""
    root, scalars = LeafGroup(), dict[str, Scalar]()
    open_values: list[tuple[str, Any, LeafGroup]] = [("", data, root)]
    while open_values:
        pointer, value, record = open_values.pop()
        if isinstance(value, dict):
            members = [
                (child_pointer(pointer, name), member, record) for name, member in value.items()
            ]
            open_values.extend(reversed(members))
        elif isinstance(value, list):
            items = [LeafGroup() for _ in value]
            record.arrays.append(items)
            pairs = [
                (child_pointer(pointer, index), item, items[index])
                for index, item in enumerate(value)
            ]
            open_values.extend(reversed(pairs))
        else:
            record.leaves.append(pointer)
            scalars[pointer] = value
    return root, scalars
