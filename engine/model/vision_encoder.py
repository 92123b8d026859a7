"""The encoder of images: from pixels to the states that come in place of the embeddings of image tokens.

Does: normalise pixels, cut them into patches, and compute the encoder for several images at once. Does not: decode or
resize images, keep results, load weights (`vision_weights`), or know the steps that differ by family
(`encoder_parts`).

In all families, queries and keys of patches are rotated by row and column.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from ..types import PromptImage
from .encoder_parts import EncoderParts, EncoderWeights
from .vision_layout import Ints, PatchLayout, patch_layout
from .vision_spec import PixelSpec, VisionSpec

THETA = 10000.0
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class VisionEncoder:
    """An encoder with its weights; `parts` are the steps of its family."""

    spec: VisionSpec
    pixels: PixelSpec
    weights: EncoderWeights
    parts: EncoderParts

    @property
    def device(self) -> torch.device:
        """The device of the weights."""
        return self._projection.device

    @property
    def _projection(self) -> Tensor:
        return self.weights.tensors["patch_embed.proj.weight"]

    @torch.inference_mode()
    def encode(self, images: Sequence[PromptImage]) -> list[Tensor]:
        """The states [cells, levels, output] of each image, computed together; none changes those of another.

        The first level is of the last layer, the others of the deep layers.
        """
        grids = [(image.rows, image.columns) for image in images]
        layout = patch_layout(grids, self.spec)
        cells = np.concatenate([patches(image, self.spec, self.pixels) for image in images])
        ordered = cells[layout.order].reshape(-1, self.spec.values)
        numbers = torch.from_numpy(ordered).to(self.device, self._projection.dtype)
        x = self.parts.embed(numbers, layout)
        rotation = self._rotation(layout)
        groups = [self._on_device(each) for each in (layout.windows, layout.images)]
        deep: list[Tensor] = []
        for i in range(self.spec.layers):
            x = self._layer(f"blocks.{i}.", x, rotation, groups[i in self.spec.full])
            if i in self.spec.deep:
                deep.append(self.parts.merged(x, len(deep) + 1))
        merged = torch.stack((self.parts.merged(x, 0), *deep), 1)
        states = torch.empty_like(merged)
        states[torch.from_numpy(layout.order).to(self.device)] = merged
        return list(torch.split_with_sizes(states, [rows * columns for rows, columns in grids]))

    def _on_device(self, groups: tuple[Ints, ...]) -> tuple[Tensor, ...]:
        return tuple(torch.from_numpy(each).to(self.device) for each in groups)

    def _rotation(self, layout: PatchLayout) -> tuple[Tensor, Tensor]:
        """Cosine and sine [patches, 1, head], float32: half of the pairs of a head rotate by row, half by column."""
        quarter = self.spec.hidden // self.spec.heads // 4
        steps = torch.arange(quarter, dtype=torch.float32) / quarter
        places = torch.from_numpy(layout.places).to(torch.float32)
        angles = torch.cat([place[:, None] * THETA**-steps for place in places], -1)
        angles = torch.cat((angles, angles), -1).unsqueeze(1)
        return angles.cos().to(self.device), angles.sin().to(self.device)

    def _layer(
        self, at: str, x: Tensor, rotation: tuple[Tensor, Tensor], groups: tuple[Tensor, ...]
    ) -> Tensor:
        fused = self.weights.linear(at + "attn.qkv", self.parts.norm(at + "norm1", x))
        query, key, value = fused.view(x.shape[0], 3, self.spec.heads, -1).unbind(1)
        query, key = _rotated(query, *rotation), _rotated(key, *rotation)
        attended = torch.empty_like(query)
        for group in groups:
            q, k, v = (part[group].transpose(1, 2) for part in (query, key, value))
            attended[group] = scaled_dot_product_attention(q, k, v).transpose(1, 2)
        x = x + self.weights.linear(at + "attn.proj", attended.flatten(1))
        return x + self.parts.mlp(at, self.parts.norm(at + "norm2", x))


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


def _rotated(heads: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Queries or keys [patches, heads, head], rotated in float32."""
    wide = heads.float()
    left, right = wide.chunk(2, -1)
    return (wide * cos + torch.cat((-right, left), -1) * sin).to(heads.dtype)
