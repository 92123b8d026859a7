"""The places of mistakes in a body, as JSON Pointers that exist in it.

Does: turn the locations of pydantic's errors, which name branches of union types too, into places of the body. Does
not: word the mistakes (`translate`).
"""

from collections.abc import Mapping, Sequence
from typing import Any

Place = tuple[str | int, ...]


def located(causes: Sequence[Mapping[str, Any]], body: Any) -> list[dict[str, Any]]:
    """The causes with places of the body in `loc`. Of the branches of a union, those that fit furthest are kept."""
    found = [{**cause, "loc": _place(cause["loc"], cause["type"], body)} for cause in causes]
    ahead = {cause["loc"][:size] for cause in found for size in range(len(cause["loc"]))}
    return [
        cause
        for cause, original in zip(found, causes, strict=True)
        if cause["loc"] == original["loc"] or cause["loc"] not in ahead
    ]


def _place(loc: Place, kind: str, body: Any) -> Place:
    """`loc` without the parts that name no member or item; a missing field is kept."""
    here, place = body, []
    for number, part in enumerate(loc):
        is_last = number == len(loc) - 1
        if isinstance(here, Mapping) and part in here:
            here = here[part]
        elif isinstance(here, Sequence) and not isinstance(here, str) and isinstance(part, int):
            here = here[part] if part < len(here) else None
        elif not (is_last and kind == "missing"):
            continue
        place.append(part)
    return tuple(place)
