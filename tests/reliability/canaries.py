"""T5: what users send and get is in no log, metric, trace, dump or audit, and no error tells it, crashes included.

A real server with a key store, at its most talkative: it logs at `debug` and sends its traces to a collector of this
test. Words that occur nowhere else stand in prompts, schemas, outputs, names of files and keys. The engine, the process
that examines schemas and at last the server itself end by signals while they have them in hand. Does not: look into the
data folder, where files and jobs are kept as asked, or into core files, which are the operating system's.
"""

import signal
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx2
import psutil
from intaglio.service.keys.key_store import KeyGrant, KeyStore

from tests.bench.kill_engine import served
from tests.reliability.figures import Figure
from tests.reliability.wire import PATIENCE_S
from tests.support.live_service import until
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint

PROMPT, SCHEMA, OUTPUT, FILE = (
    f"canaryOf{of}7391" for of in ("Prompt", "Schema", "Output", "File")
)
WRONG_KEY = "ik_canaryOfKey7391"
ANSWER = {"const": OUTPUT}
NAMED = {"type": "object", "properties": {SCHEMA: ANSWER}, "required": [SCHEMA]}
LONG = {
    "type": "array",
    "items": {"type": "string", "minLength": 250, "maxLength": 250},
    "minItems": 5,
    "maxItems": 5,
}
"""An answer that takes long enough to be ended in its middle."""
COSTLY = {"type": "string", "pattern": f"^(a|b)*a(a|b){{20}}{SCHEMA}$"}
"""A schema that the examination takes long to refuse."""


@dataclass
class Collector:
    """A server that keeps what it is sent: the traces."""

    url: str
    received: list[bytes] = field(default_factory=list)


@contextmanager
def collecting() -> Iterator[Collector]:
    """A collector until the block ends."""
    collector = Collector("")

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["content-length"])
            collector.received.append(self.rfile.read(length))
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  the name in the base class
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        collector.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield collector
        server.shutdown()
        thread.join()


