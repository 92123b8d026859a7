"""The steps of the encoder of Qwen2.5-VL (Bai et al. 2025): RMS norms, gated MLPs, no embedding of positions.

Does: name the tensors, compute the steps. Does not: attend (`vision_encoder`).
"""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import gelu, linear, silu

from .encoder_parts import EncoderWeights, with_biases
from .vision_layout import PatchLayout
from .vision_spec import VisionSpec

EPS = 1e-6


@dataclass(frozen=True, slots=True)
class WindowedParts:
    """See `EncoderParts`."""

    spec: VisionSpec
    weights: EncoderWeights

    def embed(self, patches: Tensor, layout: PatchLayout) -> Tensor:  # noqa: ARG002 - no positions
        """See `EncoderParts`."""
        matrix = self.weights.tensors["patch_embed.proj.weight"]
        return linear(patches, matrix.view(self.spec.hidden, -1))

    def norm(self, name: str, x: Tensor) -> Tensor:
        """See `EncoderParts`."""
        wide = x.float()
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + EPS)
        return self.weights.tensors[name + ".weight"] * wide.to(x.dtype)

    def mlp(self, at: str, x: Tensor) -> Tensor:
        """See `EncoderParts`."""
        gate, up = (self.weights.linear(f"{at}mlp.{part}_proj", x) for part in ("gate", "up"))
        return self.weights.linear(at + "mlp.down_proj", silu(gate) * up)

    def merged(self, x: Tensor, level: int) -> Tensor:  # noqa: ARG002 - there is one level
        """See `EncoderParts`: the patches of a cell, side by side, through two layers."""
        cells = self.norm("merger.ln_q", x).view(-1, self.spec.hidden * self.spec.merge**2)
        return self.weights.linear("merger.mlp.2", gelu(self.weights.linear("merger.mlp.0", cells)))


def windowed_shapes(spec: VisionSpec) -> dict[str, tuple[int, ...]]:
    """The shapes of the tensors of these steps, by name."""
    hidden, wide = spec.hidden, spec.hidden * spec.merge**2
    shapes: dict[str, tuple[int, ...]] = {"merger.ln_q.weight": (hidden,)}
    linears = {"merger.mlp.0": (wide, wide), "merger.mlp.2": (spec.output, wide)}
    for i in range(spec.layers):
        at = f"blocks.{i}."
        shapes |= {f"{at}norm1.weight": (hidden,), f"{at}norm2.weight": (hidden,)}
        linears |= {
            f"{at}mlp.gate_proj": (spec.ffn, hidden),
            f"{at}mlp.up_proj": (spec.ffn, hidden),
            f"{at}mlp.down_proj": (hidden, spec.ffn),
        }
    return shapes | with_biases(linears)
