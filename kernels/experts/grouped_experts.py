"""The experts of a layer on a GPU, their matrices stacked.

Does: choose experts, multiply, and add, in five launches for few rows. Does not: read codes of quantised experts.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from ..contracts import ExpertMlp, MixtureRule
from ..linear.linear import DenseWeight
from .expert_product import expert_product, paired
from .route import combine, route


class GroupedExperts:
    """`Experts` with matrices `gate_up` [experts, 2 * ffn, hidden] and `down` [experts, hidden, ffn]."""

    def __init__(self, mlps: Sequence[ExpertMlp], rule: MixtureRule) -> None:
        """Copy the matrices of unquantised experts without biases, all of one shape.

        Raises:
            ValueError: an expert is another kind of weight, or the rule is that of gpt-oss or DeepSeek models.
        """
        if rule.of_chosen or rule.clamp is not None or rule.grouped is not None:
            raise ValueError(
                "experts on a GPU have no clamped gates, scores of the chosen or groups"
            )
        self.gate_up = _stacked([mlp.gate_up for mlp in mlps])
        self.down = _stacked([mlp.down for mlp in mlps])
        self._rule = rule

    def outputs(self, x: Tensor, logits: Tensor) -> Tensor:
        """See `Experts`. The host does not wait, and launches depend on shapes alone."""
        rows, hidden = x.shape
        chosen, shares = route(logits, self._rule)
        pairs, count = paired(chosen, len(self.gate_up)), chosen.numel()
        inner = x.new_empty((count, self.gate_up.shape[1] // 2))
        activation = self._rule.gate.activation
        expert_product(
            x, self.gate_up, pairs, inner, per_row=self._rule.per_token, activation=activation
        )
        parts = x.new_empty((count, hidden))
        expert_product(inner, self.down, pairs, parts, per_row=1, shares=shares.view(-1))
        return combine(parts.view(rows, self._rule.per_token, hidden))


def _stacked(weights: Sequence[object]) -> Tensor:
    matrices = [w.matrix for w in weights if isinstance(w, DenseWeight) and w.bias is None]
    if len(matrices) < len(weights):
        raise ValueError("experts on a GPU are unquantised and have no biases")
    return torch.stack(matrices)
