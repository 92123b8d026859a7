# Generated from _async_wire.py by `make sync-client`; change that file.
"""The HTTP connection to a service, with retries. The synchronous form is generated from the asynchronous one.

Does: send calls over persistent connections and raise failures as `IntaglioError`. Does not: know routes or types.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NoReturn, TypeVar

import httpx2
from pydantic import BaseModel, ValidationError

from ._connections import Connections
from .config import Address
from .errors import IntaglioError, status_error, transport_error
from .models import unexpected
from .retry import Retries
from .sendable import encoded

M = TypeVar("M", bound=BaseModel)

CONNECT_SECONDS = 10.0
JSON_TYPE = "application/json"


class Wire:
    """The connections of one client. `timeout` is the time limit for each answer in seconds."""

    def __init__(
        self,
        where: Address,
        timeout: float,
        retries: Retries,
        transport: httpx2.BaseTransport | None,
    ) -> None:
        self.base_url = where.base_url
        _limits(timeout)
        self._timeout = timeout
        self.retries = retries
        self._http = Connections(
            lambda: httpx2.Client(
                base_url=where.base_url,
                headers=where.headers(),
                transport=transport,
                # The service queues and reports a full queue; a second queue here would hide that.
                limits=httpx2.Limits(max_connections=None, max_keepalive_connections=100),
            )
        )

    def __getstate__(self) -> NoReturn:
        raise TypeError(
            "a client has connections, which cannot be pickled or copied: make one in each process"
        )

    def close(self) -> None:
        """Close all connections."""
        self._http.close()

    def get(self, path: str, kind: type[M]) -> M:
        """The answer to a GET, parsed as `kind`. Fields of newer services that `kind` lacks are ignored."""
        answer = self.call("GET", path)
        return self.read(answer, kind)

    @staticmethod
    def read(answer: httpx2.Response, kind: type[M]) -> M:
        """Parse an answer as `kind`. Raises `UnexpectedAnswer` if it does not fit."""
        try:
            return kind.model_validate_json(answer.content, extra="ignore")
        except ValidationError as error:
            raise unexpected(answer.content, answer.headers.get("x-request-id")) from error

    def call(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> httpx2.Response:
        """Send a request, with retries, and return a successful answer. Raises `IntaglioError`."""
        seconds = self._timeout if timeout is None else timeout
        retries = self.retries
        if max_retries is not None:
            retries = replace(retries, limit=max_retries)
        request: dict[str, Any] = {"timeout": _limits(seconds), "headers": dict(headers or {})}
        if body is not None:
            request["content"] = encoded(body)
            request["headers"]["content-type"] = JSON_TYPE
        tries = 0
        while True:
            answer = self._try(method, path, request)
            if isinstance(answer, httpx2.Response):
                return answer
            tries += 1
            pause = retries.pause(tries, answer)
            if pause is None or self._http.is_closed:
                raise answer
            time.sleep(pause)

    def send(self, path: str, content: Iterator[bytes]) -> httpx2.Response:
        """PUT the chunks of `content`, without retries. Raises `IntaglioError`."""
        answer = self._try("PUT", path, {"content": content, "timeout": _limits(self._timeout)})
        if not isinstance(answer, httpx2.Response):
            raise answer
        return answer

    def upload(self, path: str, content: bytes) -> httpx2.Response:
        """POST the bytes of a file, without retries. Raises `IntaglioError`."""
        answer = self._try("POST", path, {"content": content, "timeout": _limits(self._timeout)})
        if not isinstance(answer, httpx2.Response):
            raise answer
        return answer

    @contextmanager
    def stream(self, path: str, params: Mapping[str, str]) -> Iterator[httpx2.Response]:
        """GET an answer and stream its body. Raises `IntaglioError`."""
        try:
            http = self._http.here()
            with http.stream(
                "GET", path, params=dict(params), timeout=_limits(self._timeout)
            ) as answer:
                if not answer.is_success:
                    answer.read()
                    raise status_error(answer)
                yield answer
        except httpx2.RequestError as error:
            raise transport_error(error, self.base_url) from error

    @contextmanager
    def post(
        self,
        path: str,
        body: Mapping[str, Any],
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Iterator[httpx2.Response]:
        """POST a request and stream its answer. Only the opening is retried. Raises `IntaglioError`."""
        seconds = self._timeout if timeout is None else timeout
        retries = self.retries
        if max_retries is not None:
            retries = replace(retries, limit=max_retries)
        content, tries = encoded(body), 0
        while True:
            answer = self._open(path, content, _limits(seconds), headers)
            if isinstance(answer, httpx2.Response):
                break
            tries += 1
            pause = retries.pause(tries, answer)
            if pause is None or self._http.is_closed:
                raise answer
            time.sleep(pause)
        try:
            yield answer
        finally:
            answer.close()

    def _open(
        self,
        path: str,
        body: bytes,
        timeout: httpx2.Timeout,
        headers: Mapping[str, str] | None,
    ) -> httpx2.Response | IntaglioError:
        """One attempt at an answer that is streamed: the answer, or its error."""
        given = {"accept": "text/event-stream", "content-type": JSON_TYPE, **(headers or {})}
        http = self._http.here()
        request = http.build_request("POST", path, content=body, timeout=timeout, headers=given)
        try:
            answer = http.send(request, stream=True)
            if answer.is_success:
                return answer
            answer.read()
        except httpx2.RequestError as error:
            return transport_error(error, self.base_url)
        answer.close()
        return status_error(answer)

    def _try(
        self, method: str, path: str, request: Mapping[str, Any]
    ) -> httpx2.Response | IntaglioError:
        """One attempt: the answer, or its error."""
        try:
            http = self._http.here()
            answer = http.request(method, path, **request)
        except httpx2.RequestError as error:
            return transport_error(error, self.base_url)
        return answer if answer.is_success else status_error(answer)


def _limits(seconds: float) -> httpx2.Timeout:
    """The time limits of a call. Raises TypeError or ValueError unless `seconds` is a positive number."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise TypeError(f"timeout must be a number of seconds, not {type(seconds).__name__}")
    if not seconds > 0:
        raise ValueError(f"timeout must be more than 0 seconds, not {seconds!r}")
    return httpx2.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS))
