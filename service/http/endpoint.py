"""Routing of requests to operations.

Does: compose the operations of one path into an ASGI application, `HEAD` included, and find the operation that a path
and method mean; admit each request by scope and limits of its key (`key_accounts`). Does not: check keys (`access`) or
turn errors into responses (`app`).
"""

from collections.abc import Iterable, Mapping, Sequence

from starlette.requests import Request
from starlette.routing import Match, Route
from starlette.types import Receive, Scope, Send

from ..errors import MethodNotAllowed
from ..observability.generations import serving
from .operations import Operation
from .service_state import Service


class PathEndpoint:
    """One path as an ASGI application: its operations by method. `HEAD` is answered like `GET`."""

    def __init__(self, service: Service, pattern: str, operations: Mapping[str, Operation]) -> None:
        self._service = service
        self._pattern = pattern
        self._operations = operations

    def operation(self, method: str) -> Operation | None:
        """The operation of a method; None if the path does not support it."""
        return self._operations.get("GET" if method == "HEAD" else method)

    @property
    def any_operation(self) -> Operation:
        """One operation of the path: all of them belong to one protocol."""
        return next(iter(self._operations.values()))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["state"]["route"] = self._pattern
        operation = self.operation(scope["method"])
        if operation is None:
            methods = tuple(self._operations)
            allowed = methods + (("HEAD",) if "GET" in methods else ())
            raise MethodNotAllowed(f"this path does not support {scope['method']}", allowed)
        scope["state"]["operation"] = operation
        admitted = self._service.accounts.admitted(scope["state"]["principal"], operation.scope)
        with admitted, serving(self._pattern):  # also while a streamed response is sent
            response = await operation.handler(self._service, Request(scope, receive, send))
            await response(scope, receive, send)


def by_path(operations: Iterable[Operation]) -> Mapping[str, Mapping[str, Operation]]:
    """Operations by path, then by method, in the order of the tables.

    Raises:
        ValueError: two operations have the same path and method.
    """
    found: dict[str, dict[str, Operation]] = {}
    for operation in operations:
        methods = found.setdefault(operation.path, {})
        if operation.method in methods:
            raise ValueError(f"two operations are {operation.method} {operation.path}")
        methods[operation.method] = operation
    return found


def routes(service: Service, operations: Iterable[Operation]) -> list[Route]:
    """One route for each path, in the order of the tables: the first that matches is taken."""
    return [
        Route(path, PathEndpoint(service, path, methods))
        for path, methods in by_path(operations).items()
    ]


def operation_at(routes: Sequence[Route], scope: Scope) -> Operation | None:
    """The operation that a request means; of a path that lacks the method, any; None if there is no such path."""
    for route in routes:
        if route.matches(scope)[0] is not Match.NONE and isinstance(route.endpoint, PathEndpoint):
            return route.endpoint.operation(scope["method"]) or route.endpoint.any_operation
    return None
