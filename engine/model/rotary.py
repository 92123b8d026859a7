"""Rotary position embedding: frequencies of each scaling variant, and the table of angles.

Does: compute the table once, in float64, for all positions of the context. Does not: rotate; that is a kernel.

Sources: Su et al. 2021 (RoPE); Chen et al. 2023 (linear position interpolation); Peng et al. 2023 (YaRN); the Llama 3.1
release (llama3). `dynamic` changes frequencies only past the model's own context, where keys computed earlier would no
longer fit; the engine never goes there, so it is the default rotation here.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from .spec import RopeSpec


@dataclass(frozen=True, slots=True)
class RopeTable:
    """Angles of all positions: `cos` and `sin` [positions, head_dim], laid out as `Places` says."""

    cos: Tensor
    sin: Tensor


def build_table(
    spec: RopeSpec, head_dim: int, positions: int, dtype: torch.dtype, device: torch.device
) -> RopeTable:
    """The table for positions 0 to `positions - 1`."""
    frequencies, scale = inverse_frequencies(spec, head_dim)
    angles = torch.outer(torch.arange(positions, dtype=torch.float64), frequencies)
    cos, sin = angles.cos() * scale, angles.sin() * scale
    return RopeTable(
        torch.cat((cos, cos), -1).to(device, dtype), torch.cat((-sin, sin), -1).to(device, dtype)
    )


def inverse_frequencies(spec: RopeSpec, head_dim: int) -> tuple[Tensor, float]:
    """Radians per position for each of the `head_dim / 2` pairs, float64, and the scale of cosine and sine."""
    steps = torch.arange(0, head_dim, 2, dtype=torch.float64) / head_dim
    plain = spec.theta**-steps
    match spec.type:
        case "default" | "dynamic":
            return plain, 1.0
        case "linear":
            return plain / spec.params["factor"], 1.0
        case "llama3":
            return _llama3(plain, spec), 1.0
        case "yarn":
            return _yarn(plain, spec, head_dim), _yarn_scale(spec)
        case _:
            raise ValueError(f"unknown rope type {spec.type!r}")


def _llama3(plain: Tensor, spec: RopeSpec) -> Tensor:
    """Frequencies with slow pairs divided by `factor`, fast ones kept, and the others blended by their turns within the
    original context."""
    params = spec.params
    turns = params["original_max_position_embeddings"] * plain / (2 * math.pi)
    low, high = params["low_freq_factor"], params["high_freq_factor"]
    keep = ((turns - low) / (high - low)).clamp(0, 1)
    return plain * (keep + (1 - keep) / params["factor"])


def _yarn(plain: Tensor, spec: RopeSpec, head_dim: int) -> Tensor:
    """Original and stretched frequencies, blended between the pairs with `beta_fast` and `beta_slow` turns."""
    params = spec.params
    context = params["original_max_position_embeddings"]

    def pair_with(turns: float) -> float:
        return head_dim * math.log(context / (turns * 2 * math.pi)) / (2 * math.log(spec.theta))

    first = pair_with(params.get("beta_fast", 32))
    last = pair_with(params.get("beta_slow", 1))
    if params.get("truncate", True):
        first, last = math.floor(first), math.ceil(last)
    first, last = max(first, 0), min(last, head_dim - 1)
    width = last - first if last != first else 0.001
    ramp = torch.arange(head_dim // 2, dtype=torch.float64)
    stretch = ((ramp - first) / width).clamp(0, 1)
    return plain * (1 - stretch) + plain / params["factor"] * stretch


def _yarn_scale(spec: RopeSpec) -> float:
    """The scale of cosine and sine that preserves the entropy of the softmax (the paper's `sqrt(1/t)`)."""
    params = spec.params
    if "attention_factor" in params:
        return params["attention_factor"]

    def sharpness(weight: float) -> float:
        return 0.1 * weight * math.log(params["factor"]) + 1 if params["factor"] > 1 else 1.0

    if params.get("mscale") and params.get("mscale_all_dim"):
        return sharpness(params["mscale"]) / sharpness(params["mscale_all_dim"])
    return sharpness(1.0)
