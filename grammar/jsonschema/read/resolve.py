"""The locations of schemas in documents, and the targets of their references.

Does: walk schema documents, record base URIs, `$id`, anchors and dynamic anchors, resolve `$ref`, `$dynamicRef` and
`$recursiveRef` to locations. Does not: judge instances, or fetch anything: a document that is neither in the caller's
registry nor a meta-schema of the specification is refused.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NoReturn

import jsonschema_specifications

from ...contract.errors import InvalidConstraint, Refusal, UnsupportedConstraint
from .dialects import DRAFT2020, LISTS, MAPS, ONE, Dialect, from_vocabulary, named
from .keyword_shapes import is_schema, malformed
from .uri import defragment, join, step, steps
from .values import Json

_DYNAMIC = frozenset({"$dynamicAnchor", "$dynamicRef", "$recursiveAnchor", "$recursiveRef"})

MOST_FAULTS = 100  # malformed keywords reported at once


@dataclass(frozen=True, slots=True)
class SchemaLocation:
    """One schema in one document. `pointer`: from the root of the document; `base`: the URI of its resource."""

    document: str
    pointer: str
    base: str
    dialect: Dialect

    def __hash__(self) -> int:
        """The hash of what distinguishes the locations of one schema document."""
        return hash(self.pointer)

    @property
    def where(self) -> str:
        """The JSON Pointer for messages, preceded by the URI of the document unless it is the caller's own."""
        return f"{self.document}#{self.pointer}" if self.document else self.pointer


@dataclass(frozen=True, slots=True)
class Scope:
    """The dynamic scope: the resources on the path to a schema, outermost first, each once."""

    resources: tuple[str, ...] = ()

    def entered(self, resource: str) -> "Scope":
        """The scope inside `resource`."""
        if resource in self.resources:
            return self
        return Scope((*self.resources, resource))


