"""Data layouts that all implementations of a kernel share, and the interface `Kernels` that `dispatch` implements.

Does: define shapes and dtypes once, and the meaning of each kernel. Does not: compute, or define the arguments of
sampling (`sampling_contracts`).

Layouts
    tokens of a step   the tokens of all sequences, concatenated, N rows; row order is the plan's
    keys and values    one tensor per layer, [2, num_blocks, block_size, kv_heads, head_dim]; 0 = keys, 1 = values;
                       with latent attention [1, ...]: the keys are the values as well
    slot               block * block_size + offset: the place of a token's key and value; negative: none
    null block         block 0: never written, always zero; fills block tables past their end
    mask words         int32, bit `t % 32` of word `t // 32` is token `t`, 1 = allowed, 0 past the end
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from .codes import Codes
from .expert_choice import GroupedChoice
from .sampling_contracts import Legal, SampleArgs, Sampled
from .verified import Verified

WORD_BITS = 32
NULL_BLOCK = 0


@dataclass(frozen=True, slots=True)
class Packs:
    """Rows of a step with one sequence each, grouped into packs of `split_kv.few_tokens`.

    `order` [E] int32: the rows of the first pack, of the second, ...; the free places at the end are -1. `shared`
    [packs] int32: the number of leading keys, in the same blocks, that all contexts of a pack share. `leads` [E] int32:
    the place, within its pack, of the first row with exactly the same blocks; often its own.
    """

    order: Tensor
    shared: Tensor
    leads: Tensor


@dataclass(frozen=True, slots=True)
class HostRagged:
    """A copy of `Ragged` on the host, for back ends that plan a step there.

    `query_starts` [S + 1] and `context_lengths` [S]. `tables` [rows, W] int32: row `rows[s]` has the blocks of sequence
    `s` in order, as many as its context needs. `tables` may change once the step is prepared.
    """

    query_starts: npt.NDArray[np.int64]
    context_lengths: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int64]
    tables: npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Ragged:
    """The sequences of a step and the rows they own. S sequences; all tensors int32, on the device of the kernels.

    `query_starts` [S + 1]: sequence `s` owns rows `query_starts[s]:query_starts[s + 1]`, at least one.
    `context_lengths` [S]: the keys it may see, including those of this step; its last row is at position
    `context_lengths[s] - 1`. `block_tables` [S, W]: its blocks in order, `NULL_BLOCK` past the end.

    On a device other than the host a sequence may have context 0: its rows are padding and their attention is zero.
    There, in a step of as many sequences as rows, a sequence may also own no rows, if none owns more than
    `split_kv.few_tokens`. If each of many sequences owns one row, `packs` may describe their shared prefixes. Several
    sequences may represent rows of one real sequence, each with its own context and a copy of the table. `host` is set
    if the step is prepared for immediate use and every sequence is real: never in a captured step.
    """

    query_starts: Tensor
    context_lengths: Tensor
    block_tables: Tensor
    packs: Packs | None = None
    host: HostRagged | None = None


@dataclass(frozen=True, slots=True)
class RopeRows:
    """Rotation of the N rows of a step: `cos` and `sin` [N, 1, head_dim], in the model's dtype.

    Both halves of the last axis hold the same angles; the first half of `sin` is negated, so that `x * cos + roll(x,
    head_dim / 2) * sin` rotates (the half-split convention of the Llama family).
    """

    cos: Tensor
    sin: Tensor


@dataclass(frozen=True, slots=True)
class Places:
    """Positions and cache slots of the N rows of a step.

    `cos` and `sin` [positions, head_dim]: the model's table of rotations, laid out as in `RopeRows`; with latent
    attention narrower than a head: its last elements are rotated. `positions` [N]
    integers: each row's position. `slots` [M], M <= N, integers: the cache slots of the first M rows' keys and values;
    rows with a negative slot, and rows past M, are not stored.
    """

    cos: Tensor
    sin: Tensor
    positions: Tensor
    slots: Tensor


@dataclass(frozen=True, slots=True)
class RmsNorm:
    """Root-mean-square normalisation (Zhang and Sennrich 2019): `weight` [hidden], `eps` added to the mean square."""

    weight: Tensor
    eps: float


@dataclass(frozen=True, slots=True)
class QKNorm:
    """`RmsNorm` of every query head and every key head: `query`, `key` [head_dim]."""

    query: Tensor
    key: Tensor
    eps: float


class Activation(Enum):
    """Activation functions of gated MLPs: `x * sigmoid(x)`, and GELU in its tanh approximation."""

    SILU = "silu"
    GELU_TANH = "gelu_tanh"


@dataclass(frozen=True, slots=True)
class Gate:
    """Epilogue of a gated MLP: of the product `y` [N, 2n], `activation(y[:, :n]) * y[:, n:]` [N, n]."""

    activation: Activation


@dataclass(frozen=True, slots=True)
class AddTo:
    """Epilogue that adds the product, normed if there is a `norm`, to contiguous `residual` [N, outputs]."""

    residual: Tensor
    norm: RmsNorm | None = None


@dataclass(frozen=True, slots=True)
class Logits:
    """Epilogue of the output head: the product [N, outputs] is read by `sample` alone.

    With `legal`, logits of tokens that are legal for no row are undefined, even NaN. With `softcap` c, a logit `y`
    becomes `c * tanh(y / c)`. `outputs` may exceed the number of tokens.
    """

    legal: Legal | None = None
    softcap: float | None = None


Epilogue = Gate | AddTo | Logits
"""Computation that follows a product. The weight decides whether to fuse it into the product's kernel."""


