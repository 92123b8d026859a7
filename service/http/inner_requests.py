"""Requests that the server sends to itself: those of a batch.

Does: call the application as a client on a socket would, for a principal that is known already, and collect the
response. Does not: open connections.
"""

from collections.abc import MutableMapping
from dataclasses import replace
from typing import Any
from uuid import uuid4

import anyio
from starlette.types import ASGIApp, Receive, Send

from ..batches.batch_ledger import BatchOwner
from ..batches.replies import Reply
from ..errors import AuthenticationFailed
from .access import Access
from .problems import problem_response


class InnerRequests:
    """Sends requests of batches to `app`; implements `Respond`."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access

    async def __call__(self, path: str, body: bytes, owner: BatchOwner) -> Reply:
        """The reply to one request, in the name of its owner."""
        request_id = f"req_{uuid4().hex}"
        try:
            found = self._access.owner(_stored_key(owner))
        except AuthenticationFailed as error:
            reply = problem_response(error, request_id)
            return Reply(reply.status, reply.body(), request_id)
        # A batch is paced by the server, so only its tokens count.
        limits = replace(
            found.limits, requests_per_minute=None, requests_per_day=None, concurrent=None
        )
        principal = replace(found, limits=limits)
        scope: MutableMapping[str, Any] = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "POST",
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "root_path": "",
            "headers": [
                (b"content-type", b"application/json"),
                (b"content-length", str(len(body)).encode()),
                (b"x-request-id", request_id.encode()),
            ],
            "client": None,
            "server": None,
            "state": {"principal": principal},
        }
        collected = _Collected()
        await self._app(scope, _sent_once(body), collected.send)
        return Reply(collected.status, bytes(collected.body), request_id)


class _Collected:
    """A response in memory."""

    def __init__(self) -> None:
        self.status = 500
        self.body = bytearray()

    @property
    def send(self) -> Send:
        """Takes the messages of a response."""

        async def send(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                self.status = message["status"]
            else:
                self.body += message.get("body", b"")

        return send


def _stored_key(owner: BatchOwner) -> str:
    """The id of an owner's key in the key store; empty for a key of the configuration and for none."""
    return "" if owner.key_id.startswith("env-") else owner.key_id


def _sent_once(body: bytes) -> Receive:
    """The body as one message; after that the client stays connected and sends nothing."""
    messages = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> MutableMapping[str, Any]:
        if messages:
            return messages.pop()
        await anyio.sleep_forever()
        raise AssertionError("the sleep does not end")

    return receive
