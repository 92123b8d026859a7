"""Rounding of a matrix to 4-bit integers that keeps its products with typical inputs (GPTQ, Frantar et al. 2022).

Does: round one column after the other; the columns that are still unrounded make up for the error, as far as the inputs
of the matrix are correlated. Does not: collect inputs (`input_moments`).
"""

import torch
from torch import Tensor

LEAST, LARGEST = -8, 7
DAMPING = 0.01
"""Added to the moments, as a share of their mean: few documents do not determine all directions of the inputs."""

SHRINKAGE = tuple(1 - step / 40 for step in range(13))
"""Candidates for a group's scale, relative to the one that reaches its largest element. A smaller one cuts a few
elements off and rounds all others more finely."""


def rounded_4bit(matrix: Tensor, moments: Tensor, group_size: int) -> tuple[Tensor, Tensor]:
    """Codes [outputs, inputs] int8 from -8 to 7, and scales [outputs, groups] float32 of groups of inputs.

    `matrix` [outputs, inputs]; `moments` [inputs, inputs] float32: the sum of the inputs' outer products, up to a
    factor. The last group may be shorter.
    """
    weights = matrix.to(torch.float32, copy=True)
    outputs, inputs = weights.shape
    factor = _inverse_factor(moments.to(weights.device))
    importance = moments.diagonal().to(weights.device)
    codes = torch.empty((outputs, inputs), dtype=torch.int8, device=weights.device)
    scales = []
    for begin in range(0, inputs, group_size):
        end = min(begin + group_size, inputs)
        scale = group_scales(weights[:, begin:end], importance[begin:end])
        errors = torch.empty((outputs, end - begin), device=weights.device)
        for column in range(begin, end):
            value = weights[:, column]
            code = (value / scale).round_().clamp_(LEAST, LARGEST)
            error = (value - code * scale) / factor[column, column]
            weights[:, column + 1 : end] -= torch.outer(error, factor[column, column + 1 : end])
            codes[:, column] = code.to(torch.int8)
            errors[:, column - begin] = error
        weights[:, end:] -= errors @ factor[begin:end, end:]
        scales.append(scale)
    return codes, torch.stack(scales, 1)


def group_scales(weights: Tensor, importance: Tensor) -> Tensor:
    """The scale [outputs] with the least error of each row of `weights` [outputs, inputs].

    The error of an input counts in proportion to its `importance` [inputs].
    """
    largest = weights.abs().amax(1)
    full = torch.where(largest > 0, largest / (LARGEST + 0.5), torch.ones_like(largest))
    share = importance + torch.where(importance.mean() > 0, importance.mean(), 1) * DAMPING
    best, least = full, torch.full_like(full, torch.inf)
    for shrinkage in SHRINKAGE:
        scale = full * shrinkage
        code = (weights / scale.unsqueeze(1)).round_().clamp_(LEAST, LARGEST)
        error = (weights - code * scale.unsqueeze(1)).square_() @ share
        best = torch.where(error < least, scale, best)
        least = torch.minimum(error, least)
    return best


def _inverse_factor(moments: Tensor) -> Tensor:
    """The upper triangular U with `U.T @ U` the inverse of the damped moments; computed in float64."""
    damped = moments.to(torch.float64, copy=True)
    mean = float(damped.diagonal().mean())
    damped.diagonal().add_(DAMPING * mean if mean > 0 else 1.0)
    inverse = torch.cholesky_inverse(torch.linalg.cholesky(damped))
    factor: Tensor = torch.linalg.cholesky(inverse, upper=True)
    return factor.to(torch.float32)
