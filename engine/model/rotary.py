"""Rotary position embedding: frequencies of each scaling variant, and the table of angles.

Does: compute the table once, in float64, for all positions of the context. Does not: rotate; that is a kernel.

Sources: Su et al. 2021 (RoPE); Chen et al. 2023 (linear position interpolation); Peng et al. 2023 (YaRN); the Llama 3.1
release (llama3); Ding et al. 2024 (LongRoPE). `dynamic` changes frequencies only past the model's own context, where
keys computed earlier would no longer fit; the engine never goes there, so it is the default rotation here. `longrope`
has two sets of frequencies; the longest context of the engine decides, because keys of one set do not fit the other.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import pad

from ..errors import InternalError
from .rope_spec import UNROTATED, RopeSpec


@dataclass(frozen=True, slots=True)
class RopeTable:
    """Angles of all positions: `cos` and `sin` [positions, head_dim], laid out as `Places` says.

    `axes` [head_dim]: by which of three positions each element of a head rotates; None if all rotate by one.
    """

    cos: Tensor
    sin: Tensor
    axes: Tensor | None = None

    def of_tokens(self, positions: Tensor) -> "RopeTable":
        """The angles of the tokens at `positions` [3, N], in their order: a table of N positions."""
        if self.axes is None:
            raise InternalError("this model rotates by one position for each token")
        at = positions.index_select(0, self.axes).t()
        return RopeTable(self.cos.gather(0, at), self.sin.gather(0, at))


def build_table(
    spec: RopeSpec, head_dim: int, positions: int, dtype: torch.dtype, device: torch.device
) -> RopeTable:
    """The table for positions 0 to `positions - 1`.

    Pairs that are not rotated have angle 0. `rotation_order` says which elements of a head are a pair.
    """
    if spec.type == UNROTATED:
        frequencies, scale = torch.zeros(0, dtype=torch.float64), 1.0
    else:
        frequencies, scale = inverse_frequencies(spec, spec.rotated(head_dim), positions)
    angles = torch.outer(torch.arange(positions, dtype=torch.float64), frequencies)
    still = (0, head_dim // 2 - angles.shape[1])
    cos, sin = pad(angles.cos() * scale, still, value=1.0), pad(angles.sin() * scale, still)
    axes = None
    if spec.axes:
        axes = torch.tensor(spec.axes * 2, device=device)
    return RopeTable(
        torch.cat((cos, cos), -1).to(device, dtype),
        torch.cat((-sin, sin), -1).to(device, dtype),
        axes,
    )


def rotation_order(spec: RopeSpec, head_dim: int) -> Tensor | None:
    """The order of a head's elements in which elements `i` and `i + head_dim / 2` are a pair; None: as they are.

    Checkpoints that rotate a part of each head have their pairs at distance `rotated / 2`. Products of queries and keys
    do not change if both are in the same other order.
    """
    rotated = spec.rotated(head_dim)
    if rotated == head_dim or spec.type == UNROTATED:
        return None
    left, right = torch.arange(rotated).chunk(2)
    first, second = torch.arange(rotated, head_dim).chunk(2)
    return torch.cat((left, first, right, second))


def inverse_frequencies(spec: RopeSpec, rotated: int, positions: int) -> tuple[Tensor, float]:
    """Radians per position for each of the `rotated / 2` pairs, float64, and the scale of cosine and sine.

    `positions` is the length of the longest context.
    """
    steps = torch.arange(0, rotated, 2, dtype=torch.float64) / rotated
    plain = spec.theta**-steps
    match spec.type:
        case "default" | "dynamic":
            return plain, 1.0
        case "linear":
            return plain / spec.params["factor"], 1.0
        case "llama3":
            return _llama3(plain, spec), 1.0
        case "yarn":
            return _yarn(plain, spec, rotated), _yarn_scale(spec)
        case "longrope":
            return _longrope(plain, spec, positions), _longrope_scale(spec)
        case _:
            raise ValueError(f"unknown rope type {spec.type!r}")


def _longrope(plain: Tensor, spec: RopeSpec, positions: int) -> Tensor:
    """Each frequency divided by its own factor: one set for contexts up to the original one, one for longer ones."""
    long = positions > spec.params["original_max_position_embeddings"]
    return plain / torch.tensor(spec.long if long else spec.short, dtype=torch.float64)


def _longrope_scale(spec: RopeSpec) -> float:
    """The scale of cosine and sine, for contexts of any length."""
    params = spec.params
    if "attention_factor" in params:
        return params["attention_factor"]
    factor = params["factor"]
    if factor <= 1:
        return 1.0
    return math.sqrt(1 + math.log(factor) / math.log(params["original_max_position_embeddings"]))


def _llama3(plain: Tensor, spec: RopeSpec) -> Tensor:
    """Frequencies with slow pairs divided by `factor`, fast ones kept, and the others blended by the number of their
    rotations within the original context."""
    params = spec.params
    rotations = params["original_max_position_embeddings"] * plain / (2 * math.pi)
    low, high = params["low_freq_factor"], params["high_freq_factor"]
    keep = ((rotations - low) / (high - low)).clamp(0, 1)
    return plain * (keep + (1 - keep) / params["factor"])


def _yarn(plain: Tensor, spec: RopeSpec, rotated: int) -> Tensor:
    """Original and stretched frequencies, blended between the pairs with `beta_fast` and `beta_slow` rotations."""
    params = spec.params
    context = params["original_max_position_embeddings"]

    def pair_with(rotations: float) -> float:
        return rotated * math.log(context / (rotations * 2 * math.pi)) / (2 * math.log(spec.theta))

    first = pair_with(params.get("beta_fast", 32))
    last = pair_with(params.get("beta_slow", 1))
    if params.get("truncate", True):
        first, last = math.floor(first), math.ceil(last)
    first, last = max(first, 0), min(last, rotated - 1)
    width = last - first if last != first else 0.001
    ramp = torch.arange(rotated // 2, dtype=torch.float64)
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
