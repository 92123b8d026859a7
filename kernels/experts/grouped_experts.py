"""The experts of a layer on a GPU, their matrices stacked.

Does: choose experts, multiply, and add: in five launches, or for up to four rows with their norm and residual in two
after the router's. Does not: read codes of quantised experts other than MXFP4.
"""

from collections.abc import Sequence

from torch import Tensor

from ..contracts import ExpertMlp, MixtureRule, RmsNorm, Weight
from .expert_matrices import stacked
from .expert_product import PairGate, expert_product, paired
from .few_rows import MOST_ROWS, add_few, takes
from .route import combine, route


class GroupedExperts:
    """`Experts` with matrices `gate_up` [experts, 2 * ffn, hidden] and `down` [experts, hidden, ffn]."""

    def __init__(self, mlps: Sequence[ExpertMlp], rule: MixtureRule) -> None:
        """Copy the matrices of experts, all of one shape.

        Raises:
            ValueError: `stacked` does not take such weights, or the rule is that of DeepSeek models.
        """
        if rule.grouped is not None:
            raise ValueError("experts on a GPU are not chosen by groups")
        self.gate_up = stacked([mlp.gate_up for mlp in mlps])
        self.down = stacked([mlp.down for mlp in mlps])
        self._rule = rule
        self._gate = PairGate(rule.gate.activation, rule.clamp)
        self._most_fused = MOST_ROWS if takes(rule, self.gate_up, self.down) else 0

    def outputs(self, x: Tensor, logits: Tensor) -> Tensor:
        """See `Experts`. The host does not wait, and launches depend on shapes alone."""
        rows, hidden = x.shape
        per_token = self._rule.per_token
        chosen, shares = route(logits, self._rule)
        pairs, count = paired(chosen, self.gate_up.experts), chosen.numel()
        inner = x.new_empty((count, self.down.inputs))
        expert_product(x, self.gate_up, pairs, inner, per_row=per_token, gate=self._gate)
        parts = x.new_empty((count, hidden))
        expert_product(inner, self.down, pairs, parts, per_row=1, shares=shares.view(-1))
        return combine(parts.view(rows, per_token, hidden))

    def add(self, residual: Tensor, norm: RmsNorm | None, router: Weight) -> bool:
        """See `Experts`: for a few rows of plain experts."""
        if residual.shape[0] > self._most_fused:
            return False
        logits = router.matmul(residual, norm)
        add_few(residual, norm, logits, self._rule, self.gate_up, self.down)
        return True
