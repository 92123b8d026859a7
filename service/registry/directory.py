"""Schemas by reference: those that a tenant has registered, then those of the catalogue.

Does: resolve the schema or reference in a request. Does not: store or examine schemas.
"""

import time
from collections import OrderedDict
from collections.abc import Callable
from difflib import get_close_matches
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from intaglio.schemas import catalogue
from intaglio.schemas.problem import Detail
from intaglio.schemas.registry import RegisteredSchema

from ..errors import InvalidBody, UnknownSchema
from ..extraction.extract import find_schema

if TYPE_CHECKING:  # SQLAlchemy is an extra
    from .schema_registry import SchemaRegistry

_FRESH_S: Final = 1.0
_MOST_KEPT: Final = 1024
_RESERVED: Final = frozenset({"explain"})  # a path of its own


class SchemaDirectory:
    """Resolves references. `registry` is None on a server without a data folder. Thread-safe.

    A resolved reference is remembered for a second: other processes notice a new version or a deletion by then.
    """

    def __init__(
        self, registry: "SchemaRegistry | None" = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._registry = registry
        self._clock = clock
        self._kept: OrderedDict[tuple[str, str], tuple[float, RegisteredSchema]] = OrderedDict()
        self._lock = Lock()

    @property
    def registry(self) -> "SchemaRegistry | None":
        """The registry, if the server has one."""
        return self._registry

    def close(self) -> None:
        """Close the registry."""
        if self._registry is not None:
            self._registry.close()

    def resolve(self, tenant: str, given: dict[str, Any] | bool | str) -> dict[str, Any] | bool:
        """The schema itself, or the one that `given` names.

        Raises:
            UnknownSchema: neither the registry nor the catalogue has a schema of that name.
        """
        if not isinstance(given, str):
            return given
        if self._registry is None:
            return find_schema(given)
        found = self._found(self._registry, tenant, given)
        if found is not None and found.schema_ is not None:
            return found.schema_
        try:
            return find_schema(given)
        except UnknownSchema as unknown:
            raise self._explained(self._registry, tenant, given, unknown) from None

    def register(
        self, tenant: str, name: str, schema: dict[str, Any] | bool
    ) -> tuple[RegisteredSchema, bool]:
        """As `SchemaRegistry.register`.

        Raises:
            InvalidBody: the name means something else already, or the registry is full.
        """
        if name in _RESERVED or name.startswith("sch_") or name in catalogue.names():
            owner = (
                "the catalogue has a schema of that name"
                if name in catalogue.names()
                else "reserved"
            )
            raise InvalidBody(
                f"the name {name!r} cannot be registered: {owner}",
                param="name",
                hint="choose another name",
                details=(Detail(pointer="/name", reason=owner),),
            )
        assert self._registry is not None  # the routes of the registry require it
        found = self._registry.register(tenant, name, schema)
        self._forget()
        return found

    def delete(self, tenant: str, reference: str) -> int:
        """As `SchemaRegistry.delete`."""
        assert self._registry is not None  # the routes of the registry require it
        deleted = self._registry.delete(tenant, reference)
        self._forget()
        return deleted

    def _found(
        self, registry: "SchemaRegistry", tenant: str, reference: str
    ) -> RegisteredSchema | None:
        key, now = (tenant, reference), self._clock()
        with self._lock:
            kept = self._kept.get(key)
        if kept is not None and now < kept[0]:
            return kept[1]
        found = registry.find(tenant, reference)
        with self._lock:
            self._kept.pop(key, None)
            if found is not None:
                self._kept[key] = (now + _FRESH_S, found)
            while len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)
        return found

    def _forget(self) -> None:
        with self._lock:
            self._kept.clear()

    def _explained(
        self, registry: "SchemaRegistry", tenant: str, given: str, unknown: UnknownSchema
    ) -> UnknownSchema:
        """The error for a name that nothing has; it suggests names of the registry, if any is similar."""
        name, _, version = given.partition("@")
        names = registry.names(tenant, _MOST_KEPT)
        close = get_close_matches(name, names, n=3)
        reason = "no schema of that name"
        if version and name in names:
            reason, close = "no such version of this schema", [name]
        return UnknownSchema(
            f"neither the registry nor the catalogue has a schema {given[:80]!r}",
            param="schema",
            hint=f"did you mean {', '.join(close)}?" if close else unknown.hint,
            details=(Detail(pointer="/schema", reason=reason),),
        )
