"""The residual streams that enter some layers of a decoder, kept while a step is computed: draft heads read them.

Does: copy the rows of a step before layers change them. Does not: know sequences (`run/kept_streams.py`). A decoder
without a draft head has plain layers.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from torch import Tensor

from ..errors import InternalError
from .decoder import Decoder
from .layers import Layer, StepContext


@dataclass(slots=True, eq=False)
class LayerStreams:
    """The streams that entered the layers of these numbers, ascending, in the last step."""

    layers: tuple[int, ...]
    _rows: Tensor | None = field(default=None, init=False)

    def keep(self, place: int, residual: Tensor) -> None:
        """Copy `residual` [N, hidden], which enters the layer at `place` among `layers`."""
        count, hidden = residual.shape
        if place == 0:
            self._rows = residual.new_empty((count, len(self.layers) * hidden))
        if self._rows is None:
            raise InternalError("a later layer ran before the first one of which streams are kept")
        self._rows[:, place * hidden : (place + 1) * hidden] = residual

    def take(self) -> Tensor:
        """The rows [N or more, layers * hidden] of the last step, in the order of its tokens, once."""
        rows, self._rows = self._rows, None
        if rows is None:
            raise InternalError("no step was computed since the streams were taken")
        return rows


@dataclass(frozen=True, slots=True)
class StreamedLayer(Layer):
    """A layer that has its input kept first."""

    streams: LayerStreams
    place: int

    def run(
        self,
        residual: Tensor,
        cache: Tensor,
        step: StepContext,
        logits_indices: Tensor | None = None,
    ) -> Tensor:
        """See `Layer`."""
        self.streams.keep(self.place, residual)
        return Layer.run(self, residual, cache, step, logits_indices)


def streamed_decoder(decoder: Decoder, layers: Sequence[int]) -> tuple[Decoder, LayerStreams]:
    """The decoder, with the streams that enter these layers kept."""
    streams = LayerStreams(tuple(layers))
    found = list(decoder.layers)
    for place, number in enumerate(streams.layers):
        layer = found[number]
        found[number] = StreamedLayer(layer.attention, layer.mlp, streams, place)
    return replace(decoder, layers=tuple(found)), streams
