"""The HTTP routes of batches: requests in a file, answered in the background, as OpenAI's clients know them.

Does: one function for each operation and their table, as in `routes`. Does not: run batches (`batches.batch_host`).
"""

from functools import partial

from intaglio.schemas.openai.batches import BatchList, BatchObject, BatchRequest
from intaglio.schemas.problem import Code
from starlette.requests import Request
from starlette.responses import Response

from ..extraction.translate import batch_request
from .file_routes import batch_host
from .limits import read_body
from .operations import BODY_ERRORS, BUSY_ERRORS, KeyScope, Operation, Parameter, endings
from .principal import current_principal
from .routes import document, page_limit
from .service_state import Service

_MAX_PAGE = 100
_PAGE = 20


async def create_batch(service: Service, request: Request) -> Response:
    """`POST /v1/batches`: answer the requests in an uploaded file."""
    from ..batches.batch_ledger import BatchOwner

    host = batch_host(service)
    with service.gate.admit():
        body = await read_body(
            request,
            max_bytes=service.config.max_body_bytes,
            max_seconds=service.config.body_timeout_s,
        )
        asked = batch_request(body, max_depth=service.config.max_json_depth)
        who = current_principal()
        owner = BatchOwner(who.tenant, who.key_id, who.cache_salt)
        created = await service.offload(partial(host.create, asked, owner, service.model))
        host.wake()
    return document(created)


async def list_batches(service: Service, request: Request) -> Response:
    """`GET /v1/batches`: batches, newest first."""
    host, limit = batch_host(service), page_limit(request, _MAX_PAGE, _PAGE)
    after = request.query_params.get("after")
    listing = partial(host.ledger.listing, current_principal().tenant, after, limit)
    data, has_more = await service.offload(listing)
    return document(
        BatchList(
            data=data,
            first_id=data[0].id if data else None,
            last_id=data[-1].id if data else None,
            has_more=has_more,
        )
    )


async def show_batch(service: Service, request: Request) -> Response:
    """`GET /v1/batches/{id}`: the state of a batch."""
    find = partial(batch_host(service).ledger.described, request.path_params["id"])
    return document(await service.offload(partial(find, current_principal().tenant)))


async def cancel_batch(service: Service, request: Request) -> Response:
    """`POST /v1/batches/{id}/cancel`: stop a batch; what has been answered is written to its output file."""
    host = batch_host(service)
    cancel = partial(host.ledger.cancel, request.path_params["id"], current_principal().tenant)
    cancelled = await service.offload(cancel)
    host.wake()
    return document(cancelled)


_BATCH = Parameter("id", "path", "The batch's id, as `POST /v1/batches` gave it.")
_batch = partial(Operation, scope=KeyScope.JOBS, group="Batches")

OPERATIONS: tuple[Operation, ...] = (
    _batch(
        method="POST",
        path="/v1/batches",
        handler=create_batch,
        summary="Create a batch",
        description="Answers every request in an uploaded file within 24 hours.",
        takes=BatchRequest,
        gives=BatchObject,
        errors=(*BODY_ERRORS, *endings(Code.NOT_FOUND), *BUSY_ERRORS),
    ),
    _batch(
        method="GET",
        path="/v1/batches",
        handler=list_batches,
        summary="List the batches",
        gives=BatchList,
        parameters=(
            Parameter("limit", "query", "The most items of a page."),
            Parameter("after", "query", "The id of the last item of the page before."),
        ),
        errors=endings(Code.NOT_FOUND, Code.INVALID_REQUEST),
    ),
    _batch(
        method="GET",
        path="/v1/batches/{id}",
        handler=show_batch,
        summary="State of a batch",
        gives=BatchObject,
        parameters=(_BATCH,),
        errors=endings(Code.NOT_FOUND),
    ),
    _batch(
        method="POST",
        path="/v1/batches/{id}/cancel",
        handler=cancel_batch,
        summary="Cancel a batch",
        description="What has been answered is written to its output file.",
        gives=BatchObject,
        parameters=(_BATCH,),
        errors=(*endings(Code.NOT_FOUND), (Code.INVALID_REQUEST, 422)),
    ),
)
