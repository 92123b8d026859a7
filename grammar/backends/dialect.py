"""The drafts of JSON Schema: which keywords count, and what a reference points to.

Does: find a schema's draft, check it against its metaschema, resolve local references, name keywords of other drafts.
Does not: give keywords a meaning (`flat`), or fetch anything.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

import jsonschema
import jsonschema.validators

from ..errors import InvalidConstraint, Refusal

Schema = Any  # a JSON value in the place of a schema: an object or a Boolean


@dataclass(frozen=True, slots=True)
class Sub:
    """A subschema and its JSON Pointer."""

    schema: Schema
    where: str

    def at(self, *path: str | int) -> "Sub":
        """The part that `path` leads to."""
        schema, where = self.schema, self.where
        for key in path:
            schema = schema[key]
            where += "/" + str(key).replace("~", "~0").replace("/", "~1")
        return Sub(schema, where)


class Refused(Exception):
    """A subschema cannot be enforced."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.reason)
        self.refusal = refusal


def refuse(sub: Sub, keyword: str, reason: str, hint: str) -> Refused:
    """The exception for a keyword of `sub`."""
    where = sub.where
    if isinstance(sub.schema, Mapping) and keyword in sub.schema:
        where = sub.at(keyword).where
    return Refused(Refusal(where, keyword, reason, hint))


_VALIDATORS: dict[int, Any] = {
    4: jsonschema.Draft4Validator,
    6: jsonschema.Draft6Validator,
    7: jsonschema.Draft7Validator,
    2019: jsonschema.Draft201909Validator,
    2020: jsonschema.Draft202012Validator,
}
_URIS = {
    str(cls.META_SCHEMA.get("$id", cls.META_SCHEMA.get("id"))).rstrip("#"): n
    for n, cls in _VALIDATORS.items()
}
_SINCE = {
    "const": 6, "contains": 6, "propertyNames": 6, "if": 7, "dependentRequired": 2019, "dependentSchemas": 2019,
    "unevaluatedProperties": 2019, "unevaluatedItems": 2019, "prefixItems": 2020,
}  # fmt: skip
_UNTIL = {"dependencies": 7, "additionalItems": 2019}
_VALUES = frozenset({"enum", "const", "default", "examples", "example"})


