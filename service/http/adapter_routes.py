"""The HTTP routes of adapters.

Does: one function for each operation, and their table. Does not: check adapters (`adapters`).
"""

from functools import partial

from intaglio.schemas.adapter_objects import AdapterCard, AdapterList, LoadAdapter
from intaglio.schemas.problem import Code
from starlette.requests import Request
from starlette.responses import Response

from ..adapters.adapter_registry import AdapterRegistry, LoadedAdapter
from ..errors import ServiceNotReady
from .generation_call import body_of, loaded_model
from .operations import BODY_ERRORS, KeyScope, Operation, Parameter, endings
from .routes import document
from .service_state import Service


async def load(service: Service, request: Request) -> Response:
    """`POST /v1/adapters`: let requests name an adapter, once it is known to fit the model."""
    body = await body_of(service, request, LoadAdapter)
    registry = _registry(service)
    found, is_new = await service.offload_serially(partial(registry.load, body.name, body.path))
    return document(_card(service, found), 201 if is_new else 200)


async def listing(service: Service, _request: Request) -> Response:
    """`GET /v1/adapters`: the adapters that requests may name."""
    found = await service.offload(_registry(service).listing)
    return document(AdapterList(data=tuple(_card(service, one) for one in found)))


async def unload(service: Service, request: Request) -> Response:
    """`DELETE /v1/adapters/{name}`: let no further request name an adapter."""
    registry = _registry(service)
    await service.offload_serially(partial(registry.unload, request.path_params["name"]))
    return Response(status_code=204)


def _registry(service: Service) -> AdapterRegistry:
    if service.adapters is None:
        raise ServiceNotReady("the model is loading", hint="try again when GET /ready answers 200")
    return service.adapters


def _card(service: Service, adapter: LoadedAdapter) -> AdapterCard:
    return AdapterCard(
        id=adapter.name,
        parent=loaded_model(service).info.model,
        path=adapter.path,
        rank=adapter.rank,
        modules=adapter.modules,
        digest=adapter.digest,
        fixed=adapter.fixed,
    )


_GROUP = "Adapters"
_CONFLICT = (Code.INVALID_REQUEST, 409)

OPERATIONS: tuple[Operation, ...] = (
    Operation(
        method="POST",
        path="/v1/adapters",
        handler=load,
        scope=KeyScope.ADMIN,
        summary="Load an adapter",
        group=_GROUP,
        description="Compares the files of a LoRA adapter with the model, and gives it a name that requests may use in "
        "place of the model's. Status 200 tells that it is loaded already.",
        takes=LoadAdapter,
        gives=AdapterCard,
        status=201,
        or_status=200,
        errors=(*BODY_ERRORS, *endings(Code.ADAPTER_UNUSABLE, Code.NOT_READY), _CONFLICT),
    ),
    Operation(
        method="GET",
        path="/v1/adapters",
        handler=listing,
        scope=KeyScope.ADMIN,
        summary="List the adapters",
        group=_GROUP,
        gives=AdapterList,
        errors=endings(Code.NOT_READY),
    ),
    Operation(
        method="DELETE",
        path="/v1/adapters/{name}",
        handler=unload,
        scope=KeyScope.ADMIN,
        summary="Unload an adapter",
        group=_GROUP,
        description="New requests cannot name it any more; those that run with it end as they began.",
        gives_media="",
        status=204,
        parameters=(Parameter("name", "path", "The name of the adapter."),),
        errors=(*endings(Code.UNKNOWN_MODEL, Code.INVALID_REQUEST, Code.NOT_READY), _CONFLICT),
    ),
)
