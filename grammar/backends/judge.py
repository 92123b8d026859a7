"""Single values judged by a schema in full: what an independent validator says.

Does: run jsonschema with patterns read as ECMA-262 and matched in linear time, formats asserted, nothing fetched. Does
not: decide what an output may be (`reader`).
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import jsonschema
import referencing
import referencing.exceptions

from ..errors import ConstraintTooLarge, Refusal
from .dialect import Dialect, Refused, Sub
from .ecma import parse, whole
from .flat import Subs
from .positions import Positions

_MOST_JUDGED = 5_000


class Judge:
    """Says of single values whether they meet a schema, in full. Patterns run in linear time, formats are asserted."""

    def __init__(self, dialect: Dialect) -> None:
        cls = jsonschema.validators.extend(
            dialect.validator, {"pattern": _pattern, "patternProperties": _pattern_properties}
        )
        registry: Any = referencing.Registry()
        self._root = cls(
            dialect.root.schema, registry=registry, format_checker=dialect.validator.FORMAT_CHECKER
        )

    def holds(self, value: Any, subs: Subs) -> bool:
        """Whether `value` meets all of `subs`."""
        try:
            return all(self._root.evolve(schema=sub.schema).is_valid(value) for sub in subs)
        except referencing.exceptions.Unresolvable as error:
            raise Refused(
                Refusal(
                    subs[0].where,
                    "$ref",
                    f"it cannot be resolved: {error}",
                    "use references in the document",
                )
            ) from error

    def keep(self, values: Iterable[Any], subs: Subs) -> tuple[Any, ...]:
        """Those of `values` that meet all of `subs`."""
        values = tuple(values)
        bare = (
            [Sub(_without_lists(sub.schema), sub.where) for sub in subs]
            if len(subs) == 1
            else list(subs)
        )
        asked = tuple(sub for sub in bare if sub.schema not in ({}, True))
        if not asked:
            return values
        if len(values) > _MOST_JUDGED:
            raise ConstraintTooLarge(
                f"{subs[0].where}: more than {_MOST_JUDGED} values beside other keywords"
            )
        return tuple(value for value in values if self.holds(value, asked))


_LISTS = frozenset({"enum", "const"})
_SILENT = frozenset(
    {
        "title",
        "description",
        "$comment",
        "default",
        "examples",
        "$schema",
        "$id",
        "$defs",
        "definitions",
    }
)


def _without_lists(schema: Any) -> Any:
    """A schema without the lists its values come from, to judge long lists in linear time."""
    if not isinstance(schema, Mapping) or "$ref" in schema or len(_LISTS & schema.keys()) > 1:
        return schema
    return {key: value for key, value in schema.items() if key not in _LISTS | _SILENT}


def _pattern(_validator: Any, pattern: str, instance: Any, _schema: Any) -> Iterator[Any]:
    if isinstance(instance, str) and not _matches(pattern, instance):
        yield jsonschema.ValidationError(f"{instance!r} does not match {pattern!r}")


def _pattern_properties(
    validator: Any, patterns: Any, instance: Any, _schema: Any
) -> Iterator[Any]:
    if isinstance(instance, dict):
        for pattern, subschema in patterns.items():
            for name, value in instance.items():
                if _matches(pattern, name):
                    yield from validator.descend(value, subschema, path=name, schema_path=pattern)


def _matches(pattern: str, text: str) -> bool:
    return Positions(whole(parse(pattern), search=True)).matches(text)
