"""`python -m tests.fuzz.api_fuzzer --cases 20000`: malformed requests to every operation of a server.

Of every response: the status is documented, it is no 5xx but 503 and 504, and an error has the error document, which
tells nothing of the server's inside. In the end the engine is the same process and holds nothing, and no log, metric or
audit has a text, schema, key or file name of the requests. Prints the seed, which `--seed` repeats; `--out` keeps the
figures.
"""

import argparse
import json
import random
import re
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from threading import local
from typing import Any

import httpx2
from intaglio.engine.api import EngineConfig, Launch, Watch
from intaglio.service.http.interface import OPERATIONS
from intaglio.service.http.openapi import document
from intaglio.service.keys.audit_log import entries, verified
from intaglio.service.keys.key_store import KeyGrant, KeyStore

from tests.fuzz.api_requests import CANARY, Sent, request
from tests.fuzz.values import Dice
from tests.support.live_service import EXAMINING, Live, live
from tests.support.tiny_adapter import write_adapter
from tests.support.tiny_vision import QWEN25_VL, write_vision_checkpoint

AT_ONCE = 4
UNAVAILABLE = frozenset({503, 504})
ALWAYS = frozenset({400, 401, 403, 404, 405, 431})
"""Statuses of requests that mean no operation, or are not HTTP: spoilt methods, paths and headers."""
INSIDE = re.compile(
    rb"Traceback|File \"|site-packages|/usr/|/root/|/home/|/work/|/tmp/|0x[0-9a-f]{6,}|\b[A-Z]\w+(?:Error|Exception)\b"
)
TELLS = "tells"
_OWN_WORDS = re.compile(rb"\"code\":\s*\"[^\"]*\"")


@dataclass
class Findings:
    """The outcomes of the requests. `faults` are outcomes that should not occur."""

    statuses: Counter[str] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    operations: set[tuple[str, str]] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    """The last lines of the stacks of errors that nothing expected."""
    leaks: list[str] = field(default_factory=list)
    """Secrets of the requests in the log, the metrics or the audit."""


def check(sent: Sent, answer: httpx2.Response, paths: Mapping[str, Any]) -> list[str]:
    """The faults of one answer."""
    method, path = sent.operation
    documented = {int(status) for status in paths[path][method.lower()]["responses"]}
    faults = []
    if answer.status_code >= 500 and answer.status_code not in UNAVAILABLE:
        faults.append("5xx")
    if answer.status_code not in documented | ALWAYS and sent.method == method:
        faults.append(f"undocumented status {answer.status_code}")
    if answer.status_code >= 400 and sent.method != "HEAD":
        faults += _of_error(answer)
    return faults


def _of_error(answer: httpx2.Response) -> list[str]:
    try:
        error = answer.json()["error"]
    except (ValueError, KeyError, TypeError):
        # The readiness probe answers 503 with its own body.
        return (
            []
            if answer.status_code == 503 and b"status" in answer.content
            else ["no error document"]
        )
    if isinstance(error, str):  # Ollama's form
        found = []
    else:
        found = (
            [] if error.get("message") and error.get("type") else ["an error without its fields"]
        )
    inside = INSIDE.search(_OWN_WORDS.sub(b"", answer.content))
    return found + ([f"{TELLS} {inside[0]!r}"] if inside else [])


class Sender:
    """Sends requests of one service, each thread on a connection of its own."""

    def __init__(self, service: Live, key: str) -> None:
        self._service = service
        self._key = key
        self._threads = local()
        self._clients: list[httpx2.Client] = []
        self.paths = document(OPERATIONS)["paths"]
        self.document = document(OPERATIONS)

    def close(self) -> None:
        """Close all connections."""
        for http in self._clients:
            http.close()

    def send(self, seed: int) -> tuple[Sent, httpx2.Response | None, list[str]]:
        """Send one request; without a response if HTTP itself forbids the request."""
        sent = request(self.document, seed)
        http = getattr(self._threads, "http", None)
        if http is None:
            http = self._threads.http = httpx2.Client(timeout=300.0)
            self._clients.append(http)
        headers = {"authorization": f"Bearer {self._key}", **sent.headers}
        try:
            answer = http.request(
                sent.method,
                self._service.url + sent.path,
                content=sent.body,
                headers={name.encode(): value.encode() for name, value in headers.items()},
            )
        except (httpx2.LocalProtocolError, httpx2.InvalidURL, UnicodeError):
            return sent, None, []
        except httpx2.RemoteProtocolError:
            # The connection was closed after a refusal that did not read the body.
            return sent, None, []
        except httpx2.WriteError:
            return sent, None, []
        return sent, answer, check(sent, answer, self.paths)


