"""Operations: routing, `HEAD`, error bodies of a protocol, and the OpenAPI document, from one table."""

import asyncio
import json
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest
from intaglio.schemas.problem import Code
from intaglio.service.errors import MethodNotAllowed
from intaglio.service.http.document_routes import documented
from intaglio.service.http.endpoint import by_path, operation_at, routes
from intaglio.service.http.interface import OPERATIONS
from intaglio.service.http.openapi import document
from intaglio.service.http.operations import (
    OWN_ERRORS,
    ErrorBody,
    KeyScope,
    Operation,
    access_errors,
    endings,
)
from intaglio.service.http.principal import ANONYMOUS, Principal
from intaglio.service.http.problems import ProblemResponse, problem_response
from intaglio.service.http.service_state import Service
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Router
from starlette.types import Message


class OpenAccounts:
    """Admits every request."""

    def admitted(self, principal: Principal, scope: KeyScope) -> AbstractContextManager[None]:
        return nullcontext()


# The handlers of this file do not look at the service.
NO_SERVICE = cast("Service", SimpleNamespace(accounts=OpenAccounts()))


class Word(BaseModel):
    """A body of this file."""

    word: str


class OtherErrors(BaseModel):
    """The error document of another protocol."""

    error: str


def other_errors(reply: ProblemResponse) -> bytes:
    return json.dumps({"error": f"other: {reply.problem.code}"}).encode()


async def say(_service: Service, request: Request) -> Response:
    return Response(f"{request.method} {request.path_params.get('name', '')}")


READ = Operation(
    method="GET",
    path="/words/{name}",
    handler=say,
    scope=KeyScope.EXTRACT,
    summary="Read a word",
    group="Words",
    gives=Word,
    errors=endings(Code.NOT_FOUND),
    error_body=ErrorBody(OtherErrors, other_errors),
)
WRITE = replace(READ, method="POST", takes=Word, streams=True, event=Word, scope=KeyScope.NONE)
PLAIN = replace(READ, path="/plain", method="PUT", error_body=OWN_ERRORS)


def scope_of(method: str, path: str) -> dict[str, Any]:
    return {
        "type": "http",
        "method": method,
        "path": path,
        "headers": [],
        "state": {"principal": ANONYMOUS},
    }


def answered(method: str, path: str) -> bytes:
    """What a router of the operations of this file answers."""
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.request", "body": b""}

    router = Router(routes(NO_SERVICE, (READ, WRITE, PLAIN)))
    asyncio.run(router(scope_of(method, path), receive, send))
    return b"".join(message.get("body", b"") for message in sent)


def test_a_request_reaches_the_operation_of_its_path_and_method() -> None:
    assert answered("GET", "/words/a") == b"GET a"
    assert answered("POST", "/words/b") == b"POST b"
    assert answered("HEAD", "/words/c") == b"HEAD c"  # the server leaves the body out


def test_a_method_that_the_path_lacks_is_refused_with_those_it_has() -> None:
    with pytest.raises(MethodNotAllowed) as refused:
        answered("DELETE", "/words/a")
    assert refused.value.allowed == ("GET", "POST", "HEAD")
    with pytest.raises(MethodNotAllowed) as refused:
        answered("HEAD", "/plain")
    assert refused.value.allowed == ("PUT",)


def test_errors_have_the_body_of_the_protocol_that_the_path_belongs_to() -> None:
    table = routes(NO_SERVICE, (READ, WRITE, PLAIN))
    assert operation_at(table, scope_of("GET", "/words/a")) is READ
    assert operation_at(table, scope_of("HEAD", "/words/a")) is READ
    refused = operation_at(table, scope_of("DELETE", "/words/a"))
    assert refused is not None
    reply = problem_response(MethodNotAllowed("no", ("GET",)))
    assert refused.error_body.write(reply) == b'{"error": "other: method_not_allowed"}'
    plain = operation_at(table, scope_of("PUT", "/plain"))
    assert plain is not None
    assert json.loads(plain.error_body.write(reply))["error"]["code"] == "method_not_allowed"
    assert operation_at(table, scope_of("GET", "/nowhere")) is None


def test_two_operations_of_one_path_and_method_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="GET /words/"):
        by_path((READ, READ))


def test_the_document_tells_bodies_events_errors_and_keys() -> None:
    described = document((READ, WRITE))["paths"]["/words/{name}"]
    assert described["get"]["security"] == [{}, {"ApiKey": ["extract"]}]
    assert "security" not in described["post"]
    assert set(described["get"]["responses"]) == {"200", "401", "403", "404", "429"}
    assert set(described["post"]["responses"]) == {"200", "404"}
    error = described["get"]["responses"]["404"]["content"]["application/json"]["schema"]
    assert error == {"$ref": "#/components/schemas/OtherErrors"}
    assert set(described["post"]["responses"]["200"]["content"]) == {
        "application/json",
        "text/event-stream",
    }
    taken = described["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert taken == {"$ref": "#/components/schemas/Word"}


def test_the_document_describes_itself() -> None:
    complete = documented((READ,))
    assert [operation.path for operation in complete][:2] == ["/words/{name}", "/openapi.json"]
    assert "/openapi.json" in document(complete)["paths"]


def test_only_probes_and_the_files_of_a_page_need_no_key() -> None:
    open_to_all = {o.path for o in OPERATIONS if o.scope is KeyScope.NONE}
    assert open_to_all == {
        *("/health", "/healthz", "/ready", "/readyz"),
        *("/docs", "/docs/{asset}"),
        *("/", "/page/{asset}"),
    }
    assert all(access_errors(o) for o in OPERATIONS if o.path not in open_to_all)
