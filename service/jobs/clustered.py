"""The extractions of a job on a Ray cluster: an engine in every worker, on whatever machine.

Does: start the workers, keep each one's batch full, replace one that dies. Does not: remember rows. Those of a lost
worker go back to the ledger as after any connection that broke, so that it only delays them.

Ray Data is not used: it would read and write for us, and the ledger does that already
(docs/decisions/ray-moves-the-work.md).
"""

import json
import queue
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, Unpack

import httpx2
import ray
from ray.exceptions import RayError

from ...schemas.problem import Code
from ..client import APIStatusError, Extraction, IntaglioError, Options
from ..client.errors import status_error
from ..client.models import extraction
from ..client.shapes import Shape
from .extracting import Finished, Schema, Task, look
from .row import Claim

Order = tuple[int, Schema, str]  # key, schema, text
Told = tuple[int, int, bytes]  # key, HTTP status, body: what a service would have answered


class Info(Protocol):
    """The name of a loaded model."""

    @property
    def model(self) -> str: ...


class Model(Protocol):
    """What a worker needs of an `LLM`."""

    @property
    def info(self) -> Info: ...

    def extract_stream(
        self,
        items: Iterable[Order | None],
        *,
        at_once: int,
        **options: Unpack[Options],
    ) -> Iterator[tuple[int, Extraction[Any] | IntaglioError]]:
        """As `LLM.extract_stream`."""
        ...


MakeLLM = Callable[[], Model]

_TAKE_S: Final = 0.5


class Worker:
    """An engine in a process of the cluster. Ray calls its methods from threads of its own."""

    def __init__(self, make: MakeLLM, options: Options, at_once: int) -> None:
        self._llm = make()
        self._orders: queue.SimpleQueue[Order] = queue.SimpleQueue()
        self._ended: queue.SimpleQueue[Told] = queue.SimpleQueue()
        threading.Thread(target=self._work, args=(options, at_once), daemon=True).start()

    def model(self) -> str:
        """The model that is loaded."""
        return self._llm.info.model

    def put(self, orders: list[Order]) -> None:
        """Take more to do."""
        for order in orders:
            self._orders.put(order)

    def take(self) -> list[Told]:
        """What has ended since the last call; waits for something to end, half a second at most."""
        ended = []
        with suppress(queue.Empty):
            ended.append(self._ended.get(timeout=_TAKE_S))
            while True:
                ended.append(self._ended.get_nowait())
        return ended

    def _work(self, options: Options, at_once: int) -> None:
        while True:
            first = self._orders.get()
            stream = self._llm.extract_stream(self._drawn(first), at_once=at_once, **options)
            for key, outcome in stream:
                self._ended.put((key, *_told(outcome)))

    def _drawn(self, first: Order) -> Iterator[Order | None]:
        yield first
        while True:
            try:
                yield self._orders.get_nowait()
            except queue.Empty:
                yield None


@dataclass(slots=True)
class _Hand:
    """A worker, what it has in hand by key, and the question that it has not answered yet."""

    actor: Any
    claims: dict[int, Claim] = field(default_factory=dict)
    asked: Any = None


class Clustered:
    """Workers on the cluster at `address` (`auto`: the one this machine belongs to, else one of its own).

    `workers` is their number; None is one a GPU, or one for two processors where there is none. `at_once` rows are in
    each worker's engine.
    """

    def __init__(
        self,
        address: str,
        make: MakeLLM,
        options: Options,
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
        self._hands = [_Hand(self._start()) for _ in range(count)]
        self._keys = 0

    @property
    def model(self) -> str:
        """The model of the workers; waits for the first to have loaded it."""
        return str(ray.get(self._hands[0].actor.model.remote()))

    def close(self) -> None:
        """Let go of the workers."""
        for hand in self._hands:
            ray.kill(hand.actor)

    def extract(self, tasks: Iterator[Task | None]) -> Generator[Finished, None, None]:
        while True:
            look(tasks)
            for hand in self._hands:
                self._fill(hand, tasks)
            busy = [hand for hand in self._hands if hand.claims]
            if not busy:
                return
            for hand in busy:
                hand.asked = hand.asked or hand.actor.take.remote()
            ready, _ = ray.wait([hand.asked for hand in busy], timeout=_TAKE_S)
            for hand in busy:
                if hand.asked in ready:
                    yield from self._taken(hand)

    def _fill(self, hand: _Hand, tasks: Iterator[Task | None]) -> None:
        orders: list[Order] = []
        while len(hand.claims) < 2 * self._at_once:  # as many again wait at the worker
            task = next(tasks, None)
            if task is None:
                break
            self._keys += 1
            hand.claims[self._keys] = task.claim
            orders.append((self._keys, task.schema, task.claim.text))
        if orders:
            hand.actor.put.remote(orders)

    def _taken(self, hand: _Hand) -> Iterator[Finished]:
        asked, hand.asked = hand.asked, None
        try:
            ended: list[Told] = ray.get(asked)
        except RayError as error:
            lost, hand.claims = list(hand.claims.values()), {}
            hand.actor = self._start()
            yield from ((claim, _loss(error)) for claim in lost)
            return
        for key, status, body in ended:
            yield hand.claims.pop(key), _heard(status, body)


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


def _told(outcome: Extraction[Any] | IntaglioError) -> tuple[int, bytes]:
    """What a service would have answered."""
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


def _loss(error: RayError) -> IntaglioError:
    """What a service says of requests that its engine died with."""
    message = f"a worker was lost: {type(error).__name__}"
    told = {"message": message, "code": Code.ENGINE_LOST, "retryable": True}
    return status_error(httpx2.Response(503, content=json.dumps({"error": told}).encode()))


def _heard(status: int, body: bytes) -> Extraction[Any] | IntaglioError:
    if status == 200:
        return extraction(body, Shape(schema=True, adapter=None), None)
    return status_error(httpx2.Response(status, content=body))