def run(seed: int, cases: int, folder: Path, context: int = 2048) -> Findings:
    """Send so many requests. `context`: the tokens of an answer to a request that states no bound.

    Raises:
        AssertionError: the engine died, or holds something.
    """
    found, dice = Findings(), Dice(seed)
    config = {**QWEN25_VL, "max_position_embeddings": context}
    model = write_vision_checkpoint(folder / "model", config)
    settings = {"model": str(model), "num_blocks": 400, "threads": 1, "grammar_store": "off"}
    engine = EngineConfig.load({**settings, "max_adapters": 2}, environ={})
    adapted = f"adapted={write_adapter(folder / 'adapter', config)}"
    store = KeyStore(folder / "keys", create=True)
    key, _ = store.create(KeyGrant(tenant="fuzz"))
    limits: dict[str, Any] = {"key_store": str(folder / "keys"), "data": str(folder / "data")}
    limits["adapters"] = (adapted,)
    watch = Watch(silence_s=600.0)
    with live(Launch.of(engine), model, watch=watch, grammar=EXAMINING, **limits) as service:
        sender = Sender(service, key)
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for begin in range(0, cases, 500):
                seeds = [dice.getrandbits(63) for _ in range(min(500, cases - begin))]
                for one, (sent, answer, faults) in zip(
                    seeds, pool.map(sender.send, seeds), strict=True
                ):
                    _count(found, one, sent, answer, faults)
        sender.close()
        headers = {"authorization": f"Bearer {key}"}
        metrics = service.http.get("/metrics", headers=headers).text
        assert service.app.service.backend.lives.deaths == 0
        assert service.settled().clean
        log = service.log.getvalue()
    for line in map(json.loads, log.splitlines()):
        if line["event"] == "failed":
            found.failures.append(f"{line['request_id']} {line['error']}: {line['stack'][-500:]}")
    audit = "\n".join(json.dumps(entry) for entry in entries(folder / "keys"))
    assert verified(folder / "keys", store.secret).lines > 0
    for name, text in (("log", log), ("metrics", metrics), ("audit", audit)):
        for secret in (CANARY, key):
            if secret in text:
                found.leaks.append(f"the {name} holds {secret}")
    return found


def _count(
    found: Findings, seed: int, sent: Sent, answer: httpx2.Response | None, faults: list[str]
) -> None:
    found.operations.add(sent.operation)
    found.statuses["none" if answer is None else str(answer.status_code)] += 1
    if answer is not None and answer.status_code >= 400:
        code = re.search(r'"code":\s*"(\w+)"', answer.text)
        found.codes[code[1] if code else ""] += 1
    for fault in faults:
        assert answer is not None
        found.faults.append(f"{fault}: seed {seed}, {sent.method} {sent.path}: {answer.text[:300]}")


def main() -> int:
    parser = argparse.ArgumentParser(description="Spoilt requests to every operation.")
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    print(f"seed {given.seed}", flush=True)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        found = run(given.seed, given.cases, Path(folder))
    figures = {
        "seed": given.seed,
        "cases": given.cases,
        "operations": len(found.operations),
        "statuses": dict(found.statuses.most_common()),
        "codes": dict(found.codes.most_common()),
        "faults": len(found.faults),
        "leaks": found.leaks,
        "seconds": round(time.monotonic() - began),
    }
    if given.out:
        given.out.write_text(json.dumps(figures, indent=2) + "\n")
    print(json.dumps(figures))
    for fault in (*found.faults[:40], *found.failures[:20]):
        print(fault)
    return 1 if found.faults or found.leaks else 0


if __name__ == "__main__":
    raise SystemExit(main())
