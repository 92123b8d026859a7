"""The coverage of a schema, from the findings of `survey` and `unenforced`.

Does: count keywords, and bound the list of single ones. Does not: examine schemas.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from ...contract.coverage import Coverage, Unread
from ..logic.schema_formulas import SchemaFormulas
from .survey import Enforced
from .unenforced import is_annotation, unread

_MOST_LISTED: Final = 64  # keywords of each kind
_LONGEST: Final = 256  # characters of a pointer or keyword, which may contain any text


def covered(formulas: SchemaFormulas, enforced: Iterable[Enforced]) -> Coverage:
    """The coverage of a schema after a survey has reached all its parts."""
    found = sorted(unread(formulas), key=lambda entry: entry.kind != "unknown")
    listed = tuple(map(_shortened, found[:_MOST_LISTED]))
    return Coverage(
        _counted(entry.keyword for entry in enforced),
        _counted(_annotations(formulas)),
        listed,
        len(found) - len(listed),
    )


def _annotations(formulas: SchemaFormulas) -> Iterator[str]:
    seen: set[str] = set()
    for place in formulas.built:
        schema = formulas.schemas.value(place.site)
        if isinstance(schema, dict) and place.site.where not in seen:
            seen.add(place.site.where)
            yield from filter(is_annotation, schema)


def _counted(keywords: Iterable[str]) -> tuple[tuple[str, int], ...]:
    """The first distinct keywords with their counts. A schema may contain any number of x- keywords."""
    return tuple((_cut(name), count) for name, count in Counter(keywords).items())[:_MOST_LISTED]


def _shortened(entry: Unread) -> Unread:
    where, keyword = _cut(entry.where), _cut(entry.keyword)
    return Unread(where, keyword, entry.kind, entry.reason, entry.hint)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
