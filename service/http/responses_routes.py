"""The HTTP routes of OpenAI's responses.

Does: one function for each operation, and their table. Does not: prepare generations (`openai.prepare_response`), run
them (`generation_call`), or store responses (`openai.response_store`).
"""

from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import msgspec
from intaglio.schemas.openai.responses import (
    ResponseDeleted,
    ResponseEvent,
    ResponseItems,
    ResponseObject,
    ResponsesRequest,
)
from intaglio.schemas.openai.responses_items import InputItem
from intaglio.schemas.problem import Code
from starlette.requests import Request
from starlette.responses import Response

from ..errors import InvalidBody, UnknownResponse
from ..openai.prepare_response import prepare_response
from ..openai.response_answer import ResponseForm
from ..openai.response_input import listed
from .generation_call import answer
from .openai_errors import OPENAI_ERRORS, error_event
from .operations import (
    BODY_ERRORS,
    BUSY_ERRORS,
    RUN_ERRORS,
    SCHEMA_ERRORS,
    KeyScope,
    Operation,
    Parameter,
    endings,
)
from .principal import current_principal
from .problems import problem_response
from .routes import document
from .service_state import Service

if TYPE_CHECKING:
    from ..openai.response_store import ResponseStore, StoredResponse


@dataclass(frozen=True, slots=True)
class _Tenant:
    """The kept responses of one tenant; see `prepare_response.Kept`."""

    service: Service
    store: "ResponseStore"
    tenant: str

    def items(self, response: str) -> list[InputItem]:
        return self.store.items(self.tenant, response)

    def keep(self, items: Sequence[InputItem], response: dict[str, Any]) -> Awaitable[None]:
        work = partial(self.store.keep, self.tenant, items, response)
        return self.service.offload(work)


async def create(service: Service, request: Request) -> Response:
    """`POST /v1/responses`: answer an input of items."""
    store = service.responses
    kept = None if store is None else _Tenant(service, store, current_principal().tenant)

    def prepare(body: ResponsesRequest, model: Any) -> Any:
        return prepare_response(body, model, kept, _failed)

    return await answer(service, request, ResponsesRequest, prepare, error_event)


async def compact(_service: Service, _request: Request) -> Response:
    """`POST /v1/responses/compact`: refused.

    Raises:
        InvalidBody: always.
    """
    raise InvalidBody(
        "this server does not compact conversations",
        hint="send fewer or shorter items as input of POST /v1/responses",
    )


async def get(service: Service, request: Request) -> Response:
    """`GET /v1/responses/{id}`: a kept response.

    Raises:
        UnknownResponse: there is none.
        InvalidBody: it is to be streamed.
    """
    found = await _stored(service, request)
    if request.query_params.get("stream", "false") != "false":
        reason = "a kept response is not streamed again"
        raise InvalidBody(reason, param="stream", hint="omit stream: the response is complete")
    return Response(msgspec.json.encode(found.response), media_type="application/json")


async def delete(service: Service, request: Request) -> Response:
    """`DELETE /v1/responses/{id}`: delete a kept response."""
    store, name = _store(service, request), request.path_params["id"]
    await service.offload(partial(store.delete, current_principal().tenant, name))
    return document(ResponseDeleted(id=name))


async def input_items(service: Service, request: Request) -> Response:
    """`GET /v1/responses/{id}/input_items`: the items before the output of a kept response, the last one first."""
    found = await _stored(service, request)
    items = [listed(item, number) for number, item in enumerate(found.items)]
    items.reverse()
    names = [item["id"] for item in items]
    return document(
        ResponseItems(
            data=items, first_id=names[0] if names else None, last_id=names[-1] if names else None
        )
    )


async def _stored(service: Service, request: Request) -> "StoredResponse":
    store, tenant = _store(service, request), current_principal().tenant
    return await service.offload(partial(store.get, tenant, request.path_params["id"]))


def _store(service: Service, request: Request) -> "ResponseStore":
    if service.responses is None:
        raise UnknownResponse(
            f"there is no response {request.path_params['id'][:128]!r}: this server keeps none",
            hint="start it with a data folder: intaglio serve --data DIR",
        )
    return service.responses


def _failed(form: ResponseForm, error: Exception) -> bytes:
    """The event of an error that ends a stream."""
    problem = problem_response(error).problem
    message = "; ".join(part for part in (problem.message, problem.hint) if part)
    return form.failed(problem.code.value, message)


_GROUP: Final = "OpenAI"
_ID: Final = Parameter("id", "path", "The id of a response.")
_KEPT_ERRORS: Final = endings(Code.NOT_FOUND, Code.NOT_READY, Code.INTERNAL)

OPERATIONS: tuple[Operation, ...] = (
    Operation(
        method="POST",
        path="/v1/responses",
        handler=create,
        scope=KeyScope.EXTRACT,
        summary="Answer an input of items",
        group=_GROUP,
        description="OpenAI's responses, with the form of the text and calls of tools enforced while decoding. With "
        "`stream`, the answer is a stream of numbered events that ends with `[DONE]`.",
        takes=ResponsesRequest,
        gives=ResponseObject,
        streams=True,
        event=ResponseEvent,
        errors=(
            *BODY_ERRORS,
            *SCHEMA_ERRORS,
            *RUN_ERRORS,
            *BUSY_ERRORS,
            *endings(Code.NOT_FOUND, Code.REQUEST_QUARANTINED, Code.INTERNAL),
        ),
        error_body=OPENAI_ERRORS,
    ),
    Operation(
        method="POST",
        path="/v1/responses/compact",
        handler=compact,
        scope=KeyScope.ANY,
        summary="Refuse to compact a conversation",
        group=_GROUP,
        description="This service does not compact conversations: every request is refused.",
        errors=endings(Code.INVALID_REQUEST),
        error_body=OPENAI_ERRORS,
    ),
    Operation(
        method="GET",
        path="/v1/responses/{id}",
        handler=get,
        scope=KeyScope.EXTRACT,
        summary="Read a response",
        group=_GROUP,
        parameters=(_ID,),
        gives=ResponseObject,
        errors=(*_KEPT_ERRORS, *endings(Code.INVALID_REQUEST)),
        error_body=OPENAI_ERRORS,
    ),
    Operation(
        method="DELETE",
        path="/v1/responses/{id}",
        handler=delete,
        scope=KeyScope.EXTRACT,
        summary="Delete a response",
        group=_GROUP,
        parameters=(_ID,),
        gives=ResponseDeleted,
        errors=_KEPT_ERRORS,
        error_body=OPENAI_ERRORS,
    ),
    Operation(
        method="GET",
        path="/v1/responses/{id}/input_items",
        handler=input_items,
        scope=KeyScope.EXTRACT,
        summary="List the input of a response",
        group=_GROUP,
        parameters=(_ID,),
        gives=ResponseItems,
        errors=_KEPT_ERRORS,
        error_body=OPENAI_ERRORS,
    ),
)
