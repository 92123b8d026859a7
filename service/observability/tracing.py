"""Spans of requests and generations, by OpenTelemetry: the extra `otel`.

Does: one span for each request, a child of the client's by W3C Trace Context, and one for each of its generations;
export them by OTLP. Does not: record texts, schemas, outputs or paths that a client chose, or follow probes. The
address of the collector and other options of the exporter are OpenTelemetry's own variables, such as
OTEL_EXPORTER_OTLP_ENDPOINT.
"""

from collections.abc import Collection, MutableMapping
from typing import Self

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from opentelemetry.util.types import AttributeValue
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .generations import Generation

_OK = "ok"
_CONTEXT = TraceContextTextMapPropagator()
_CONTEXT_HEADERS = (b"traceparent", b"tracestate")


class Traces:
    """The spans of one server; a `GenerationObserver`. `close` exports the last ones."""

    def __init__(self, provider: TracerProvider) -> None:
        self._provider = provider
        self._tracer = provider.get_tracer("intaglio")

    @classmethod
    def exported(cls, version: str) -> Self:
        """Traces that are exported in the background."""
        named = Resource.create({"service.version": version})
        if str(named.attributes.get(SERVICE_NAME, "")).startswith("unknown_service"):
            named = named.merge(Resource({SERVICE_NAME: "intaglio"}))
        provider = TracerProvider(resource=named)
        provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        return cls(provider)

    def close(self) -> None:
        """Export what is left; waits for the collector up to the time limits of the exporter."""
        self._provider.shutdown()

    def around(self, app: ASGIApp, untraced: Collection[str] = ()) -> ASGIApp:
        """`app` with a span for each HTTP request, but for those to `untraced` paths."""

        async def traced(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "http" or scope["path"] in untraced:
                await app(scope, receive, send)
                return
            await self._traced(app, scope, receive, send)

        return traced

    async def _traced(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        carrier = {
            name.decode("latin-1"): value.decode("latin-1")
            for name, value in scope["headers"]
            if name in _CONTEXT_HEADERS
        }
        method: str = scope["method"]
        with self._tracer.start_as_current_span(
            method,
            context=_CONTEXT.extract(carrier),
            kind=SpanKind.SERVER,
            attributes={"http.request.method": method},
            record_exception=False,  # an exception may hold user content
            set_status_on_exception=False,
        ) as span:

            async def sending(message: Message) -> None:
                if message["type"] == "http.response.start":
                    span.set_attribute("http.response.status_code", message["status"])
                await send(message)

            state: MutableMapping[str, object] = scope.setdefault("state", {})
            try:
                await app(scope, receive, sending)
            except BaseException as error:
                state.setdefault("outcome", type(error).__name__)
                raise
            finally:
                _finish(span, method, state)

    def tokens_followed(self, route: str, seconds: float) -> None:
        """See `GenerationObserver`; a span for each token would be too many."""

    def generation_ended(self, generation: Generation) -> None:
        """See `GenerationObserver`: a span below that of the request that is being served."""
        span = self._tracer.start_span(
            f"generate {generation.model}",
            start_time=generation.begun_ns,
            attributes=_of_generation(generation),
        )
        usage = generation.usage
        if usage is not None:
            first_step = generation.begun_ns + int(usage.queue_s * 1e9)
            span.add_event("first step", timestamp=first_step)
            if generation.output_tokens:
                span.add_event("first token", timestamp=first_step + int(usage.prefill_s * 1e9))
        if generation.finish is None:
            span.set_status(Status(StatusCode.ERROR, "abandoned"))
        span.end(generation.ended_ns)


def _finish(span: Span, method: str, state: MutableMapping[str, object]) -> None:
    """Name the span by its route and record how the request ended."""
    route = str(state.get("route", "other"))
    span.update_name(f"{method} {route}")
    span.set_attribute("http.route", route)
    span.set_attribute("intaglio.request_id", str(state.get("request_id", "")))
    outcome = str(state.get("outcome", _OK))
    if outcome != _OK:
        span.set_attribute("error.type", outcome)
        span.set_status(Status(StatusCode.ERROR, outcome))


def _of_generation(generation: Generation) -> dict[str, AttributeValue]:
    """Attributes, by OpenTelemetry's conventions for generative models where there is one."""
    found: dict[str, AttributeValue] = {
        "gen_ai.operation.name": "text_completion",
        "gen_ai.provider.name": "intaglio",
        "gen_ai.request.model": generation.model,
        "gen_ai.usage.input_tokens": generation.prompt_tokens,
        "gen_ai.usage.output_tokens": generation.output_tokens,
        "gen_ai.response.finish_reasons": [
            "abandoned" if generation.finish is None else generation.finish.value
        ],
    }
    if generation.first_token_s is not None:
        found["intaglio.time_to_first_token_s"] = generation.first_token_s
    if generation.usage is not None:
        found["intaglio.cached_tokens"] = generation.usage.cached_tokens
        found["intaglio.forced_tokens"] = generation.usage.forced_tokens
        found["intaglio.queue_s"] = generation.usage.queue_s
    return found
