"""Spans have their place in the client's trace, name routes and outcomes, and hold nothing that a user wrote."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from intaglio.service.http.observed_backend import ObservedBackend
from intaglio.service.observability.generations import serving
from intaglio.service.observability.tracing import Traces
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode
from starlette.types import Message, Receive, Scope, Send

from tests.support.backend_double import BackendDouble, request

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = "00f067aa0ba902b7"


class Collected:
    """Traces that are kept in memory."""

    def __init__(self) -> None:
        self._kept = InMemorySpanExporter()
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(self._kept))
        self.traces = Traces(provider)

    def spans(self) -> dict[str, ReadableSpan]:
        return {span.name: span for span in self._kept.get_finished_spans()}


def attributes(span: ReadableSpan) -> Mapping[str, Any]:
    assert span.attributes is not None
    return span.attributes


async def call(app: Any, path: str = "/v1/extract", **headers: str) -> None:
    async def receive() -> Message:
        return {"type": "http.request", "body": b"tangerine"}

    async def send(message: Message) -> None:
        return

    given = [(name.encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "method": "POST", "path": path, "headers": given, "state": {}}
    await app(scope, receive, send)


def serves(backend: ObservedBackend | None = None, **state: str) -> Any:
    """An application that answers 200, or what `state` says, after a generation."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        scope["state"] |= {"route": "/v1/extract", "request_id": "req_1", **state}
        if backend is not None:
            with serving("/v1/extract"):
                async for _ in backend.generate(request("a", prompt=7)):
                    pass
        await send({"type": "http.response.start", "status": 200, "headers": []})

    return app


def test_a_request_is_a_span_of_the_clients_trace() -> None:
    collected = Collected()
    app = collected.traces.around(serves())
    asyncio.run(call(app, traceparent=f"00-{TRACE}-{PARENT}-01", tracestate="a=b"))
    span = collected.spans()["POST /v1/extract"]
    assert span.kind is SpanKind.SERVER
    assert span.context is not None
    assert span.parent is not None
    assert f"{span.context.trace_id:032x}" == TRACE
    assert f"{span.parent.span_id:016x}" == PARENT
    assert attributes(span)["intaglio.request_id"] == "req_1"
    assert attributes(span)["http.response.status_code"] == 200


@pytest.mark.parametrize("header", ["", "00-zz-1-01", f"00-{'0' * 32}-{PARENT}-01"])
def test_an_unusable_context_begins_a_trace(header: str) -> None:
    collected = Collected()
    asyncio.run(call(collected.traces.around(serves()), traceparent=header))
    assert collected.spans()["POST /v1/extract"].parent is None


def test_a_generation_is_a_span_below_its_request() -> None:
    collected = Collected()
    backend = ObservedBackend(BackendDouble(output=3), [collected.traces])
    asyncio.run(call(collected.traces.around(serves(backend))))
    spans = collected.spans()
    outer, inner = spans["POST /v1/extract"], spans["generate double"]
    assert outer.context is not None
    assert inner.parent is not None
    assert inner.parent.span_id == outer.context.span_id
    found = attributes(inner)
    assert found["gen_ai.usage.input_tokens"] == 7
    assert found["gen_ai.usage.output_tokens"] == 3
    assert found["gen_ai.response.finish_reasons"] == ("stop",)
    assert [event.name for event in inner.events] == ["first step", "first token"]


def test_an_error_is_told_by_its_code() -> None:
    collected = Collected()
    asyncio.run(call(collected.traces.around(serves(outcome="overloaded"))))
    span = collected.spans()["POST /v1/extract"]
    assert span.status.status_code is StatusCode.ERROR
    assert attributes(span)["error.type"] == "overloaded"


def test_an_exception_leaves_none_of_its_text() -> None:
    async def fails(scope: Scope, receive: Receive, send: Send) -> None:
        raise RuntimeError("tangerine")

    collected = Collected()
    with pytest.raises(RuntimeError):
        asyncio.run(call(collected.traces.around(fails)))
    (span,) = collected.spans().values()
    assert "tangerine" not in span.to_json()
    assert span.status.status_code is StatusCode.ERROR


def test_probes_are_not_traced() -> None:
    collected = Collected()
    asyncio.run(call(collected.traces.around(serves(), {"/health"}), path="/health"))
    assert collected.spans() == {}


def test_exported_traces_name_the_service() -> None:
    traces = Traces.exported("1.2.3")
    resource = traces._provider.resource.attributes
    traces.close()
    assert (resource["service.name"], resource["service.version"]) == ("intaglio", "1.2.3")
