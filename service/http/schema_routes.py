"""The HTTP routes of the schema registry.

Does: one function for each operation, and their table. Does not: store schemas (`registry`) or examine them.
"""

from functools import partial
from typing import TYPE_CHECKING

from intaglio.schemas.extraction.requests import ExtractRequest
from intaglio.schemas.problem import Code
from intaglio.schemas.registry import RegisteredSchema, RegisterSchema, SchemaPage
from starlette.requests import Request
from starlette.responses import Response

from ..errors import RouteNotFound
from ..extraction.translate import register_request
from .extraction_runs import examine, warm
from .limits import read_body
from .operations import (
    BODY_ERRORS,
    BUSY_ERRORS,
    SCHEMA_ERRORS,
    KeyScope,
    Operation,
    Parameter,
    endings,
)
from .principal import current_principal
from .routes import document, page_limit, while_connected
from .service_state import Service

if TYPE_CHECKING:  # SQLAlchemy is an extra
    from ..registry.schema_registry import SchemaRegistry

_PAGE = 100
_MOST_OF_A_PAGE = 1000


def registry_of(service: Service) -> "SchemaRegistry":
    """The registry of this server.

    Raises:
        RouteNotFound: the server has no data folder.
    """
    if service.schemas.registry is None:
        raise RouteNotFound(
            "this server has no registry of schemas",
            hint="start it with a data folder: intaglio serve --data DIR",
        )
    return service.schemas.registry


async def register(service: Service, request: Request) -> Response:
    """`POST /v1/schemas`: register a schema as a new version of its name, once it has been examined."""
    registry_of(service)
    with service.gate.admit():
        service.ready()
        raw = await read_body(
            request,
            max_bytes=service.config.max_body_bytes,
            max_seconds=service.config.body_timeout_s,
        )
        body = await service.offload(
            partial(register_request, raw, max_depth=service.config.max_json_depth)
        )
        tried = ExtractRequest(schema=body.schema_, text="-")
        work = examine(service, lambda extractor: extractor.parse(tried))
        parsed = await while_connected(request.receive, work)
        if body.warm:
            await while_connected(request.receive, warm(service, parsed))
        tenant = current_principal().tenant
        found, is_new = await service.offload(
            lambda: service.schemas.register(tenant, body.name, body.schema_)
        )
        told = found.model_copy(update={"contract": parsed.contract})
        return document(told, 201 if is_new else 200)


async def listing(service: Service, request: Request) -> Response:
    """`GET /v1/schemas`: the registered schemas, page by page."""
    registry = registry_of(service)
    limit = page_limit(request, _MOST_OF_A_PAGE, _PAGE)
    tenant, query = current_principal().tenant, request.query_params
    page = partial(registry.page, tenant, limit, query.get("after", ""), query.get("name"))
    return document(await service.offload(page))


async def show(service: Service, request: Request) -> Response:
    """`GET /v1/schemas/{reference}`: one version of a schema."""
    registry, tenant = registry_of(service), current_principal().tenant
    reference = request.path_params["reference"]
    return document(await service.offload(partial(registry.get, tenant, reference)))


async def delete(service: Service, request: Request) -> Response:
    """`DELETE /v1/schemas/{reference}`: delete a version, or all versions of a name."""
    registry_of(service)
    tenant, reference = current_principal().tenant, request.path_params["reference"]
    await service.offload(partial(service.schemas.delete, tenant, reference))
    return Response(status_code=204)


async def warm_up(service: Service, request: Request) -> Response:
    """`POST /v1/schemas/{reference}/warm`: prepare the engine for requests with a schema."""
    registry, tenant = registry_of(service), current_principal().tenant
    with service.gate.admit():
        service.ready()
        found = await service.offload(
            partial(registry.get, tenant, request.path_params["reference"])
        )
        assert found.schema_ is not None  # only lists omit it
        tried = ExtractRequest(schema=found.schema_, text="-")
        work = examine(service, lambda extractor: extractor.parse(tried))
        parsed = await while_connected(request.receive, work)
        await while_connected(request.receive, warm(service, parsed))
        return document(found.model_copy(update={"contract": parsed.contract}))


_REFERENCE = Parameter(
    "reference", "path", "An id, `name@version`, or `name`, which means the latest version."
)
_NO_REGISTRY = endings(Code.NOT_FOUND)
_UNKNOWN = (*_NO_REGISTRY, *endings(Code.UNKNOWN_SCHEMA, Code.NOT_READY))
_EXAMINED = (*SCHEMA_ERRORS, *BUSY_ERRORS, *endings(Code.INTERNAL, Code.CONTEXT_LENGTH_EXCEEDED))
_GROUP = "Schemas"

OPERATIONS: tuple[Operation, ...] = (
    Operation(
        method="POST",
        path="/v1/schemas",
        handler=register,
        scope=KeyScope.ADMIN,
        summary="Register a schema",
        group=_GROUP,
        description="Stores a schema under a name, as its next version, if it can be enforced; refuses it with the "
        "reasons otherwise. Status 200 tells that the latest version of the name is this schema already.",
        takes=RegisterSchema,
        gives=RegisteredSchema,
        status=201,
        or_status=200,
        errors=(*BODY_ERRORS, *_NO_REGISTRY, *_EXAMINED),
    ),
    Operation(
        method="GET",
        path="/v1/schemas",
        handler=listing,
        scope=KeyScope.ANY,
        summary="List the registered schemas",
        group=_GROUP,
        description="All versions of the tenant, by name and version, without the schemas themselves.",
        gives=SchemaPage,
        parameters=(
            Parameter(
                "limit", "query", f"Entries of a page, at most {_MOST_OF_A_PAGE}.", default="100"
            ),
            Parameter("after", "query", "`next` of the page before."),
            Parameter("name", "query", "Only versions of this name."),
        ),
        errors=(*_NO_REGISTRY, *endings(Code.INVALID_REQUEST, Code.NOT_READY)),
    ),
    Operation(
        method="GET",
        path="/v1/schemas/{reference}",
        handler=show,
        scope=KeyScope.ANY,
        summary="A registered schema",
        group=_GROUP,
        gives=RegisteredSchema,
        parameters=(_REFERENCE,),
        errors=_UNKNOWN,
    ),
    Operation(
        method="DELETE",
        path="/v1/schemas/{reference}",
        handler=delete,
        scope=KeyScope.ADMIN,
        summary="Delete a registered schema",
        group=_GROUP,
        description="With `name`, all its versions. The numbers of deleted versions are not used again.",
        gives_media="",
        status=204,
        parameters=(_REFERENCE,),
        errors=_UNKNOWN,
    ),
    Operation(
        method="POST",
        path="/v1/schemas/{reference}/warm",
        handler=warm_up,
        scope=KeyScope.ADMIN,
        summary="Prepare the engine for a schema",
        group=_GROUP,
        description="Compiles the schema in the engine and computes the beginning of its prompt, so that the first "
        "request with it waits for neither. Registering does the same.",
        gives=RegisteredSchema,
        parameters=(_REFERENCE,),
        errors=(*_NO_REGISTRY, *_EXAMINED),
    ),
)