@dataclass(frozen=True, slots=True)
class LowRank:
    """Low-rank matrices of several adapters for one product.

    `down` [places, parts * rank, inputs] and `up` [places, outputs, rank], with contiguous last axes. The outputs up to
    `ends[0]` are the first part, which uses the first `rank` rows of `down`, those up to `ends[1]` the second, ...
    """

    down: Tensor
    up: Tensor
    ends: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class AdapterRows:
    """The adapters of the N rows of a step: `places` [N] int32, negative for rows without.

    On an accelerator also the rows by adapter: `order` [N] int32, and `tiles` [T, 3] int32: place, begin and end of
    rows in `order` with the same adapter; begin equals end in tiles that are not used.
    """

    places: Tensor
    order: Tensor | None = None
    tiles: Tensor | None = None


class Weight(Protocol):
    """The matrix of a linear layer and its bias, in the format of a quantisation scheme, on one device.

    `inputs` and `outputs` are its sizes as a matrix, in any format.
    """

    @property
    def inputs(self) -> int: ...

    @property
    def outputs(self) -> int: ...

    def matmul(
        self, x: Tensor, norm: RmsNorm | None = None, epilogue: Epilogue | None = None
    ) -> Tensor:
        """`x` [N, inputs] times the transposed matrix, plus the bias; returns [N, outputs] or the epilogue's result.

        With `norm`, rows of `x` are normed first. `x` has contiguous rows and is not changed.
        """
        ...


@dataclass(frozen=True, slots=True)
class ExpertMlp:
    """The gated MLP of one expert. `gate_up` is fused: gate, then up."""

    gate_up: Weight
    down: Weight


@dataclass(frozen=True, slots=True)
class MixtureRule:
    """The experts that a row uses, and their gate.

    A row uses the `per_token` experts with the highest probabilities. These are divided by their sum if `renormalised`;
    with `of_chosen`, they are a softmax over the chosen logits alone, in the dtype of the logits. With `clamp`, alpha
    and limit, the gate is that of gpt-oss instead: `g * sigmoid(alpha * g) * (u + 1)`, with `g` and `u` clamped at the
    limit first. With `grouped`, experts are chosen as in DeepSeek models.
    """

    per_token: int
    renormalised: bool
    gate: Gate
    of_chosen: bool = False
    clamp: tuple[float, float] | None = None
    grouped: GroupedChoice | None = None


class Experts(Protocol):
    """The experts of one layer (Shazeer et al. 2017, sparsely gated; Jiang et al. 2024, Mixtral)."""

    def outputs(self, x: Tensor, logits: Tensor) -> Tensor:
        """The sums of the outputs of the chosen experts, weighted by their probabilities, for `x` [N, hidden].

        `logits` [N, experts]. Returns a new tensor [N, hidden]. An expert that no row chooses is not read.
        """
        ...

    def add(self, residual: Tensor, norm: RmsNorm | None, router: Weight) -> bool:
        """Add the outputs for the normed rows of contiguous `residual` [N, hidden] to it, where that is fused.

        `router` computes the logits. False: nothing was done, and the caller takes `outputs`.
        """
        ...


@dataclass(frozen=True, slots=True)
class ScoreScaling:
    """The scaling of products of queries and keys to attention scores.

    Products are multiplied by `scale`; None: `1 / sqrt(head_dim)`. With `softcap` c, a score `s` becomes `c * tanh(s /
    c)`, before the causal mask.
    """

    scale: float | None = None
    softcap: float | None = None


PLAIN_SCALING = ScoreScaling()


