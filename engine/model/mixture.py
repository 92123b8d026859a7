"""A mixture of experts in place of an MLP: every token uses a few of many small MLPs.

Does: norm the input, compute the logits of the experts, and add the output of those that a token uses. Does not: choose
experts or run them (`kernels.experts`), or balance load.
"""

from dataclasses import dataclass

from intaglio.kernels.contracts import AddTo, ExpertMlp, Experts, Gate, Kernels, RmsNorm, Weight
from torch import Tensor

from ..parallel.communicator import Communicator
from .layers import Residual


@dataclass(frozen=True, slots=True)
class SharedExpert:
    """An expert that every token uses."""

    mlp: ExpertMlp
    gate: Gate

    def add(self, x: Tensor, output: Tensor) -> None:
        """Add the output for `x` [N, hidden] to `output` [N, hidden], in place."""
        gated = self.mlp.gate_up.matmul(x, epilogue=self.gate)
        self.mlp.down.matmul(gated, epilogue=AddTo(output))


@dataclass(frozen=True, slots=True)
class Mixture:
    """A mixture of gated MLPs. `norm` normalises the input; `router` computes a logit for each expert.

    With `wide_router` it does so in float32. Every token uses the `shared` expert, if there is one. With a
    `communicator` the experts are parts; their outputs are added up over the ranks.
    """

    norm: RmsNorm | None
    router: Weight
    experts: Experts
    residual: Residual
    kernels: Kernels
    shared: SharedExpert | None = None
    wide_router: bool = False
    communicator: Communicator | None = None

    def add(self, residual: Tensor) -> None:
        """See `Mlp`."""
        if self._plain() and self.experts.add(residual, self.norm, self.router):
            return
        x = residual if self.norm is None else self.kernels.rms_norm(residual, self.norm)
        logits = self.router.matmul(x.float() if self.wide_router else x)
        output = self.experts.outputs(x, logits)
        if self.shared is not None:
            self.shared.add(x, output)
        if self.communicator is not None:
            onto = AddTo(residual, self.residual.norm)
            if self.residual.scale is None and self.communicator.add_sum(output, onto):
                return
            output = self.communicator.all_reduce(output)
        self.residual.add_output(output, residual, self.kernels)

    def _plain(self) -> bool:
        """Whether the sum of the chosen experts is added to the residual as it is."""
        return (
            self.shared is None
            and self.communicator is None
            and not self.wide_router
            and self.residual.norm is None
            and self.residual.scale is None
        )
