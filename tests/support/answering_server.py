"""A server that gives each protocol's answer to an extraction of 7, and 429 where the request says "refuse"."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

CHAT_USAGE = {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}


def sse(*events: Any) -> bytes:
    return b"".join(f"data: {json.dumps(event)}\n\n".encode() for event in events)


def chunk(part: str | None, finish: str | None = None, **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"content": part}, "finish_reason": finish}], **more}


EXTRACTED = {"data": 7, "usage": {"prompt_tokens": 9, "output_tokens": 2}}
ANSWERS: dict[tuple[str, bool], bytes] = {
    ("/v1/extract", False): json.dumps(EXTRACTED).encode(),
    ("/v1/extract", True): sse(
        {"type": "field.started", "pointer": ""},
        {"type": "field.completed", "pointer": "", "value": 7},
        {"type": "object.completed", "result": EXTRACTED},
    ),
    ("/v1/chat/completions", False): json.dumps(
        {
            "choices": [{"message": {"content": "7"}, "finish_reason": "stop"}],
            "usage": CHAT_USAGE,
        }
    ).encode(),
    ("/v1/chat/completions", True): sse(
        {"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]},
        chunk("7"),
        chunk(" "),
        chunk(None, "stop"),
        {"choices": [], "usage": CHAT_USAGE},
    )
    + b"data: [DONE]\n\n",
    ("/v1/completions", False): json.dumps(
        {"choices": [{"text": "7", "finish_reason": "stop"}], "usage": CHAT_USAGE}
    ).encode(),
    ("/v1/completions", True): sse(
        {"choices": [{"text": "7", "finish_reason": None}]},
        {"choices": [{"text": " ", "finish_reason": "stop"}]},
        {"choices": [], "usage": CHAT_USAGE},
    ),
}


class AnsweringServer(ThreadingHTTPServer):
    """Keeps the bodies that it was sent."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.bodies: list[dict[str, Any]] = []
        self.keys: set[str | None] = set()


class Handler(BaseHTTPRequestHandler):
    server: AnsweringServer
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.bodies.append(body)
        self.server.keys.add(self.headers["authorization"])
        refused = "refuse" in json.dumps(body)
        answer = ANSWERS[self.path, bool(body.get("stream"))]
        if refused:
            answer = b'{"error": {"message": "no", "code": "overloaded"}}'
        self.send_response(429 if refused else 200)
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def do_GET(self) -> None:
        listed = b'{"data": [{"id": "the-model"}]}'
        self.send_response(200 if self.path == "/v1/models" else 404)
        self.send_header("content-length", str(len(listed)))
        self.end_headers()
        self.wfile.write(listed)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  the name in the base class
        return


@contextmanager
def answering() -> Iterator[AnsweringServer]:
    """Serve until the block ends."""
    serving = AnsweringServer()
    thread = threading.Thread(target=serving.serve_forever)
    thread.start()
    try:
        yield serving
    finally:
        serving.shutdown()
        thread.join()
        serving.server_close()
