"""The steps of the encoder of Qwen3-VL: layer norms, plain MLPs, embeddings of positions, and states of several layers.

Does: name the tensors, compute the steps. Does not: attend (`vision_encoder`), or add the states to the layers of the
language half (`decoder`).

The embeddings of positions are learnt for a square grid. The positions of an image of any other grid lie between them,
and each takes the bilinear mean of its four neighbours; the corners of both grids coincide.
"""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import gelu, layer_norm, linear

from .encoder_parts import EncoderWeights, with_biases
from .vision_layout import PatchLayout
from .vision_spec import VisionSpec

EPS = 1e-6


@dataclass(frozen=True, slots=True)
class DeepStackParts:
    """See `EncoderParts`."""

    spec: VisionSpec
    weights: EncoderWeights

    def embed(self, patches: Tensor, layout: PatchLayout) -> Tensor:
        """See `EncoderParts`."""
        spec, tensors = self.spec, self.weights.tensors
        matrix = tensors["patch_embed.proj.weight"].view(spec.hidden, -1)
        x = linear(patches, matrix, tensors["patch_embed.proj.bias"])
        table = tensors["pos_embed.weight"].float().view(spec.grid, spec.grid, -1)
        places = torch.from_numpy(layout.places).to(x.device)
        sizes = [rows * columns * spec.merge**2 for rows, columns in layout.grids]
        found = []
        for grid, (row, column) in zip(
            layout.grids, torch.split_with_sizes(places, sizes, 1), strict=True
        ):
            height, width = (cells * spec.merge for cells in grid)
            found.append(_resampled(_resampled(table, 0, height), 1, width)[row, column])
        return x + torch.cat(found).to(x.dtype)

    def norm(self, name: str, x: Tensor) -> Tensor:
        """See `EncoderParts`."""
        weight, bias = (self.weights.tensors[name + part] for part in (".weight", ".bias"))
        return layer_norm(x, weight.shape, weight, bias, EPS)

    def mlp(self, at: str, x: Tensor) -> Tensor:
        """See `EncoderParts`."""
        inner = gelu(self.weights.linear(at + "mlp.linear_fc1", x), approximate="tanh")
        return self.weights.linear(at + "mlp.linear_fc2", inner)

    def merged(self, x: Tensor, level: int) -> Tensor:
        """See `EncoderParts`: the patches of a cell, side by side, through two layers.

        The last layer's are normed one by one, those of deep layers together.
        """
        at = _merger(level)
        wide = self.spec.hidden * self.spec.merge**2
        cells = self.norm(at + "norm", x if level == 0 else x.view(-1, wide)).view(-1, wide)
        inner = gelu(self.weights.linear(at + "linear_fc1", cells))
        return self.weights.linear(at + "linear_fc2", inner)


def _merger(level: int) -> str:
    """The beginning of the names of the tensors that merge the patches of this level."""
    return "merger." if level == 0 else f"deepstack_merger_list.{level - 1}."


def _resampled(table: Tensor, axis: int, count: int) -> Tensor:
    """`table` with `count` equally spaced entries on this axis, each between two of those that were there."""
    side = table.shape[axis]
    at = torch.arange(count, dtype=torch.float32, device=table.device) * (side - 1)
    at = at / max(count - 1, 1)
    before = at.floor().long()
    after = (before + 1).clamp(max=side - 1)
    share = (at - before).view([-1 if each == axis else 1 for each in range(table.dim())])
    return torch.lerp(table.index_select(axis, before), table.index_select(axis, after), share)


def deepstack_shapes(spec: VisionSpec) -> dict[str, tuple[int, ...]]:
    """The shapes of the tensors of these steps, by name."""
    hidden, wide = spec.hidden, spec.hidden * spec.merge**2
    norms: dict[str, int] = {}
    linears: dict[str, tuple[int, int]] = {}
    for level in range(1 + len(spec.deep)):
        at = _merger(level)
        norms[at + "norm"] = hidden if level == 0 else wide
        linears |= {at + "linear_fc1": (wide, wide), at + "linear_fc2": (spec.output, wide)}
    for i in range(spec.layers):
        at = f"blocks.{i}."
        norms |= {at + "norm1": hidden, at + "norm2": hidden}
        linears |= {at + "mlp.linear_fc1": (spec.ffn, hidden)}
        linears |= {at + "mlp.linear_fc2": (hidden, spec.ffn)}
    shapes: dict[str, tuple[int, ...]] = {
        "patch_embed.proj.bias": (hidden,),
        "pos_embed.weight": (spec.grid**2, hidden),
    }
    for name, size in norms.items():
        shapes |= {f"{name}.weight": (size,), f"{name}.bias": (size,)}
    return shapes | with_biases(linears)
