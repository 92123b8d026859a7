"""The tensors of the vision half of a checkpoint: their names and shapes, and the encoder made of them.

Does: name the tensors, read them. Does not: compute.
"""

from pathlib import Path

import torch

from .schemes.scheme import Stored
from .tensor_source import TensorSource
from .vision_encoder import VisionEncoder
from .vision_spec import VisionSpec, read_pixels

PREFIX = "visual."


def vision_tensors(spec: VisionSpec) -> dict[str, Stored]:
    """All tensors of the encoder, by their names in a checkpoint."""
    hidden, wide = spec.hidden, spec.hidden * spec.merge**2
    shapes: dict[str, tuple[int, ...]] = {
        "patch_embed.proj.weight": (hidden, 3, spec.frames, spec.patch, spec.patch),
        "merger.ln_q.weight": (hidden,),
    }
    linears = {"merger.mlp.0": (wide, wide), "merger.mlp.2": (spec.output, wide)}
    for i in range(spec.layers):
        at = f"blocks.{i}."
        shapes |= {f"{at}norm1.weight": (hidden,), f"{at}norm2.weight": (hidden,)}
        linears |= {
            f"{at}attn.qkv": (3 * hidden, hidden),
            f"{at}attn.proj": (hidden, hidden),
            f"{at}mlp.gate_proj": (spec.ffn, hidden),
            f"{at}mlp.up_proj": (spec.ffn, hidden),
            f"{at}mlp.down_proj": (hidden, spec.ffn),
        }
    for name, shape in linears.items():
        shapes |= {f"{name}.weight": shape, f"{name}.bias": shape[:1]}
    return {PREFIX + name: Stored(shape) for name, shape in shapes.items()}


def assemble_encoder(folder: Path, spec: VisionSpec, source: TensorSource) -> VisionEncoder:
    """The encoder of the weights in `source`, for images as the checkpoint in `folder` says."""
    with torch.inference_mode():
        weights = {name.removeprefix(PREFIX): source.tensor(name) for name in vision_tensors(spec)}
    return VisionEncoder(spec, read_pixels(folder), weights)