class Schemas:
    """The documents of one schema, indexed on first use."""

    def __init__(
        self,
        root: Json,
        registry: Mapping[str, Json] | None = None,
        dialect: Dialect = DRAFT2020,
    ) -> None:
        """`root`: the caller's schema; `registry`: other documents by URI; `dialect`: of documents without `$schema`.

        `dynamic` becomes true once a document uses a keyword of the dynamic scope; until then scopes are not tracked.

        Raises:
            InvalidConstraint: a part of `root` is not a schema.
        """
        self.dynamic = False
        self._registry = {uri.rstrip("#"): schema for uri, schema in (registry or {}).items()}
        self._default = dialect
        self._values: dict[tuple[str, str], Json] = {}
        self._sites: dict[tuple[str, str], SchemaLocation] = {}
        self._resources: dict[str, SchemaLocation] = {}
        self._anchors: dict[tuple[str, str], SchemaLocation] = {}
        self._dynamic_anchors: dict[tuple[str, str], SchemaLocation] = {}
        self._roots: dict[str, Json] = {"": root}
        if not is_schema(root):
            _invalid("", "a schema must be an object or a Boolean")
        self._index("", "", SchemaLocation("", "", "", dialect))
        self.root = self._sites["", ""]

    def value(self, site: SchemaLocation) -> Json:
        """The schema at `site`."""
        return self._values[site.document, site.pointer]

    def below(self, site: SchemaLocation, *keys: str | int) -> SchemaLocation:
        """The sub-schema under `site` at `keys`."""
        pointer = site.pointer
        for key in keys:
            pointer = step(pointer, key)
        return self._sites[site.document, pointer]

    def resolve(
        self, site: SchemaLocation, reference: str, keyword: str = "$ref"
    ) -> SchemaLocation:
        """The target of `$ref: reference` in the schema at `site`.

        Raises:
            InvalidConstraint: the target does not exist or is not a schema.
            UnsupportedConstraint: the document is not available.
        """
        uri, fragment = defragment(join(site.base, reference))
        resource = self._resources.get(uri) or self._load(uri, site, keyword)
        if not fragment:
            return resource
        if fragment.startswith("/"):
            return self._at_pointer(resource, fragment, step(site.where, keyword))
        place = (resource.base, fragment)
        found = self._anchors.get(place) or self._dynamic_anchors.get(place)
        if found is None:
            _invalid(step(site.where, keyword), f"no anchor {fragment!r} in {uri or 'the schema'}")
        return found

    def resolve_dynamic(self, site: SchemaLocation, reference: str, scope: Scope) -> SchemaLocation:
        """The target of `$dynamicRef: reference` in a dynamic scope."""
        target = self.resolve(site, reference, "$dynamicRef")
        _, fragment = defragment(reference)
        if self._dynamic_anchors.get((target.base, fragment)) != target:
            return target
        for resource in scope.resources:
            outer = self._dynamic_anchors.get((resource, fragment))
            if outer is not None:
                return outer
        return target

    def resolve_recursive(self, site: SchemaLocation, scope: Scope) -> SchemaLocation:
        """The target of `$recursiveRef: "#"` in a dynamic scope (2019-09)."""
        target = self.resolve(site, "#", "$recursiveRef")
        if not self._is_recursive_anchor(target):
            return target
        for resource in scope.resources:
            outer = self._resources[resource]
            if self._is_recursive_anchor(outer):
                return outer
        return target

    def _is_recursive_anchor(self, site: SchemaLocation) -> bool:
        schema = self.value(site)
        return isinstance(schema, dict) and schema.get("$recursiveAnchor") is True

    def _load(self, uri: str, site: SchemaLocation, keyword: str) -> SchemaLocation:
        schema = self._registry.get(uri)
        where = step(site.where, keyword)
        if schema is None:
            schema = _meta_schema(uri)
        if schema is None:
            refusal = Refusal(
                where,
                keyword,
                f"{uri} is not available, and documents are never fetched",
                "copy the schema into $defs, or pass it along with this one",
            )
            raise UnsupportedConstraint(f"{where}: {refusal.reason}", (refusal,))
        if not is_schema(schema):
            _invalid(where, f"{uri} is not a schema")
        self._roots[uri] = schema
        self._index(uri, "", SchemaLocation(uri, "", uri, self._default))
        return self._resources[uri]

    def _at_pointer(self, resource: SchemaLocation, fragment: str, where: str) -> SchemaLocation:
        value = self.value(resource)
        pointer, nearest = resource.pointer, resource
        for key in steps(fragment):
            pointer = step(pointer, key)
            if isinstance(value, dict) and key in value:
                value = value[key]
            elif isinstance(value, list) and key.isdecimal() and int(key) < len(value):
                value = value[int(key)]
            else:
                _invalid(where, f"#{fragment} points to nothing")
            nearest = self._sites.get((resource.document, pointer), nearest)
        if (nearest.document, nearest.pointer) != (resource.document, pointer):
            # No keyword makes this place a schema: the reference does.
            if not is_schema(value):
                _invalid(where, f"the value at #{fragment} is not a schema")
            self._index(resource.document, pointer, nearest)
        return self._sites[resource.document, pointer]

    def _index(self, document: str, pointer: str, parent: SchemaLocation) -> None:
        """Index the schema at `pointer` and all schemas below it; `parent` supplies base URI and dialect.

        Raises:
            InvalidConstraint: keywords are malformed; schemas below such a schema are not indexed.
        """
        start = self._roots[document]
        for key in steps(pointer):
            start = start[int(key)] if isinstance(start, list) else start[key]  # type: ignore[index]  # a container, or refused before
        todo = [(start, pointer, parent)]
        faults: list[Refusal] = []
        while todo and len(faults) < MOST_FAULTS:
            schema, place, outer = todo.pop()
            site = self._enter(schema, place, outer)
            if isinstance(schema, dict):
                found = malformed(schema, site.where, site.dialect)
                faults += found
                below = () if found else tuple(parts(schema, place, site.dialect))
                todo += [(part, where, site) for part, where in reversed(below)]
        if faults:
            first = faults[0]
            raise InvalidConstraint(f"{first.where}: {first.keyword} {first.reason}", tuple(faults))

    def _enter(self, schema: Json, pointer: str, outer: SchemaLocation) -> SchemaLocation:
        """Record the base URI, dialect and anchors of one schema."""
        document, base, dialect = outer.document, outer.base, outer.dialect
        names: dict[str, Json] = schema if isinstance(schema, dict) else {}
        is_root = not pointer
        if "$schema" in names:
            stated = self._dialect(names["$schema"], pointer)
            own = names.get(stated.id_keyword)
            # Within a document it counts only beside an identifier (JSON Schema Core 2020-12, 8.1.1).
            if is_root or (isinstance(own, str) and not own.startswith("#")):
                dialect = stated
        identifier = names.get(dialect.id_keyword)
        if dialect.ref_alone and "$ref" in names:
            identifier = None
        anchor: Json = None
        if isinstance(identifier, str):
            if identifier.startswith("#") and dialect.ref_alone:
                anchor = identifier[1:]
            else:
                base = defragment(join(base, identifier))[0]
        site = SchemaLocation(document, pointer, base, dialect)
        self._values[document, pointer] = schema
        self._sites[document, pointer] = site
        if is_root or base != outer.base:
            self._resources[base] = site
        if is_root:
            self._resources[document] = site
        if dialect.modern:
            anchor = names.get("$anchor")
            dynamic = names.get("$dynamicAnchor")
            if isinstance(dynamic, str):
                self._dynamic_anchors[base, dynamic] = site
            self.dynamic = self.dynamic or not _DYNAMIC.isdisjoint(names)
        if isinstance(anchor, str):
            self._anchors[base, anchor] = site
        return site

    def _dialect(self, uri: Json, pointer: str) -> Dialect:
        where = step(pointer, "$schema")
        if not isinstance(uri, str):
            _invalid(where, "must be a URI")
        known = named(uri)
        if known is not None:
            return known
        custom = self._registry.get(uri.rstrip("#"))
        if not isinstance(custom, dict):
            _invalid(where, f"unknown draft {uri!r}", f"remove it, or use {DRAFT2020.uri}")
        return from_vocabulary(uri, custom.get("$vocabulary"), where)


