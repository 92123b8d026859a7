"""How far a schema is enforced, summed up from what `survey` and `unread` found.

Does: count keywords, and bound what is told of them one by one. Does not: find anything out.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from ...contract.coverage import Coverage, Unread
from ..logic.schema_formulas import SchemaFormulas
from .survey import Enforced
from .unenforced import is_annotation, unread

_MOST_LISTED: Final = 64  # keywords of each sort
_LONGEST: Final = 256  # characters of a pointer or keyword, which may hold any text


def covered(formulas: SchemaFormulas, enforced: Iterable[Enforced]) -> Coverage:
    """Of a schema all of whose parts have been reached."""
    found = sorted(unread(formulas), key=lambda entry: entry.kind != "unknown")
    told = tuple(map(_shortened, found[:_MOST_LISTED]))
    return Coverage(
        _counted(entry.keyword for entry in enforced),
        _counted(_annotations(formulas)),
        told,
        len(found) - len(told),
    )


def _annotations(formulas: SchemaFormulas) -> Iterator[str]:
    seen: set[str] = set()
    for place in formulas.built:
        schema = formulas.schemas.value(place.site)
        if isinstance(schema, dict) and place.site.where not in seen:
            seen.add(place.site.where)
            yield from filter(is_annotation, schema)


def _counted(keywords: Iterable[str]) -> tuple[tuple[str, int], ...]:
    """Words that begin with x- may be as many as the schema's author likes: the first are told."""
    return tuple((_cut(name), count) for name, count in Counter(keywords).items())[:_MOST_LISTED]


def _shortened(entry: Unread) -> Unread:
    where, keyword = _cut(entry.where), _cut(entry.keyword)
    return Unread(where, keyword, entry.kind, entry.reason, entry.hint)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
