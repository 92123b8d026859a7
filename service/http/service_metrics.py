"""The metrics of a server in Prometheus' text format: of its requests, of all its API processes, and of its engine.

Does: put the parts of `observability` together for one server. Does not: use the global registry, or labels with values
that a user can choose.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from intaglio.schemas.problem import Code
from prometheus_client import CollectorRegistry
from prometheus_client.core import Metric
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import Collector

from ..observability.engine_metrics import EngineCollector
from ..observability.engine_source import EngineSource
from ..observability.generations import GenerationObserver
from ..observability.request_metrics import RequestMetrics
from ..observability.vllm_names import renamed
from ..observability.worker_metrics import OwnCollector, WorkersCollector
from .problems import problem_response


class Metrics(Collector):
    """The metrics of one server.

    `shared` is the folder in which its API processes count, None if there is one process. With `vllm_names` metrics
    have vLLM's names, too.
    """

    def __init__(
        self, engine: EngineSource, *, shared: Path | None = None, vllm_names: bool = False
    ) -> None:
        registry = CollectorRegistry()
        self._requests = RequestMetrics(registry)
        self._counted = OwnCollector(registry) if shared is None else WorkersCollector(shared)
        self._engine = engine
        self._of_engine = EngineCollector(engine)
        self._vllm_names = vllm_names

    @property
    def generations(self) -> GenerationObserver:
        """Counts generations."""
        return self._requests

    def answered(self, route: str, outcome: str, seconds: float) -> None:
        """Count one response."""
        self._requests.answered(route, outcome, seconds)

    def in_hand(self, count: int) -> None:
        """Set the number of requests in flight in this process."""
        self._requests.in_hand(count)

    @contextmanager
    def row_tried(self) -> Iterator[None]:
        """Count one attempt at a job's row by its outcome."""
        outcome = Code.CANCELLED.value
        try:
            yield
            outcome = "ok"
        except Exception as error:
            outcome = problem_response(error).problem.code.value
            raise
        finally:
            self._requests.row_tried(outcome)

    def collect(self) -> Iterator[Metric]:
        """All metric families."""
        families = (*self._counted.collect(), *self._of_engine.collect())
        yield from families
        if self._vllm_names:
            info = self._engine.info
            yield from renamed(families, "" if info is None else info.model)

    def exposition(self) -> bytes:
        """All metrics in Prometheus text format."""
        return generate_latest(self)
