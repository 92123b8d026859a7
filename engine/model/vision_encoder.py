"""The encoder of images: from pixels to the states that come in place of the embeddings of image tokens.

Does: normalise pixels, cut them into patches, and compute the encoder for several images at once. Does not: decode or
resize images, keep results, or load weights (`vision_weights`).

The encoder is that of Qwen2.5-VL (Bai et al. 2025): patches turn by row and column, most layers attend within windows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn.functional import gelu, linear, scaled_dot_product_attention, silu

from ..types import PromptImage
from .vision_layout import Ints, PatchLayout, patch_layout
from .vision_spec import PixelSpec, VisionSpec

EPS = 1e-6
THETA = 10000.0
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class VisionEncoder:
    """An encoder with its weights, by their names in a checkpoint without the prefix of the encoder."""

    spec: VisionSpec
    pixels: PixelSpec
    weights: Mapping[str, Tensor]

    @property
    def device(self) -> torch.device:
        """The device of the weights."""
        return self.weights["patch_embed.proj.weight"].device

    @torch.inference_mode()
    def encode(self, images: Sequence[PromptImage]) -> list[Tensor]:
        """The states [cells, hidden] of each image, computed together; no image changes the states of another."""
        grids = [(image.rows, image.columns) for image in images]
        layout = patch_layout(grids, self.spec)
        cells = np.concatenate([patches(image, self.spec, self.pixels) for image in images])
        ordered = cells[layout.order].reshape(-1, self.spec.values)
        projection = self.weights["patch_embed.proj.weight"]
        x = torch.from_numpy(ordered).to(projection.device, projection.dtype)
        x = linear(x, projection.view(self.spec.hidden, -1))
        turns = self._turns(layout)
        groups = [self._there(each) for each in (layout.windows, layout.images)]
        for i in range(self.spec.layers):
            x = self._layer(i, x, turns, groups[i in self.spec.full])
        merged = self._merged(x)
        states = torch.empty_like(merged)
        states[torch.from_numpy(layout.order).to(self.device)] = merged
        return list(torch.split_with_sizes(states, [rows * columns for rows, columns in grids]))

    def _there(self, groups: tuple[Ints, ...]) -> tuple[Tensor, ...]:
        return tuple(torch.from_numpy(each).to(self.device) for each in groups)

    def _turns(self, layout: PatchLayout) -> tuple[Tensor, Tensor]:
        """Cosine and sine [patches, 1, head], float32: half of the pairs of a head turn by row, half by column."""
        quarter = self.spec.hidden // self.spec.heads // 4
        steps = torch.arange(quarter, dtype=torch.float32) / quarter
        places = torch.from_numpy(layout.places).to(torch.float32)
        angles = torch.cat([place[:, None] * THETA**-steps for place in places], -1)
        angles = torch.cat((angles, angles), -1).unsqueeze(1)
        return angles.cos().to(self.device), angles.sin().to(self.device)

    def _layer(
        self, i: int, x: Tensor, turns: tuple[Tensor, Tensor], groups: tuple[Tensor, ...]
    ) -> Tensor:
        at = f"blocks.{i}."
        fused = self._linear(at + "attn.qkv", self._norm(at + "norm1", x))
        query, key, value = fused.view(x.shape[0], 3, self.spec.heads, -1).unbind(1)
        query, key = _turned(query, *turns), _turned(key, *turns)
        attended = torch.empty_like(query)
        for group in groups:
            q, k, v = (part[group].transpose(1, 2) for part in (query, key, value))
            attended[group] = scaled_dot_product_attention(q, k, v).transpose(1, 2)
        x = x + self._linear(at + "attn.proj", attended.flatten(1))
        inner = self._norm(at + "norm2", x)
        gate = silu(self._linear(at + "mlp.gate_proj", inner))
        return x + self._linear(
            at + "mlp.down_proj", gate * self._linear(at + "mlp.up_proj", inner)
        )

    def _merged(self, x: Tensor) -> Tensor:
        """The states [cells, hidden] of the language half: the patches of a cell, side by side, through two layers."""
        cells = self._norm("merger.ln_q", x).view(-1, self.spec.hidden * self.spec.merge**2)
        return self._linear("merger.mlp.2", gelu(self._linear("merger.mlp.0", cells)))

    def _linear(self, name: str, x: Tensor) -> Tensor:
        return linear(x, self.weights[name + ".weight"], self.weights[name + ".bias"])

    def _norm(self, name: str, x: Tensor) -> Tensor:
        wide = x.float()
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + EPS)
        return self.weights[name + ".weight"] * wide.to(x.dtype)


def patches(image: PromptImage, spec: VisionSpec, pixels: PixelSpec) -> Floats:
    """The numbers [cells, values of its patches] that the encoder reads, as the published processor makes them."""
    side, merge = spec.patch, spec.merge
    height, width = image.rows * spec.factor, image.columns * spec.factor
    found = np.frombuffer(image.pixels, dtype=np.uint8).reshape(height, width, 3)
    scaled = (found.transpose(2, 0, 1) * (1 / 255)).astype(np.float32)
    mean, std = (
        np.array(each, dtype=np.float32)[:, None, None] for each in (pixels.mean, pixels.std)
    )
    planes = (scaled - mean) / std
    shape = (3, image.rows, merge, side, image.columns, merge, side)
    cells = planes.reshape(shape).transpose(1, 4, 2, 5, 0, 3, 6)[:, :, :, :, :, None]
    whole = (*cells.shape[:5], spec.frames, side, side)
    return np.broadcast_to(cells, whole).reshape(image.tokens, -1)


def _turned(heads: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Queries or keys [patches, heads, head], turned in float32."""
    wide = heads.float()
    left, right = wide.chunk(2, -1)
    return (wide * cos + torch.cat((-right, left), -1) * sin).to(heads.dtype)
