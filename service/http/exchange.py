"""One HTTP request and its response, as recorded by log and metrics.

Does: time the exchange, record status and outcome, assign the request id. Does not: answer the request.
"""

import re
import time
from uuid import uuid4

from starlette.types import Message, Scope, Send

from .principal import TokenCount

_SANE_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")


class Exchange:
    """Status, outcome, tokens and duration of one request; adds the request id to the response headers."""

    def __init__(self, request_id: str, send: Send) -> None:
        self.request_id = request_id
        self.started = time.perf_counter()
        self.status: int | None = None
        self.outcome = "ok"
        self.tokens = TokenCount()
        self._send = send

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message["headers"].append((b"x-request-id", self.request_id.encode("ascii")))
        await self._send(message)


def request_id(scope: Scope) -> str:
    """The client's request id if it is short and plain, so that nothing can be injected into logs or headers; else a
    new one.
    """
    for name, value in scope["headers"]:
        if name == b"x-request-id":
            given: str = value.decode("latin-1")
            if _SANE_ID.fullmatch(given):
                return given
    return f"req_{uuid4().hex}"
