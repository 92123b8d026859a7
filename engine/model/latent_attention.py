"""Latent attention (DeepSeek-AI 2024, DeepSeek-V2), as attention with one head of keys that are the values.

Does: make queries that are multiplied with latents, and outputs of attended latents. Does not: attend (`Attention` and
the kernels do), or read the checkpoint.

The key of head `h` is `K_h @ latent`, its value `V_h @ latent`. Scores are `query @ K_h @ latent`, so `K_h` is a factor
of the query; the sum of values is `V_h` times the sum of latents. Nothing but latents is kept or read
([why](docs/decisions/latents-are-not-expanded.md)).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from intaglio.kernels.contracts import Epilogue, Kernels, RmsNorm, Weight
from torch import Tensor

from .latent_spec import LatentSpec


@dataclass(frozen=True, slots=True)
class QueryLatent:
    """Queries made of a normed latent. See `Weight`."""

    down: Weight
    norm: RmsNorm
    up: Weight

    @property
    def inputs(self) -> int:
        """See `Weight`."""
        return self.down.inputs

    @property
    def outputs(self) -> int:
        """See `Weight`."""
        return self.up.outputs

    def matmul(
        self, x: Tensor, norm: RmsNorm | None = None, epilogue: Epilogue | None = None
    ) -> Tensor:
        """See `Weight`."""
        return self.up.matmul(self.down.matmul(x, norm), self.norm, epilogue)


@dataclass(frozen=True, slots=True, kw_only=True)
class LatentQkv:
    """The queries of all heads and then the one key, all of the latent's width. See `Weight`.

    `keys` [rank, plain] is a factor of each head's query. `down` makes the latent, normed by `norm`, and the elements
    that are rotated; these follow the latent in queries and key.
    """

    latent: LatentSpec
    query: Weight
    down: Weight
    norm: RmsNorm
    keys: Sequence[Weight]
    kernels: Kernels

    @property
    def inputs(self) -> int:
        """See `Weight`."""
        return self.down.inputs

    @property
    def outputs(self) -> int:
        """See `Weight`."""
        return (len(self.keys) + 1) * self.latent.width

    def matmul(
        self, x: Tensor, norm: RmsNorm | None = None, epilogue: Epilogue | None = None
    ) -> Tensor:
        """See `Weight`."""
        x = x if norm is None else self.kernels.rms_norm(x, norm)
        heads, rank = len(self.keys), self.latent.rank
        queries = self.query.matmul(x).view(x.shape[0], heads, self.latent.query)
        kept = self.down.matmul(x)
        fused = x.new_empty((x.shape[0], heads + 1, self.latent.width))
        for head, factor in enumerate(self.keys):
            fused[:, head, :rank] = factor.matmul(queries[:, head, : self.latent.plain])
        fused[:, :heads, rank:] = self._paired(queries[:, :, self.latent.plain :])
        fused[:, heads, :rank] = self.kernels.rms_norm(kept[:, :rank], self.norm)
        fused[:, heads, rank:] = self._paired(kept[:, rank:])
        return self.kernels.finish(fused.view(x.shape[0], -1), epilogue)

    def _paired(self, rotated: Tensor) -> Tensor:
        """The elements [..., rotated] with the two of each pair half the width apart, as the kernels rotate them."""
        if not self.latent.interleaved:
            return rotated
        return torch.cat((rotated[..., 0::2], rotated[..., 1::2]), -1)


@dataclass(frozen=True, slots=True)
class LatentOutput:
    """The output of attended latents, one for each head. See `Weight`.

    `values` [value, rank] makes each head's values of its latent.
    """

    latent: LatentSpec
    values: Sequence[Weight]
    output: Weight
    kernels: Kernels

    @property
    def inputs(self) -> int:
        """See `Weight`."""
        return len(self.values) * self.latent.width

    @property
    def outputs(self) -> int:
        """See `Weight`."""
        return self.output.outputs

    def matmul(
        self, x: Tensor, norm: RmsNorm | None = None, epilogue: Epilogue | None = None
    ) -> Tensor:
        """See `Weight`."""
        x = x if norm is None else self.kernels.rms_norm(x, norm)
        attended = x.view(x.shape[0], len(self.values), self.latent.width)
        rank = self.latent.rank
        values = [
            factor.matmul(attended[:, head, :rank]) for head, factor in enumerate(self.values)
        ]
        return self.output.matmul(torch.cat(values, -1), epilogue=epilogue)


def head_factors(
    matrix: Tensor, latent: LatentSpec, kernels: Kernels
) -> tuple[tuple[Weight, ...], tuple[Weight, ...]]:
    """The factors of each head's query, and of each head's output, from `matrix` [heads * (plain + value), rank]."""
    heads = matrix.view(-1, latent.plain + latent.value, latent.rank)
    keys = tuple(kernels.weight(head[: latent.plain].t()) for head in heads)
    return keys, tuple(kernels.weight(head[latent.plain :]) for head in heads)
