"""The HTTP routes about the engines: their metrics, their state, their restart.

Does: one function for each operation, and their table. Does not: count (`observability`).
"""

from intaglio.schemas.engine_state import EngineStateReport
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.requests import Request
from starlette.responses import Response

from ..observability.engine_report import engine_report
from .operations import TEXT, KeyScope, Operation
from .routes import document
from .service_state import Service


async def metrics(service: Service, _request: Request) -> Response:
    """`GET /metrics`: the metrics in Prometheus text format."""
    return Response(service.metrics.exposition(), media_type=CONTENT_TYPE_LATEST)


async def engine_state(service: Service, _request: Request) -> Response:
    """`GET /v1/engine/state`: the present state of the engines."""
    return document(_report(service))


def _report(service: Service) -> EngineStateReport:
    return EngineStateReport(
        engines=tuple(engine_report(engine) for engine in service.backend.engines),
        requests_in_hand=service.gate.in_flight,
        requests_limit=service.config.max_requests,
        quarantined=service.backend.lives.quarantined,
    )


async def restart_engines(service: Service, _request: Request) -> Response:
    """`POST /v1/engine/restart`: restart all engines, one after the other."""
    service.restart_engines()
    return document(_report(service), 202)


OPERATIONS: tuple[Operation, ...] = (
    Operation(
        method="GET",
        path="/metrics",
        handler=metrics,
        scope=KeyScope.METRICS,
        summary="Metrics",
        group="Service",
        description="Counters and histograms in Prometheus' text format.",
        gives_media=TEXT,
        probe=True,
    ),
    Operation(
        method="GET",
        path="/v1/engine/state",
        handler=engine_state,
        scope=KeyScope.METRICS,
        summary="State of the engine",
        group="Service",
        description="Its model, restarts, queue, KV blocks, caches and token counts, at most a second old. "
        "Holds nothing of any request.",
        gives=EngineStateReport,
    ),
    Operation(
        method="POST",
        path="/v1/engine/restart",
        handler=restart_engines,
        scope=KeyScope.ADMIN,
        summary="Restart the engines",
        group="Service",
        description="Restarts all engines, one after the other, each after its open requests. Answers at once with the "
        "state of the engines. No request is lost: requests wait for an engine, or go to another one.",
        gives=EngineStateReport,
        status=202,
    ),
)