class Dialect:
    """One schema document and the draft it is written in.

    Raises:
        InvalidConstraint: its `$schema` is unknown, or it is not a schema of that draft.
    """

    def __init__(self, document: Schema) -> None:
        self.root = Sub(document, "")
        self.draft = _draft(document)
        self.validator: Any = _VALIDATORS[self.draft]
        self._check(self.root)
        self._base = ""
        self._anchors: dict[str, Sub] = {}
        self._resources: dict[str, Sub] = {}
        self._scan()

    def keywords(self, sub: Sub) -> Mapping[str, Any]:
        """The keywords of an object schema that its draft knows; up to draft 7 `$ref` stands alone.

        Raises:
            Refused: a keyword of another draft asks for something that this one would ignore.
        """
        schema: Mapping[str, Any] = sub.schema
        if "$ref" in schema and self.draft <= 7:
            return {"$ref": schema["$ref"]}
        for keyword in schema:
            since, until = _SINCE.get(keyword, 4), _UNTIL.get(keyword, 2020)
            if (
                not since <= self.draft <= until
                and schema[keyword] is not True
                and schema[keyword] != {}
            ):
                name = f"draft {self.draft}" if self.draft < 2000 else "this draft"
                raise refuse(
                    sub,
                    keyword,
                    f"it is not a keyword of {name} and would be ignored",
                    "declare the draft that has it in $schema, or use the keyword of this one",
                )
        return schema

    def resolve(self, sub: Sub, keyword: str = "$ref") -> Sub:
        """What the reference in `sub` points to.

        Raises:
            Refused: it points out of the document, or from within or into an embedded resource.
            InvalidConstraint: it points nowhere.
        """
        reference = str(sub.schema[keyword])
        inside = [
            at for at in self._resources.values() if (sub.where + "/").startswith(at.where + "/")
        ]
        target, fragment = urldefrag(reference)
        if target:
            target = urljoin(self._base, target)
        if inside or (target and target != self._base):
            known = self._resources.get(target)
            if inside or known is None or fragment:
                raise refuse(
                    sub,
                    keyword,
                    "the schema is not in this document"
                    if not inside
                    else "references under a $id are not followed",
                    "copy it into $defs and refer to #/$defs/...",
                )
            return known
        found = self._fragment(unquote(fragment))
        if found is None:
            raise InvalidConstraint(
                f"{sub.where or '/'}: {reference} points to nothing",
                (
                    Refusal(
                        sub.at(keyword).where,
                        keyword,
                        "it points to nothing",
                        "correct the pointer",
                    ),
                ),
            )
        if not found.where.startswith(("/$defs/", "/definitions/", "/properties/")):
            self._check(found)
        return found

    def _fragment(self, fragment: str) -> Sub | None:
        if fragment in self._anchors:
            return self._anchors[fragment]
        at = self.root
        if fragment and not fragment.startswith("/"):
            return None
        for part in fragment.split("/")[1:]:
            key = part.replace("~1", "/").replace("~0", "~")
            if isinstance(at.schema, Mapping) and key in at.schema:
                at = at.at(key)
            elif isinstance(at.schema, list) and key.isdigit() and int(key) < len(at.schema):
                at = at.at(int(key))
            else:
                return None
        return at

    def _check(self, sub: Sub) -> None:
        # Patterns are read by our own parser, so the metaschema's `format: regex` is not asked.
        meta = self.validator(self.validator.META_SCHEMA)
        error = next(iter(meta.iter_errors(sub.schema)), None)
        if error is not None:
            where = sub.where + "".join(
                "/" + str(part).replace("~", "~0").replace("/", "~1")
                for part in error.absolute_path
            )
            keyword = str(error.absolute_path[-1]) if error.absolute_path else ""
            reason = error.message if len(error.message) < 300 else error.message[:300] + "…"
            refusal = Refusal(
                where, keyword, reason, "see the JSON Schema specification of its draft"
            )
            raise InvalidConstraint(
                f"not a JSON Schema: {where or 'the root'}: {reason}", (refusal,)
            )

    def _scan(self) -> None:
        name = "$id" if self.draft > 4 else "id"
        for sub in _objects(self.root):
            own = sub.schema.get(name)
            if isinstance(own, str) and not (self.draft <= 7 and "$ref" in sub.schema):
                target, fragment = urldefrag(own)
                if not sub.where:
                    self._base = target
                elif target:
                    self._resources[urljoin(self._base, target)] = sub
                if fragment and self.draft <= 7:
                    self._anchors[fragment] = sub
            anchor = sub.schema.get("$anchor")
            if isinstance(anchor, str) and self.draft >= 2019:
                self._anchors[anchor] = sub


def _draft(document: Schema) -> int:
    uri = document.get("$schema") if isinstance(document, Mapping) else None
    if uri is None:
        return 2020
    known = (
        str(uri)
        .rstrip("#")
        .replace("https://json-schema.org/draft-0", "http://json-schema.org/draft-0")
    )
    if known in ("http://json-schema.org/schema", "https://json-schema.org/schema"):
        return 2020
    if known not in _URIS:
        refusal = Refusal(
            "/$schema", "$schema", "the draft is unknown", "use one of " + ", ".join(_URIS)
        )
        raise InvalidConstraint(f"unknown draft {str(uri)[:100]!r}", (refusal,))
    return _URIS[known]


def _objects(root: Sub) -> Iterator[Sub]:
    todo = [root]
    while todo:
        sub = todo.pop()
        if isinstance(sub.schema, Mapping):
            yield sub
            todo += [sub.at(key) for key in sub.schema if key not in _VALUES]
        elif isinstance(sub.schema, list):
            todo += [sub.at(index) for index in range(len(sub.schema))]
