"""A scripted service on a real socket, which records its requests."""

import asyncio
import socket
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route


def result(data: Any, **more: Any) -> dict[str, Any]:
    """The body of a successful extraction."""
    return {
        "id": "ext-1",
        "model": "stub",
        "data": data,
        "valid": True,
        "finish": "stop",
        "usage": {"prompt_tokens": 7, "output_tokens": 5, "total_tokens": 12, "forced_tokens": 2},
        "timings": {"queue_ms": 0.1, "prefill_ms": 1.0, "decode_ms": 2.0, "total_ms": 3.1},
        **more,
    }


@dataclass
class Answer:
    """One scripted answer. `after_s` holds it back; a caller that disconnects meanwhile is noticed."""

    body: Any
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    after_s: float = 0.0


@dataclass
class Asked:
    method: str
    path: str
    headers: Mapping[str, str]
    body: Any


class StubService:
    """Answers in the order given; the last answer is repeated."""

    def __init__(self) -> None:
        self.base_url = ""
        self.asked: list[Asked] = []
        self.busy = threading.Event()
        self.caller_left = threading.Event()
        self._answers: deque[Answer] = deque()

    def will_answer(self, *answers: Answer) -> None:
        self._answers = deque(answers)

    async def handle(self, request: Request) -> Response:
        raw = await request.body()
        body = await request.json() if raw else None
        self.asked.append(Asked(request.method, request.url.path, dict(request.headers), body))
        answer = self._answers[0]
        if len(self._answers) > 1:
            self._answers.popleft()
        self.busy.set()
        waited = 0.0
        while waited < answer.after_s:
            if await request.is_disconnected():
                self.caller_left.set()
                break
            await asyncio.sleep(0.02)
            waited += 0.02
        headers = {"x-request-id": f"req-{len(self.asked)}", **answer.headers}
        if isinstance(answer.body, str):
            return Response(answer.body, answer.status, headers, media_type="text/html")
        return JSONResponse(answer.body, answer.status, headers)


@contextmanager
def serving(app: Any) -> Iterator[str]:
    """Run an ASGI application on a free port in a thread; gives its base URL."""
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, log_level="error", lifespan="on", timeout_graceful_shutdown=5)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(20)
        listener.close()


@contextmanager
def stub_service() -> Iterator[StubService]:
    stub = StubService()
    routes = [Route("/{path:path}", stub.handle, methods=["GET", "POST"])]
    with serving(Starlette(routes=routes)) as base_url:
        stub.base_url = base_url
        yield stub
