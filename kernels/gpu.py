"""The GPU implementation of `Kernels`: all Triton kernels as one object.

Does: hold the shared counters, and pass each call to its kernel. Does not: compute. Imported only if a GPU is
requested, so hosts without one need no Triton.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from .attention.paged import attend
from .codes import Codes
from .contracts import (
    PLAIN_SCALING,
    AdapterRows,
    Attend,
    AttentionPass,
    Epilogue,
    ExpertMlp,
    Experts,
    LowRank,
    MixtureRule,
    Places,
    Ragged,
    RmsNorm,
    ScoreScaling,
    Weight,
)
from .drafts.verify import verify
from .experts.grouped_experts import GroupedExperts
from .linear.linear import DenseWeight, finish
from .linear.low_rank import adapter_rows, add_low_rank
from .linear.rms_norm import rms_norm
from .quantised.coded_weight import CodedWeight
from .quantised.packed_codes import packed
from .sample.logits_pipeline import TokenSampler
from .sampling_contracts import SampleArgs, Sampled
from .verified import Verified

COUNTERS = 1 << 16
"""The most output tiles of a split product, and the most rows of one sampling call."""


class GpuKernels:
    """`Kernels` for a GPU. One instance serves one stream."""

    def __init__(self, device: torch.device, prompts: Attend | None = None) -> None:
        """`prompts`: the attention of steps with a host description (`Ragged.host`); None: this package's kernels."""
        self._counters = torch.zeros(COUNTERS, dtype=torch.int32, device=device)
        self._sampler = TokenSampler(device, COUNTERS)
        self._prompts = prompts

    @property
    def keeps_matrices(self) -> bool:
        """True: a launch reads a matrix where it is."""
        return True

    def weight(self, matrix: Tensor, bias: Tensor | None = None) -> Weight:
        """A weight on the matrix itself, which is copied only if it is not contiguous."""
        return DenseWeight(matrix, bias, self._counters)

    def settled(self, weight: Weight) -> Weight:
        """The weight unchanged."""
        return weight

    def coded(
        self, blocks: Sequence[Codes], bias: Tensor | None, dtype: torch.dtype
    ) -> Weight | None:
        """A weight on the codes, for models in bfloat16; None for groups that the kernels cannot read."""
        form = packed(blocks) if dtype == torch.bfloat16 else None
        return None if form is None else CodedWeight(form, bias, self._counters)

    def experts(
        self,
        mlps: Sequence[ExpertMlp],
        rule: MixtureRule,
        correction: Tensor | None = None,  # noqa: ARG002 - no rule that is run has one
    ) -> Experts:
        """Experts with their matrices copied into one tensor."""
        return GroupedExperts(mlps, rule)

    def rms_norm(self, x: Tensor, norm: RmsNorm) -> Tensor:
        """One launch, which starts after the preceding kernel has finished."""
        return rms_norm(x, norm, early=False)

    def finish(self, product: Tensor, epilogue: Epilogue | None) -> Tensor:
        """One launch; none without an epilogue."""
        return finish(product, epilogue)

    def adapter_rows(self, places: Tensor, count: int) -> AdapterRows:
        """Some launches of torch, once for all products of a step."""
        return adapter_rows(places, count)

    def add_low_rank(self, product: Tensor, x: Tensor, factors: LowRank, rows: AdapterRows) -> None:
        """Two launches."""
        add_low_rank(product, x, factors, rows)

    def attend(
        self,
        ragged: Ragged,
        places: Places,
        heads: int,
        cache_shape: Sequence[int],
        scores: ScoreScaling = PLAIN_SCALING,
        window: int | None = None,
    ) -> AttentionPass:
        """One launch per layer for a single token, else two; three if sequences have several tokens."""
        if cache_shape[0] == 1:
            raise ValueError("a GPU has no latent attention")
        if self._prompts is not None and ragged.host is not None:
            if window is not None:
                raise ValueError("this attention of prompts has no sliding window")
            return self._prompts(ragged, places, heads, cache_shape, scores)
        return attend(ragged, places, heads, cache_shape, scores, window)

    def sample(self, logits: Tensor, args: SampleArgs) -> Sampled:
        """One launch, or three with truncation."""
        return self._sampler.sample(logits, args)

    def verify(self, sampled: Sampled, given: Tensor, starts: Tensor) -> Verified:
        """One launch."""
        return verify(sampled, given, starts)
