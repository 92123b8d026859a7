"""The definition of the sum over ranks, in plain torch.

Does: define what `peer_sums.add_sum` computes. Does not: exchange anything.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from ..contracts import AddTo


def add_sum(terms: Sequence[Tensor], onto: AddTo) -> None:
    """Add the sum of the `terms` [N, width] of all ranks, in their order, to the residual, as `onto` says."""
    total = torch.zeros_like(terms[0], dtype=torch.float32)
    for term in terms:
        total += term.float()
    if onto.norm is not None:
        scale = torch.rsqrt(total.square().mean(1, keepdim=True) + onto.norm.eps)
        total = total * scale * onto.norm.weight.float()
    onto.residual.copy_(onto.residual.float() + total)
