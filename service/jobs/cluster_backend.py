"""Extraction on a Ray cluster, with one engine in each worker.

Does: start the workers, keep the batch of each full, replace workers that die. Does not: store rows. The rows of a lost
worker return to the ledger as after any broken connection, so the loss only delays them.

Ray Data is not used: it would read and write files, which the ledger already does
(docs/decisions/ray-moves-the-work.md).
"""

import json
import queue
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

import httpx2
import ray
from intaglio.schemas.problem import Code
from ray.exceptions import RayError

from ..client import APIStatusError, Extraction, IntaglioError
from ..client.errors import status_error
from ..client.models import extraction
from ..client.shapes import Shape
from .backends import (
    Content,
    Finished,
    LocalEngine,
    RowOptions,
    Schema,
    Task,
    content_of,
    heartbeat,
)
from .records.row import Claim
from .records.row_files import LoadedFiles

WorkItem = tuple[int, Schema, str, LoadedFiles | None]  # key, schema, text, files
EncodedOutcome = tuple[int, int, bytes]  # key, HTTP status, body
MakeEngine = Callable[[], LocalEngine]

_POLL_S: Final = 0.5


class Worker:
    """An engine in a process of the cluster. Ray calls its methods from its own threads."""

    def __init__(self, make: MakeEngine, options: RowOptions, at_once: int) -> None:
        self._llm = make()
        self._model = self._llm.computed_by(options.get("adapter"))
        self._items: queue.SimpleQueue[WorkItem] = queue.SimpleQueue()
        self._outcomes: queue.SimpleQueue[EncodedOutcome] = queue.SimpleQueue()
        threading.Thread(target=self._work, args=(options, at_once), daemon=True).start()

    def model(self) -> str:
        """As `LocalEngine.computed_by`, with the adapter of the options."""
        return self._model

    def reads_images(self) -> bool:
        """As `LocalEngine.reads_images`."""
        return self._llm.reads_images

    def put(self, items: list[WorkItem]) -> None:
        """Queue more items."""
        for item in items:
            self._items.put(item)

    def take(self) -> list[EncodedOutcome]:
        """The outcomes since the last call; waits up to half a second for the first."""
        ended = []
        with suppress(queue.Empty):
            ended.append(self._outcomes.get(timeout=_POLL_S))
            while True:
                ended.append(self._outcomes.get_nowait())
        return ended

    def _work(self, options: RowOptions, at_once: int) -> None:
        while True:
            first = self._items.get()
            stream = self._llm.extract_stream(self._queued_items(first), at_once=at_once, **options)
            for key, outcome in stream:
                self._outcomes.put((key, *_encoded(outcome)))

    def _queued_items(self, first: WorkItem) -> Iterator[tuple[int, Schema, Content] | None]:
        yield self._prepared(first)
        while True:
            try:
                yield self._prepared(self._items.get_nowait())
            except queue.Empty:
                yield None

    def _prepared(self, item: WorkItem) -> tuple[int, Schema, Content]:
        key, schema, text, files = item
        return key, schema, content_of(self._llm, text, files)


@dataclass(slots=True)
class _WorkerState:
    """A worker, its claims in flight by key, and its unanswered `take` call."""

    actor: Any
    claims: dict[int, Claim] = field(default_factory=dict)
    pending: Any = None


