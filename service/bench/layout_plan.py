"""Layouts of a model on several GPUs: how many engines, each on how many, and what each layout can serve.

Does: compute rate, time to the first token and time per token of every layout from the least times of its steps, and
choose one. Does not: measure. Steps are counted `REACHED` times slower than their floor, and an engine is loaded to
`LOADED` of its capacity, so that requests rarely wait for each other.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from intaglio.engine.api import ModelCosts, ParallelShape

from .devices import Device
from .floors import floor

REACHED: Final = 0.7
"""Floor over measured time. Steps of an 8B model with 64 to 512 sequences took 1.1 to 1.2 times the floor by the
bandwidth of a copy (docs/speed.md), which is some 85% of that in the data sheet."""

LOADED: Final = 0.8
MEMORY_SHARE: Final = 0.9
"""The part of a GPU's memory for weights, keys and values: the default of `memory_fraction`."""

MOST_AT_ONCE: Final = 256
"""Sequences of an engine: the default of `max_running`."""

CHUNK: Final = 2048
"""Tokens of a step with prompts: the default of `max_batched_tokens`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """What is to be served: requests a second, seconds to the first token, mean tokens of prompt and output."""

    rate: float
    ttft_s: float
    prompt: int
    output: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LayoutFigures:
    """One layout: `engines` engines on `tp` GPUs each.

    `weights` are bytes on each GPU, `at_once` the sequences of an engine that fit its memory. `capacity` is in requests
    a second of all engines, `ttft_s` and `token_s` are those at the demanded rate. `refused` says why the layout does
    not serve the demand, None where it does.
    """

    engines: int
    tp: int
    weights: float
    at_once: int
    capacity: float
    ttft_s: float
    token_s: float
    refused: str | None

    @property
    def gpus(self) -> int:
        """All GPUs of the layout."""
        return self.engines * self.tp


def layouts(
    costs: ModelCosts, shape: ParallelShape, device: Device, gpus: int, demand: Demand
) -> list[LayoutFigures]:
    """All layouts of at most `gpus` GPUs that the model allows, by ranks and then by engines.

    Where the model does not fit that many ranks, one layout stands for any number of engines.
    """
    found = []
    for tp in shape.divisors:
        for engines in range(1, gpus // tp + 1):
            found.append(_figures(costs, shape, device, tp, engines, demand))
            if found[-1].at_once == 0:
                break
    return found


def chosen(found: Sequence[LayoutFigures]) -> LayoutFigures | None:
    """The layout with the fewest GPUs that serves the demand, of those the one with the largest capacity; else None."""
    serving = [layout for layout in found if layout.refused is None]
    return min(serving, key=lambda layout: (layout.gpus, -layout.capacity), default=None)


def _figures(
    costs: ModelCosts,
    shape: ParallelShape,
    device: Device,
    tp: int,
    engines: int,
    demand: Demand,
) -> LayoutFigures:
    weights = costs.weight_bytes / tp
    room = device.memory * MEMORY_SHARE - weights
    kept = costs.kv_bytes_per_token * (demand.prompt + demand.output) / tp
    at_once = max(0, min(MOST_AT_ONCE, int(room / kept)))
    if at_once == 0:
        return LayoutFigures(
            engines=engines,
            tp=tp,
            weights=weights,
            at_once=0,
            capacity=0.0,
            ttft_s=float("inf"),
            token_s=float("inf"),
            refused=f"{weights / 1e9:.0f} GB of weights leave no room for one request",
        )
    step = _Steps(costs, shape, device, tp, demand)
    capacity = engines * step.rate(at_once)
    running = step.running(demand.rate / engines, at_once)
    token_s = step.decode(running)
    ttft_s = step.prefill() + token_s
    refused = None
    if demand.rate > LOADED * capacity:
        refused = f"serves {LOADED * capacity:.3g} requests/s, not {demand.rate:g}"
    elif ttft_s > demand.ttft_s:
        refused = f"the first token takes {1e3 * ttft_s:.3g} ms, not {1e3 * demand.ttft_s:.3g}"
    return LayoutFigures(
        engines=engines,
        tp=tp,
        weights=weights,
        at_once=at_once,
        capacity=capacity,
        ttft_s=ttft_s,
        token_s=token_s,
        refused=refused,
    )


@dataclass(frozen=True, slots=True)
class _Steps:
    """The times of an engine's steps, in seconds."""

    costs: ModelCosts
    shape: ParallelShape
    device: Device
    tp: int
    demand: Demand

    def decode(self, sequences: float) -> float:
        """One step that adds a token to each of this many sequences."""
        context = self.demand.prompt + self.demand.output / 2
        work = floor(self.costs.decode(max(sequences, 1.0), context), self.device).seconds
        return work / self.tp / REACHED + self.shape.exchange_s(max(sequences, 1.0), self.tp)

    def prefill(self) -> float:
        """The prompt of one request, alone."""
        tokens = self.demand.prompt
        work = floor(self.costs.prefill(tokens), self.device).seconds / self.tp / REACHED
        whole, rest = divmod(tokens, CHUNK)
        chunks = [CHUNK] * whole + ([rest] if rest else [])
        return work + sum(self.shape.exchange_s(chunk, self.tp) for chunk in chunks)

    def rate(self, sequences: float) -> float:
        """Requests a second with this many sequences at once: each needs its prompt, and its share of steps."""
        return 1 / (self.prefill() + self.demand.output * self.decode(sequences) / sequences)

    def running(self, rate: float, most: int) -> float:
        """The sequences that run at once at a rate, at most `most`: arrivals times the time of one (Little 1961)."""
        running = 1.0
        # The time of a request grows with the number of requests that run at once: a fixed point.
        for _ in range(100):
            busy = min(0.99, rate * self.prefill())
            seconds = self.demand.output * self.decode(running) / (1 - busy)
            running = min(float(most), max(1.0, rate * seconds))
        return running
