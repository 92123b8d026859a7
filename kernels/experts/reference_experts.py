"""The definition of a mixture of experts in torch, which the CPU runs.

Does: run each chosen expert once on all its rows, and add the weighted outputs. Does not: run in a graph, as the host
waits for the choice.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from .. import reference
from ..contracts import ExpertMlp, MixtureRule, RmsNorm, Weight
from ..expert_choice import GroupedChoice

LEAST_SUM = 1e-20
"""Added to a sum of shares that are divided by it, which may be zero."""

LEAST_ROWS = 2
"""The fewest rows of a product: BLAS sums a single row in another order, so it is doubled."""


Sigmoid = Callable[[Tensor], Tensor]


class Routing(NamedTuple):
    """The experts of N rows: `shares` [N, per_token] and `chosen` [N, per_token], best first."""

    shares: Tensor
    chosen: Tensor


def route(
    logits: Tensor,
    rule: MixtureRule,
    correction: Tensor | None = None,
    sigmoid: Sigmoid = torch.sigmoid,
) -> Routing:
    """The experts with the highest probabilities of each row of `logits` [N, experts]."""
    if rule.grouped is not None:
        wide = logits.float()
        scores = sigmoid(wide) if rule.grouped.sigmoid else wide.softmax(-1)
        return _grouped_route(scores, rule, rule.grouped, correction)
    if rule.of_chosen:
        best, chosen = logits.topk(rule.per_token, -1)
        return Routing(best.softmax(-1), chosen)
    probabilities = logits.softmax(-1, dtype=torch.float32)
    shares, chosen = probabilities.topk(rule.per_token, -1)
    if rule.renormalised:
        shares = shares / shares.sum(-1, keepdim=True)
    return Routing(shares, chosen)


def _grouped_route(
    scores: Tensor, rule: MixtureRule, choice: GroupedChoice, correction: Tensor | None
) -> Routing:
    """`route` for `GroupedChoice`; the chosen experts are in no order, as sums of shares in their order need not be."""
    ranked = scores if correction is None else scores + correction
    if choice.kept < choice.groups:
        groups = ranked.view(len(ranked), choice.groups, -1)
        best = groups.topk(choice.summed, -1).values.sum(-1)
        kept = best.topk(choice.kept, -1, sorted=False).indices
        lost = torch.full_like(best, -torch.inf).scatter_(1, kept, 0.0)
        ranked = (groups + lost.unsqueeze(-1)).view_as(scores)
    chosen = ranked.topk(rule.per_token, -1, sorted=False).indices
    shares = scores.gather(1, chosen)
    if rule.renormalised:
        shares = shares / (shares.sum(-1, keepdim=True) + LEAST_SUM)
    return Routing(shares * choice.scale, chosen)


def clamped_gate(product: Tensor, alpha: float, limit: float) -> Tensor:
    """The gated half [N, n] of `product` [N, 2n], gate, then up. See `MixtureRule.clamp`."""
    gate, up = product.chunk(2, -1)
    gate, up = gate.clamp(max=limit), up.clamp(-limit, limit)
    return (up + 1) * (gate * reference.sigmoid(gate * alpha))


@dataclass(frozen=True, slots=True)
class ReferenceExperts:
    """`Experts` in torch, on weights of any format.

    `tally` is called with the chosen experts of all rows. `sigmoid` scores experts where `GroupedChoice` asks for one.
    """

    mlps: Sequence[ExpertMlp]
    rule: MixtureRule
    correction: Tensor | None = None
    tally: Callable[[Tensor], None] | None = None
    sigmoid: Sigmoid = torch.sigmoid

    def outputs(self, x: Tensor, logits: Tensor) -> Tensor:
        """See `Experts`."""
        routing = route(logits, self.rule, self.correction, self.sigmoid)
        if self.tally is not None:
            self.tally(routing.chosen)
        flat = routing.chosen.reshape(-1)
        order = flat.argsort(stable=True)
        counts = flat.bincount(minlength=len(self.mlps)).tolist()
        rows, shares = order // self.rule.per_token, routing.shares.reshape(-1)[order]
        output = torch.zeros_like(x)
        start = 0
        for mlp, count in zip(self.mlps, counts, strict=True):
            if count:
                own = rows[start : start + count]
                product = self._product(mlp, x.index_select(0, own))
                product = product.float().mul_(shares[start : start + count, None])
                output.index_add_(0, own, product.to(output.dtype))
            start += count
        return output

    def add(self, residual: Tensor, norm: RmsNorm | None, router: Weight) -> bool:  # noqa: ARG002
        """See `Experts`: nothing is fused."""
        return False

    def _product(self, mlp: ExpertMlp, x: Tensor) -> Tensor:
        """The outputs of one expert for the rows of `x` [n, hidden]."""
        count = x.shape[0]
        if count < LEAST_ROWS:
            x = x.expand(LEAST_ROWS, -1).contiguous()
        if self.rule.clamp is None:
            gated = mlp.gate_up.matmul(x, epilogue=self.rule.gate)
        else:
            gated = clamped_gate(mlp.gate_up.matmul(x), *self.rule.clamp)
        return mlp.down.matmul(gated)[:count]