class ClusterBackend:
    """Workers on the cluster at `address` (`auto`: the cluster of this machine, else a new local one).

    `workers` is their number; by default one per GPU, or one for two CPUs if there is no GPU. Each engine has `at_once`
    rows in flight.
    """

    def __init__(
        self,
        address: str,
        make: MakeEngine,
        options: RowOptions,
        workers: int | None = None,
        at_once: int = 64,
    ) -> None:
        _join(address)
        resources = ray.cluster_resources()
        gpus, cpus = int(resources.get("GPU", 0)), int(resources.get("CPU", 1))
        count = workers or gpus or max(1, cpus // 2)
        share = {"num_gpus": 1} if gpus >= count else {"num_cpus": max(1, cpus // (count + 1))}
        kind = ray.remote(Worker).options(max_concurrency=3, **share)
        self._start: Callable[[], Any] = lambda: kind.remote(make, options, at_once)
        self._at_once = at_once
        self._workers = [_WorkerState(self._start()) for _ in range(count)]
        self._keys = 0

    @property
    def model(self) -> str:
        """The name of the workers' model; waits until the first worker has loaded it."""
        return str(ray.get(self._workers[0].actor.model.remote()))

    @property
    def reads_images(self) -> bool:
        return bool(ray.get(self._workers[0].actor.reads_images.remote()))

    def close(self) -> None:
        """Stop the workers."""
        for worker in self._workers:
            ray.kill(worker.actor)

    def extract(self, tasks: Iterator[Task | None]) -> Generator[Finished, None, None]:
        while True:
            heartbeat(tasks)
            for worker in self._workers:
                self._fill(worker, tasks)
            busy = [worker for worker in self._workers if worker.claims]
            if not busy:
                return
            for worker in busy:
                worker.pending = worker.pending or worker.actor.take.remote()
            ready, _ = ray.wait([worker.pending for worker in busy], timeout=_POLL_S)
            for worker in busy:
                if worker.pending in ready:
                    yield from self._results(worker)

    def _fill(self, worker: _WorkerState, tasks: Iterator[Task | None]) -> None:
        items: list[WorkItem] = []
        # Twice as many, so that the worker always has a queue.
        while len(worker.claims) < 2 * self._at_once:
            task = next(tasks, None)
            if task is None:
                break
            self._keys += 1
            worker.claims[self._keys] = task.claim
            items.append((self._keys, task.schema, task.claim.text, task.files))
        if items:
            worker.actor.put.remote(items)

    def _results(self, worker: _WorkerState) -> Iterator[Finished]:
        pending, worker.pending = worker.pending, None
        try:
            ended: list[EncodedOutcome] = ray.get(pending)
        except RayError as error:
            lost, worker.claims = list(worker.claims.values()), {}
            worker.actor = self._start()
            yield from ((claim, _lost_worker_error(error)) for claim in lost)
            return
        for key, status, body in ended:
            yield worker.claims.pop(key), _decoded(status, body)


def _join(address: str) -> None:
    if ray.is_initialized():
        return
    quiet: dict[str, Any] = {"logging_level": "ERROR", "log_to_driver": False}
    try:
        ray.init(address=address, **quiet)
    except ConnectionError:
        if address != "auto":
            raise
        ray.init(include_dashboard=False, **quiet)


def _encoded(outcome: Extraction[Any] | IntaglioError) -> tuple[int, bytes]:
    """An outcome as the response that a service would send: HTTP status and body."""
    if not isinstance(outcome, IntaglioError):
        return 200, json.dumps(outcome.raw).encode()
    error: dict[str, Any] = {
        "message": outcome.message,
        "hint": outcome.hint,
        "retryable": outcome.retryable,
    }
    if not isinstance(outcome, APIStatusError):
        return 503, json.dumps({"error": error | {"code": "not_ready"}}).encode()
    error |= {
        "code": outcome.code,
        "param": outcome.param,
        "details": [detail.model_dump() for detail in outcome.details],
    }
    return outcome.status, json.dumps({"error": error}).encode()


def _lost_worker_error(error: RayError) -> IntaglioError:
    """The error that a service returns if its engine died with the request in flight."""
    message = f"a worker was lost: {type(error).__name__}"
    error_body = {"message": message, "code": Code.ENGINE_LOST, "retryable": True}
    return status_error(httpx2.Response(503, content=json.dumps({"error": error_body}).encode()))


def _decoded(status: int, body: bytes) -> Extraction[Any] | IntaglioError:
    if status == 200:
        return extraction(body, Shape(schema=True, adapter=None), None)
    return status_error(httpx2.Response(status, content=body))
