"""The tensors of the vision half of a checkpoint: their names and shapes, and the encoder made of them.

Does: name the tensors, read them. Does not: compute.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import torch

from .deepstack_parts import DeepStackParts, deepstack_shapes
from .encoder_parts import EncoderParts, EncoderWeights, with_biases
from .family import EncoderKind
from .schemes.scheme import Stored
from .tensor_source import TensorSource
from .vision_encoder import VisionEncoder
from .vision_spec import VisionSpec, read_pixels
from .windowed_parts import WindowedParts, windowed_shapes

PREFIX = "visual."


@dataclass(frozen=True, slots=True)
class _Kind:
    shapes: Callable[[VisionSpec], dict[str, tuple[int, ...]]]
    parts: Callable[[VisionSpec, EncoderWeights], EncoderParts]


KINDS: Mapping[EncoderKind, _Kind] = {
    "windowed": _Kind(windowed_shapes, WindowedParts),
    "deepstack": _Kind(deepstack_shapes, DeepStackParts),
}


def vision_tensors(spec: VisionSpec) -> dict[str, Stored]:
    """All tensors of the encoder, by their names in a checkpoint."""
    hidden = spec.hidden
    shapes: dict[str, tuple[int, ...]] = {
        "patch_embed.proj.weight": (hidden, 3, spec.frames, spec.patch, spec.patch)
    }
    shapes |= KINDS[spec.kind].shapes(spec)
    for i in range(spec.layers):
        at = f"blocks.{i}.attn."
        shapes |= with_biases({at + "qkv": (3 * hidden, hidden), at + "proj": (hidden, hidden)})
    return {PREFIX + name: Stored(shape) for name, shape in shapes.items()}


def assemble_encoder(folder: Path, spec: VisionSpec, source: TensorSource) -> VisionEncoder:
    """The encoder of the weights in `source`, for images as the checkpoint in `folder` says."""
    with torch.inference_mode():
        tensors = {name.removeprefix(PREFIX): source.tensor(name) for name in vision_tensors(spec)}
    weights = EncoderWeights(tensors)
    parts = KINDS[spec.kind].parts(spec, weights)
    return VisionEncoder(spec, read_pixels(folder, spec), weights, parts)
