"""A mixture of experts in place of an MLP: every token uses a few of many small MLPs.

Does: norm the input, compute the logits of the experts, and add the output of those that a token uses. Does not: choose
experts or run them (`kernels.experts`), or balance load.
"""

from dataclasses import dataclass

from intaglio.kernels.contracts import Experts, Kernels, RmsNorm, Weight
from torch import Tensor

from .layers import Residual


@dataclass(frozen=True, slots=True)
class Mixture:
    """A mixture of gated MLPs. `norm` normalises the input; `router` computes a logit for each expert."""

    norm: RmsNorm | None
    router: Weight
    experts: Experts
    residual: Residual
    kernels: Kernels

    def add(self, residual: Tensor) -> None:
        """See `Mlp`."""
        x = residual if self.norm is None else self.kernels.rms_norm(residual, self.norm)
        output = self.experts.outputs(x, self.router.matmul(x))
        self.residual.add_output(output, residual, self.kernels)
