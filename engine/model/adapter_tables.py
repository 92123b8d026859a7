"""The matrices of the adapters on the device, and the decoder that uses them.

Does: allocate a vector for each place, view it as the matrices of every product, and wrap the weights of a decoder.
Does not: read adapters, or choose their places.
"""

from collections.abc import Mapping
from dataclasses import replace

import torch
from intaglio.kernels.contracts import LowRank, Weight
from torch import Tensor

from .adapted_weight import AdaptedWeight, StepAdapters
from .adapter_layout import AdaptedProduct, AdapterLayout
from .decoder import Decoder
from .layers import GatedMlp, Layer


class AdapterTables:
    """Places for `count` adapters in one tensor [count, layout.size], which never moves."""

    def __init__(
        self, layout: AdapterLayout, count: int, dtype: torch.dtype, device: torch.device
    ) -> None:
        self.layout = layout
        self._memory = torch.zeros((count, layout.size), dtype=dtype, device=device)

    @property
    def dtype(self) -> torch.dtype:
        """The dtype of the matrices."""
        return self._memory.dtype

    @property
    def count(self) -> int:
        """The number of places."""
        return self._memory.shape[0]

    def fill(self, place: int, matrices: Tensor) -> None:
        """Copy an adapter [layout.size] to a place, in the order of the device's stream."""
        self._memory[place].copy_(matrices, non_blocking=True)

    def factors(self, product: AdaptedProduct) -> LowRank:
        """The matrices of all places for one product."""
        count, rank = self._memory.shape[0], self.layout.rank
        rows = len(product.parts) * rank
        down = self._memory[:, product.down : product.down + rows * product.inputs]
        up = self._memory[:, product.up : product.up + product.outputs * rank]
        return LowRank(
            down.view(count, rows, product.inputs),
            up.view(count, product.outputs, rank),
            product.ends,
        )


def adapted_decoder(decoder: Decoder, count: int, rank: int) -> tuple[Decoder, AdapterTables]:
    """The decoder with places for `count` adapters of ranks up to `rank`, and these places."""
    embedding = decoder.embedding
    layout = AdapterLayout(decoder.spec, rank)
    tables = AdapterTables(layout, count, embedding.dtype, embedding.device)
    step = StepAdapters(decoder.kernels, count)
    by_layer: dict[int, dict[str, AdaptedProduct]] = {}
    for product in layout.products:
        by_layer.setdefault(product.layer, {})[product.name] = product
    layers = tuple(
        _adapted(layer, by_layer[i], tables, step, decoder)
        for i, layer in enumerate(decoder.layers)
    )
    return replace(decoder, layers=layers, adapters=step), tables


def _adapted(
    layer: Layer,
    products: Mapping[str, AdaptedProduct],
    tables: AdapterTables,
    step: StepAdapters,
    decoder: Decoder,
) -> Layer:
    def with_adapters(weight: Weight, name: str) -> Weight:
        factors = tables.factors(products[name])
        return AdaptedWeight(weight, factors, step, decoder.kernels)

    attention = replace(
        layer.attention,
        qkv=with_adapters(layer.attention.qkv, "qkv"),
        output=with_adapters(layer.attention.output, "output"),
    )
    mlp = layer.mlp
    if isinstance(mlp, GatedMlp):
        mlp = replace(
            mlp,
            gate_up=with_adapters(mlp.gate_up, "gate_up"),
            down=with_adapters(mlp.down, "down"),
        )
    return replace(layer, attention=attention, mlp=mlp)
