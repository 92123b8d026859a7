"""Roofline bounds: the least time of work on a device, compared with measured times.

Does: divide work by the limits of a device; read measured figures from a file of `intaglio bench` or a server. Does
not: measure. The model is the roofline of Williams, Waterman and Patterson (2009): time is at least bytes over
bandwidth, and at least operations over their rate.
"""

from dataclasses import dataclass
from typing import Any

from intaglio.engine.api import Cost, ModelCosts

from .devices import Device


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestShape:
    """Mean tokens of a request, the share of its prompt that the prefix cache holds, and the requests at once."""

    prompt: float
    output: float
    sequences: float
    cached: float = 0.0


@dataclass(frozen=True, slots=True)
class Floor:
    """The least seconds of some work; `by_memory` if the memory sets it, else the arithmetic."""

    seconds: float
    by_memory: bool


@dataclass(frozen=True, slots=True)
class Standing:
    """A measured figure beside its floor. Both are seconds; `share` is the floor over the measured time."""

    what: str
    measured_s: float
    floor_s: float

    @property
    def share(self) -> float:
        """1 at the limit of the device. Above 1 where the grammar forces tokens: they need no step of their own."""
        return self.floor_s / self.measured_s


class UnreadableFigures(ValueError):
    """Measured figures that lack what a comparison needs."""


def floor(work: Cost, device: Device) -> Floor:
    """The least time of `work` on a device."""
    memory, arithmetic = work.bytes / device.bandwidth, work.operations / device.operations
    return Floor(max(memory, arithmetic), by_memory=memory >= arithmetic)


def request_floor(costs: ModelCosts, device: Device, shape: RequestShape) -> float:
    """Least seconds of the device for one request among many."""
    step = floor(costs.decode(shape.sequences, shape.prompt + shape.output / 2), device).seconds
    held = shape.prompt * shape.cached
    prompt = costs.prefill(shape.prompt - held, held)
    # Prompts of several requests share a step, and so the weights that it reads.
    weights = costs.weight_bytes / shape.sequences
    shared = Cost(prompt.bytes - costs.weight_bytes + weights, prompt.operations)
    return floor(shared, device).seconds + shape.output * step / shape.sequences


def bench_standing(
    document: Any, costs: ModelCosts, device: Device, cached: float = 0.0
) -> Standing:
    """Time per request of a file of `intaglio bench`. It does not know what share of the prompts was `cached`.

    Raises:
        UnreadableFigures: the file is not of `intaglio bench`, or no request succeeded.
    """
    try:
        summary, plan = document["summary"], document["plan"]
        rate = float(summary["requests_per_s"])
        prompt, output = float(summary["prompt_tokens"]), float(summary["output_tokens"])
        # In an open loop as many are at work as arrive in the time of one (Little's law).
        sequences = (
            float(plan["clients"])
            if plan["rate"] is None
            else max(1.0, rate * float(summary["latency"]["p50"]) / 1000)
        )
    except (KeyError, TypeError, ValueError):
        raise UnreadableFigures("these are not figures of `intaglio bench --out`") from None
    if rate <= 0:
        raise UnreadableFigures("no request succeeded in these figures")
    shape = RequestShape(prompt=prompt, output=output, sequences=sequences, cached=cached)
    least = request_floor(costs, device, shape)
    what = f"a request, {prompt:g} tokens in and {output:g} out, {sequences:.0f} at once"
    return Standing(what, 1 / rate, least)


def engine_standing(report: Any, costs: ModelCosts, device: Device) -> Standing:
    """The mean step of an engine since its start, from `GET /v1/engine/state`, compared with its work.

    Raises:
        UnreadableFigures: the report is not that of an engine, or it has made no step.
    """
    try:
        steps, computed = int(report["steps"]), float(report["tokens"]["computed"])
        seconds = sum(map(float, report["step_seconds"].values()))
    except (KeyError, TypeError, ValueError):
        raise UnreadableFigures("the server does not tell of its engine's steps") from None
    if steps == 0 or seconds == 0:
        raise UnreadableFigures("the engine has made no step yet")
    tokens = computed / steps
    least = floor(Cost(costs.weight_bytes, costs.token_operations * tokens), device).seconds
    return Standing(f"a step, {tokens:.1f} tokens, {steps} steps", seconds / steps, least)
