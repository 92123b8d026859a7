"""What an engine asks of the layers of a model beside their results, and the decoder that does it.

Does: apply block groups, and the keeping of streams. Does not: define either (`layer_groups`, `layer_streams`).
"""

from dataclasses import dataclass
from typing import NamedTuple

from .decoder import Decoder
from .layer_groups import LayerGroups, decoder_groups, grouped_decoder
from .layer_streams import LayerStreams, streamed_decoder


@dataclass(frozen=True, slots=True)
class LayerSettings:
    """What is asked of the layers of a model.

    With `grouped`, layers with and without a window have block groups of their own; plans have the blocks of each.
    `streams`: the numbers of the layers that keep their input for a draft head, on a CPU only.
    """

    grouped: bool = False
    streams: tuple[int, ...] = ()


class SetLayers(NamedTuple):
    """A decoder, its block groups, and the streams that it keeps; None where none are asked for."""

    decoder: Decoder
    groups: LayerGroups | None
    streams: LayerStreams | None


def set_layers(decoder: Decoder, settings: LayerSettings) -> SetLayers:
    """The decoder that does what the settings ask for."""
    groups = streams = None
    if settings.grouped:
        groups = decoder_groups(decoder)
        decoder = grouped_decoder(decoder, groups)
    if settings.streams:
        decoder, streams = streamed_decoder(decoder, settings.streams)
    return SetLayers(decoder, groups, streams)
