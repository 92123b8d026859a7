"""Counts the tokens of the experts of a model on a CPU, where the host knows their choices without waiting.

Does: count each step's choices by layer and expert. Does not: choose, or count on a GPU.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt
from intaglio.kernels.experts.reference_experts import ReferenceExperts
from torch import Tensor

from ..expert_counts import NO_EXPERTS, ExpertCounts
from .decoder import Decoder
from .layers import Layer
from .mixture import Mixture

WINDOW = 256
"""Recent counts are those of this number of steps up to twice as many."""

Counts = npt.NDArray[np.int64]


class ExpertLoads:
    """The tokens of the experts of each layer. Written by the thread that steps; `counts` is for any thread.

    Rows that only pad a step are not counted. The last layer of a model computes only the rows that need logits.
    """

    def __init__(self, layers: tuple[int, ...], experts: int, last: int) -> None:
        """`layers` are those that are mixtures, `last` is the last layer of the model."""
        self._layers = layers
        self._last = last
        self._tokens: Counts = np.zeros((len(layers), experts), np.int64)
        self._window = np.zeros_like(self._tokens)
        self._before = np.zeros_like(self._tokens)
        self._steps = self._rows = self._logits_rows = 0

    def begin(self, rows: int, logits_rows: int) -> None:
        """Begin a step of `rows` tokens; the last layer computes `logits_rows` of them."""
        self._rows, self._logits_rows = rows, logits_rows
        self._steps += 1
        if self._steps % WINDOW == 0:
            self._before, self._window = self._window, np.zeros_like(self._window)

    def tally(self, layer: int) -> Callable[[Tensor], None]:
        """A function that counts the experts `chosen` [N, per_token] in this layer of the step that began last."""
        at = self._layers.index(layer)

        def count(chosen: Tensor) -> None:
            rows = self._logits_rows if layer == self._last else self._rows
            found = np.bincount(chosen[:rows].reshape(-1).numpy(), minlength=self._tokens.shape[1])
            self._tokens[at] += found
            self._window[at] += found

        return count

    def clear(self) -> None:
        """Forget all counts."""
        for counts in (self._tokens, self._window, self._before):
            counts.fill(0)

    def counts(self) -> ExpertCounts:
        """The counts of now."""
        return ExpertCounts(self._layers, _plain(self._tokens), _plain(self._window + self._before))


def counted_decoder(decoder: Decoder) -> tuple[Decoder, ExpertLoads | None]:
    """The decoder with its choices of experts counted, and the counts; None for a model without, or on a GPU."""
    experts = decoder.spec.experts
    if experts is None:
        return decoder, None
    last = len(decoder.layers) - 1
    mixtures = tuple(i for i, layer in enumerate(decoder.layers) if _is_counted(layer))
    if not mixtures:
        return decoder, None
    loads = ExpertLoads(mixtures, experts.count, last)
    layers = tuple(
        _counted(layer, loads.tally(i)) if i in mixtures else layer
        for i, layer in enumerate(decoder.layers)
    )
    return replace(decoder, layers=layers), loads


def counts_of(loads: ExpertLoads | None) -> ExpertCounts:
    """The counts of now; empty without any."""
    return NO_EXPERTS if loads is None else loads.counts()


def _is_counted(layer: Layer) -> bool:
    return isinstance(layer.mlp, Mixture) and isinstance(layer.mlp.experts, ReferenceExperts)


def _counted(layer: Layer, tally: Callable[[Tensor], None]) -> Layer:
    mlp = layer.mlp
    if not isinstance(mlp, Mixture) or not isinstance(mlp.experts, ReferenceExperts):
        return layer
    return replace(layer, mlp=replace(mlp, experts=replace(mlp.experts, tally=tally)))


def _plain(counts: Counts) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(layer) for layer in counts.tolist())
