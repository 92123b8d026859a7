"""A mixture of experts in place of an MLP: every token uses a few of many small MLPs.

Does: choose the experts of each token, run each chosen expert once on all its tokens, and add the weighted outputs.
Does not: balance load, or run on a GPU, where the host would have to wait for the choice.

Sources: Shazeer et al. 2017 (sparsely gated experts); Jiang et al. 2024 (Mixtral).
"""

from dataclasses import dataclass

import torch
from intaglio.kernels.contracts import Gate, Kernels, RmsNorm, Weight
from torch import Tensor

from .layers import Residual

LEAST_ROWS = 2
"""The fewest rows of a product: BLAS sums a single row in another order, so it is doubled."""


@dataclass(frozen=True, slots=True)
class Expert:
    """One gated MLP of a mixture. `gate_up` is fused: gate, then up."""

    gate_up: Weight
    down: Weight


@dataclass(frozen=True, slots=True)
class Routing:
    """The experts of N tokens: `weights` [N, per_token] float32 and `chosen` [N, per_token], best first."""

    weights: Tensor
    chosen: Tensor


def route(logits: Tensor, per_token: int, *, renormalised: bool) -> Routing:
    """The experts with the highest probabilities of each row of `logits` [N, experts]."""
    probabilities = logits.softmax(-1, dtype=torch.float32)
    weights, chosen = probabilities.topk(per_token, -1)
    if renormalised:
        weights = weights / weights.sum(-1, keepdim=True)
    return Routing(weights, chosen)


@dataclass(frozen=True, slots=True)
class Mixture:
    """A mixture of gated MLPs. `norm` normalises the input; `router` computes a logit for each expert."""

    norm: RmsNorm | None
    router: Weight
    experts: tuple[Expert, ...]
    gate: Gate
    per_token: int
    renormalised: bool
    residual: Residual
    kernels: Kernels

    def add(self, residual: Tensor) -> None:
        """See `Mlp`. An expert that no token uses is not read."""
        x = residual if self.norm is None else self.kernels.rms_norm(residual, self.norm)
        routing = route(self.router.matmul(x), self.per_token, renormalised=self.renormalised)
        flat = routing.chosen.view(-1)
        order = flat.argsort(stable=True)
        counts = flat.bincount(minlength=len(self.experts)).tolist()
        tokens, weights = order // self.per_token, routing.weights.view(-1)[order]
        output = torch.zeros_like(residual)
        start = 0
        for expert, count in zip(self.experts, counts, strict=True):
            if count:
                rows = tokens[start : start + count]
                product = self._product(expert, x.index_select(0, rows))
                product = product.float().mul_(weights[start : start + count, None])
                output.index_add_(0, rows, product.to(output.dtype))
            start += count
        self.residual.add_output(output, residual, self.kernels)

    def _product(self, expert: Expert, x: Tensor) -> Tensor:
        """The outputs of `expert` for the rows of `x` [n, hidden]."""
        count = x.shape[0]
        if count < LEAST_ROWS:
            x = x.expand(LEAST_ROWS, -1).contiguous()
        return expert.down.matmul(expert.gate_up.matmul(x, epilogue=self.gate))[:count]
