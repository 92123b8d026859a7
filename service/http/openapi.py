"""The HTTP interface as an OpenAPI 3.1 document, built from operations and their wire types.

Does: describe the request, the response, the errors and the key of each operation. Does not: declare operations (each
module of handlers does) or handle requests.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from .operations import EVENTS, JSON, KeyScope, Operation, Parameter, access_errors

_REF = "#/components/schemas/{model}"
_KEY = "ApiKey"


Schema = Mapping[str, Any]
Side = tuple[type[Any], JsonSchemaMode]
"""A wire type, as the server takes it (validation) or gives it (serialization)."""


def document(operations: Sequence[Operation]) -> Schema:
    """The OpenAPI document of these operations. Takes a tenth of a second or more."""
    refs, schemas = models_json_schema(
        sorted(_wire_types(operations), key=_name), ref_template=_REF
    )
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        described = _Description(refs).operation(operation)
        paths.setdefault(_path(operation), {})[operation.method.lower()] = described
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Intaglio",
            "version": version("intaglio"),
            "description": "A schema and a document in, validated JSON out.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": paths,
        "components": {
            "schemas": schemas["$defs"],
            "securitySchemes": {
                _KEY: {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "An API key, on a server that has keys.",
                }
            },
        },
    }


def _wire_types(operations: Iterable[Operation]) -> set[Side]:
    found: set[Side] = set()
    for operation in operations:
        if operation.takes is not None:
            found.add((operation.takes, "validation"))
        given = (operation.gives, operation.event, operation.error_body.document)
        found.update((kind, "serialization") for kind in given if kind is not None)
    return found


def _name(side: Side) -> tuple[str, str, str]:
    kind, mode = side
    return kind.__name__, kind.__module__, mode


def _path(operation: Operation) -> str:
    """The path without converters of parameters: `/files/{name}` of `/files/{name:path}`."""
    return re.sub(r"\{(\w+):\w+\}", r"{\1}", operation.path)


class _Description:
    """Describes operations with references to the schemas of their wire types."""

    def __init__(self, refs: Mapping[Any, Schema]) -> None:
        self._refs = refs

    def operation(self, operation: Operation) -> dict[str, Any]:
        """One operation as OpenAPI describes it."""
        responses = {str(operation.status): self._response(operation)} | self._errors(operation)
        if operation.or_status is not None:
            responses[str(operation.or_status)] = self._response(operation)
        if operation.cacheable:
            responses["304"] = {"description": "The client has it already."}
        if operation.or_unavailable:
            responses["503"] = {**self._response(operation), "description": "Not now."}
        described: dict[str, Any] = {
            "operationId": _operation_id(operation),
            "summary": operation.summary,
            "tags": [operation.group],
            "responses": responses,
        }
        if operation.scope is not KeyScope.NONE:
            # Nothing or a key: a server without keys asks for none.
            described["security"] = [{}, {_KEY: [str(operation.scope)]}]
        if operation.description:
            described["description"] = operation.description
        if operation.parameters:
            described["parameters"] = [_parameter(parameter) for parameter in operation.parameters]
        if operation.takes is not None or operation.takes_media is not None:
            content = {operation.takes_media or JSON: self._schema(operation.takes, "validation")}
            described["requestBody"] = {"required": True, "content": content}
        return described

    def _schema(self, kind: type[BaseModel] | None, mode: JsonSchemaMode) -> Schema:
        return {} if kind is None else {"schema": self._refs[kind, mode]}

    def _response(self, operation: Operation) -> dict[str, Any]:
        if not operation.gives_media:
            return {"description": "Done; empty body."}
        content = {operation.gives_media: self._schema(operation.gives, "serialization")}
        content |= {media: {} for media in operation.or_media}
        if operation.streams:
            content[EVENTS] = self._schema(operation.event, "serialization")
        return {"description": "Success.", "content": content}

    def _errors(self, operation: Operation) -> dict[str, Any]:
        """One response for each status, with its error codes."""
        by_status: defaultdict[int, set[str]] = defaultdict(set)
        for code, status in (*operation.errors, *access_errors(operation)):
            by_status[status].add(code.value)
        schema = self._schema(operation.error_body.document, "serialization")
        return {
            str(status): {
                "description": ", ".join(f"`{code}`" for code in sorted(by_status[status])),
                "content": {JSON: schema},
            }
            for status in sorted(by_status)
        }


def _operation_id(operation: Operation) -> str:
    words = [
        word.strip("{}").replace(".", "_")
        for word in _path(operation).split("/")
        if word not in ("", "v1")
    ]
    return "_".join([operation.method.lower(), *words])


def _parameter(parameter: Parameter) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    if parameter.choices:
        schema["enum"] = list(parameter.choices)
    if parameter.default is not None:
        schema["default"] = parameter.default
    return {
        "name": parameter.name,
        "in": parameter.place,
        "required": parameter.place == "path",
        "description": parameter.description,
        "schema": schema,
    }