def chat(**more: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": PROMPT}], "max_tokens": 120, **more}


def requests() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Method, path and the rest of requests that have the words in every place."""
    form = {"type": "json_schema", "json_schema": {"name": SCHEMA, "schema": ANSWER}}
    tool = {"type": "function", "function": {"name": SCHEMA, "parameters": NAMED}}
    bodies: tuple[tuple[str, Any], ...] = (
        ("/v1/extract", {"schema": NAMED, "text": PROMPT}),
        ("/v1/extract", {"schema": NAMED, "text": PROMPT, "stream": True}),
        ("/v1/extract", {"schema": {SCHEMA: ANSWER, "type": 7}, "text": PROMPT}),
        ("/v1/extract", {"schema": {"$ref": f"#/{SCHEMA}"}, "text": PROMPT}),
        ("/v1/extract", {"schema": NAMED, "text": PROMPT * 1000}),
        ("/v1/extract", {"schema": NAMED, "text": PROMPT, "options": {"max_tokens": 2}}),
        ("/v1/extract", {"schema": NAMED, "text": {"is": PROMPT}}),
        ("/v1/extract", COSTLY | {"text": PROMPT}),
        ("/v1/extract", {"schema": COSTLY, "text": PROMPT}),
        ("/v1/chat/completions", chat(response_format=form)),
        ("/v1/chat/completions", chat(response_format=form, stream=True, logprobs=True)),
        ("/v1/chat/completions", chat(tools=[tool], tool_choice="required")),
        ("/v1/chat/completions", chat(stop=[OUTPUT], user=PROMPT, temperature=99)),
        ("/v1/responses", {"model": "tiny", "input": PROMPT, "max_output_tokens": 20}),
        ("/api/chat", {"model": "tiny", "messages": [{"role": "user", "content": PROMPT}]}),
        ("/completion", {"prompt": PROMPT, "n_predict": 8, "grammar": f"root ::= {SCHEMA}"}),
        ("/v1/schemas", {"name": SCHEMA, "schema": NAMED}),
        ("/v1/jobs", {"schema": NAMED, "source": {"path": f"{FILE}.csv", "text": "text"}}),
        ("/v1/jobs", {"schema": NAMED, "source": {"path": f"../{FILE}", "text": "text"}}),
    )
    yield "PUT", f"/v1/files/{FILE}.csv", {"content": f"text\n{PROMPT}\n".encode()}
    for path, body in bodies:
        yield "POST", path, {"json": body}
    yield "POST", "/v1/extract", {"content": f'{{"text": "{PROMPT}", "schema": '.encode()}
    yield "POST", "/v1/extract", {"headers": {"authorization": f"Bearer {WRONG_KEY}"}}
    upload = {"file": (f"{FILE}.pdf", PROMPT.encode())}
    yield "POST", "/v1/documents", {"files": upload}
    yield "POST", "/v1/files", {"files": upload, "data": {"purpose": "batch"}}
    yield "GET", f"/v1/files/{FILE}", {}
    yield "GET", f"/v1/{PROMPT}?{SCHEMA}", {}


class Watched:
    """One server, the requests to it, and the crashes of its processes."""

    def __init__(self, http: httpx2.Client) -> None:
        self._http = http
        self.sent: Counter[int] = Counter()
        self.written = 0
        self.errors = ""
        self.metrics = ""

    def send_all(self) -> None:
        """Send every request once."""
        for method, path, more in requests():
            self._send(method, path, **more)
        self.metrics += self._http.get("/metrics").text

    def _send(self, method: str, path: str, **more: Any) -> None:
        try:
            answer = self._http.request(method, path, **more)
        except httpx2.TransportError:
            self.sent[0] += 1  # the server has ended, as it was told
            return
        self.sent[answer.status_code] += 1
        self.written += answer.status_code == 200 and OUTPUT in answer.text
        if answer.status_code >= 400:
            self.errors += answer.text

    def end(self, number: signal.Signals, whose: str, body: Any) -> None:
        """Send a signal to the engine, the examiner or the server while it has a request in hand."""
        sending = threading.Thread(target=self._send, args=("POST", "/v1/extract"), kwargs=body)
        sending.start()
        engine = self._engine()
        if whose != "examiner":
            until(lambda: bool(self._engine()["queue"]["running"]))
        above = psutil.Process(engine["facts"]["pid"]).parent()
        assert above is not None
        victims = {
            "engine": [psutil.Process(engine["facts"]["pid"])],
            "server": [above],
            "examiner": [one for one in above.children() if one.pid != engine["facts"]["pid"]],
        }[whose]
        for victim in victims:
            victim.send_signal(number)
        sending.join(PATIENCE_S)
        if whose != "server":
            until(lambda: self._http.get("/ready").status_code == 200)

    def _engine(self) -> Any:
        (engine,) = self._http.get("/v1/engine/state").json()["engines"]
        return engine


def places(folder: Path, watched: Watched, traces: list[bytes]) -> dict[str, bytes]:
    """Where the words might be, and what is there."""
    temporary = [file for file in (folder / "tmp").rglob("*") if file.is_file()]
    return {
        "log": (folder / "log").read_bytes(),
        "metrics": watched.metrics.encode(),
        "traces": b"".join(traces),
        "audit": (folder / "keys/audit.jsonl").read_bytes(),
        "temporary files": b"".join(file.read_bytes() for file in temporary),
    }


SIGNALS = (signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT)


def measure(folder: Path, signals: Sequence[signal.Signals] = SIGNALS) -> list[Figure]:
    """All requests, before the crashes and after those by each signal."""
    model = write_checkpoint(folder / "tiny", {**LLAMA, "max_position_embeddings": 2048})
    key, _ = KeyStore(folder / "keys", create=True).create(KeyGrant())
    settings = {
        "INTAGLIO_SERVICE_DATA": str(folder / "data"),
        "INTAGLIO_SERVICE_KEY_STORE": str(folder / "keys"),
        "INTAGLIO_SERVICE_LOG_LEVEL": "debug",
        "INTAGLIO_SERVICE_TRACES": "1",
        "INTAGLIO_SERVICE_VLLM_METRICS": "1",
        "INTAGLIO_ENGINE_THREADS": "1",
        "TMPDIR": str(folder / "tmp"),
    }
    (folder / "tmp").mkdir()
    with collecting() as collector, (folder / "log").open("wb") as log:
        settings["OTEL_EXPORTER_OTLP_ENDPOINT"] = collector.url
        headers = {"authorization": f"Bearer {key}"}
        with (
            served(model, 1, settings, log) as url,
            httpx2.Client(base_url=url, headers=headers, timeout=PATIENCE_S) as http,
        ):
            watched = Watched(http)
            watched.send_all()
            body = {"json": {"schema": LONG, "text": PROMPT}}
            for number in signals:
                watched.end(number, "engine", body)
                watched.end(number, "examiner", {"json": {"schema": COSTLY, "text": PROMPT}})
                watched.send_all()
            until(lambda: bool(collector.received))  # spans are sent every few seconds
            watched.end(signal.SIGABRT, "server", body)
    found = places(folder, watched, collector.received)
    assert all(found[name] for name in ("log", "metrics", "traces", "audit"))
    assert watched.written
    words = (PROMPT, SCHEMA, OUTPUT, FILE, key, WRONG_KEY)
    told = [
        f"{word} in {name}"
        for name, text in found.items()
        for word in words
        if word.encode() in text
    ]
    # A client's own error may name its own fields and files, not what is in them.
    told += [
        f"{word} in errors" for word in (PROMPT, OUTPUT, key, WRONG_KEY) if word in watched.errors
    ]
    sizes = ", ".join(f"{name} {len(text) >> 10} KiB" for name, text in found.items())
    return [
        Figure(
            id="T5",
            what=f"words of users, over {2 * len(signals) + 1} crashes, in {sizes}, and in errors",
            count=watched.sent.total(),
            bound="none",
            measured=f"{len(told)} {told[:5]}; statuses {dict(watched.sent)}",
            met=not told,
        )
    ]
