"""Muon: momentum whose every matrix update is made orthogonal by Newton-Schulz steps.

After K. Jordan et al., "Muon: An optimizer for hidden layers in neural networks" (2024), with the update
scaled to the size AdamW would give (Liu et al., "Muon is scalable for LLM training", 2025). Matrices of
the same shape are handled as one batch, so a step is a few dozen launches.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import torch
from torch import Tensor

_STEPS = 5
_A, _B, _C = 3.4445, -4.7750, 2.0315


class Muon:
    """Updates 2-D weights in place; `lr` is set by the caller before each step."""

    def __init__(self, weights: Iterable[Tensor], decay: float, momentum: float = 0.95) -> None:
        groups: dict[torch.Size, list[Tensor]] = defaultdict(list)
        for weight in weights:
            groups[weight.shape].append(weight)
        self.groups = list(groups.values())
        self.moments = [torch.zeros_like(torch.stack(group)) for group in self.groups]
        self.decay, self.momentum, self.lr = decay, momentum, 0.0

    @torch.no_grad()
    def step(self) -> None:
        for group, moment in zip(self.groups, self.moments, strict=True):
            gradient = torch.stack([weight.grad for weight in group if weight.grad is not None])
            moment.lerp_(gradient, 1 - self.momentum)
            update = orthogonal(gradient.lerp(moment, self.momentum))
            scale = 0.2 * max(update.shape[-2:]) ** 0.5 * self.lr
            torch._foreach_mul_(group, 1 - self.lr * self.decay)
            torch._foreach_add_(group, list((update * -scale).to(group[0].dtype).unbind(0)))


def orthogonal(matrices: Tensor) -> Tensor:
    """The nearest semi-orthogonal matrices, roughly; shape [count, rows, columns]."""
    x = matrices.bfloat16()
    tall = x.shape[-2] > x.shape[-1]
    x = x.mT if tall else x
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for _ in range(_STEPS):
        square = x @ x.mT
        x = _A * x + (_B * square + _C * square @ square) @ x
    done: Tensor = x.mT if tall else x
    return done