class AttentionPass(Protocol):
    """A step's attention, prepared once and run for every layer."""

    def run(
        self, fused: Tensor, norms: QKNorm | None, cache: Tensor, sinks: Tensor | None = None
    ) -> Tensor:
        """Causal attention of new tokens over `cache`, one layer's keys and values; returns [N, heads, head_dim].

        `fused` [N, heads + 2 * kv_heads, head_dim] are the query, key and value heads, in this order. Queries and keys
        are normed if `norms` is given, then rotated; keys and values are stored into `cache` in place, all of them
        before any row reads it. `fused` may be overwritten. With `sinks` [heads] float32, each head's softmax has one
        more score, that of a key with a value of zero. A cache without values has no value heads in `fused`, either.

        Raises:
            ValueError: `sinks` are given, and these kernels have none.
        """
        ...


class Attend(Protocol):
    """An attention back end: `Kernels.attend` without windows."""

    def __call__(
        self,
        ragged: Ragged,
        places: Places,
        heads: int,
        cache_shape: Sequence[int],
        scores: ScoreScaling = PLAIN_SCALING,
    ) -> AttentionPass:
        """Prepare the attention of one step."""
        ...


class Kernels(Protocol):
    """Device arithmetic, chosen once by `dispatch.choose`. Rows never influence each other.

    On an accelerator no method waits for the device or reads from it, launch sizes depend on shapes alone, and memory
    comes from torch's allocator: every call can be captured in a graph and replayed. A kernel may read `Ragged` and
    `Places` before the preceding kernels have finished: after they are written, a plain torch operation (the embedding
    look-up) must run before the first call of a step.
    """

    @property
    def keeps_matrices(self) -> bool:
        """Whether `weight` keeps a contiguous matrix, and reads none of its values, which may come later."""
        ...

    def weight(self, matrix: Tensor, bias: Tensor | None = None) -> Weight:
        """The unquantised `matrix` [outputs, inputs] and its `bias` [outputs]; may keep the tensors or copy them."""
        ...

    def settled(self, weight: Weight) -> Weight:
        """Adapt a `weight` that these kernels did not make; batch-invariant kernels wrap it."""

    def coded(
        self, blocks: Sequence[Codes], bias: Tensor | None, dtype: torch.dtype
    ) -> Weight | None:
        """The weight of quantised `blocks`, with the same inputs and concatenated along the outputs, for a model in
        `dtype`; None: these kernels do not multiply by such codes."""
        ...

    def experts(
        self, mlps: Sequence[ExpertMlp], rule: MixtureRule, correction: Tensor | None = None
    ) -> Experts:
        """The experts of one layer, all of one shape; may keep the weights or copy them.

        `correction` [experts] float32: see `GroupedChoice`.

        Raises:
            ValueError: these kernels have no mixtures of such weights.
        """
        ...

    def rms_norm(self, x: Tensor, norm: RmsNorm) -> Tensor:
        """The normed rows of `x` [N, hidden], which has contiguous rows, as a new tensor."""
        ...

    def finish(self, product: Tensor, epilogue: Epilogue | None) -> Tensor:
        """Apply `epilogue` to the contiguous `product` [N, outputs] of a weight that does not fuse it.

        `product` may be overwritten.
        """
        ...

    def adapter_rows(self, places: Tensor, count: int) -> AdapterRows:
        """Prepare the rows of a step for `add_low_rank`; `places` [N] int32 are below `count`."""
        ...

    def add_low_rank(self, product: Tensor, x: Tensor, factors: LowRank, rows: AdapterRows) -> None:
        """Add `up @ (down @ x)` of each row's adapter to the contiguous `product` [N, outputs] of `x` [N, inputs]."""
        ...

    def attend(
        self,
        ragged: Ragged,
        places: Places,
        heads: int,
        cache_shape: Sequence[int],
        scores: ScoreScaling = PLAIN_SCALING,
        window: int | None = None,
    ) -> AttentionPass:
        """Prepare the attention of one step for `heads` query heads and caches of shape `cache_shape`.

        With `window`, a token sees that many keys at most: its own, and those just before it.

        Raises:
            ValueError: `window` or a cache without values is given, and these kernels have none.
        """
        ...

    def sample(self, logits: Tensor, args: SampleArgs) -> Sampled:
        """Draw one token for each row of `logits` [R, V] float32, float16 or bfloat16 (may be overwritten)."""
        ...

    def verify(self, sampled: Sampled, given: Tensor, starts: Tensor) -> Verified:
        """Compare the drafts of S sequences with the tokens sampled at their places.

        `given` [R] integers, R at least 1: the input tokens of the rows of `sampled`, which are a sequence's last
        accepted token and then its drafts. `starts` [S + 1] integers: sequence `s` owns rows `starts[s]:starts[s + 1]`;
        rows before the first and past the last belong to no sequence.
        """
        ...