def parts(schema: dict[str, Json], pointer: str, dialect: Dialect) -> Iterator[tuple[Json, str]]:
    """The sub-schemas directly in `schema` with their pointers."""
    if dialect.ref_alone and "$ref" in schema:
        # The siblings of `$ref` are ignored, but definitions among them can be referenced.
        schema = {key: schema[key] for key in ("definitions", "$defs") if key in schema}
    for keyword, value in schema.items():
        known = keyword in dialect.keywords or keyword == "contentSchema"
        below = step(pointer, keyword)
        if not known and keyword not in {"$defs", "definitions"}:
            continue
        if keyword in MAPS and isinstance(value, dict):
            yield from ((part, step(below, key)) for key, part in value.items() if is_schema(part))
        elif keyword in LISTS and isinstance(value, list):
            yield from ((part, step(below, i)) for i, part in enumerate(value) if is_schema(part))
        elif keyword in ONE and is_schema(value):
            yield value, below


def _meta_schema(uri: str) -> Json:
    """A meta-schema of the specification; None if `uri` names none."""
    for known in (uri, f"{uri}#"):
        if known in jsonschema_specifications.REGISTRY:
            contents: Json = jsonschema_specifications.REGISTRY.contents(known)
            return contents
    return None


def _invalid(where: str, reason: str, hint: str = "correct the schema at this place") -> NoReturn:
    refusal = Refusal(where, where.rpartition("/")[2], reason, hint)
    raise InvalidConstraint(f"{where or 'the schema'}: {reason}", (refusal,))
