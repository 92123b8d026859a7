"""The arguments and results of sampling, which all kernels share.

Does: define shapes, dtypes and status codes. Does not: compute; `reference_logits` has the definitions of the stages.
"""

from dataclasses import dataclass

from torch import Tensor

OK, NOT_FINITE, NOTHING_LEGAL = 0, 1, 2
"""Values of `Sampled.status`."""


@dataclass(frozen=True, slots=True)
class Legal:
    """The tokens that may be sampled: `masks` int32 [A, words]; tokens past the mask are illegal.

    `rows` int32 [R]: the mask row of each row of logits, -1 = all tokens are legal; None: row i of A = R is for row i.
    """

    masks: Tensor
    rows: Tensor | None


@dataclass(frozen=True, slots=True)
class Penalties:
    """Penalties of R rows, and the tokens that they apply to.

    `rows`, `tokens` [P] int64: the distinct (row, token) pairs of prompt and output, rows ascending; `counts` [P]
    float32: occurrences of the token in the *output*. `repetition`, `presence`, `frequency` [R] float32.
    """

    rows: Tensor
    tokens: Tensor
    counts: Tensor
    repetition: Tensor
    presence: Tensor
    frequency: Tensor


@dataclass(frozen=True, slots=True)
class Bias:
    """Values added to single logits: `rows`, `tokens` [B] int64 (distinct pairs, rows ascending), `values` float32."""

    rows: Tensor
    tokens: Tensor
    values: Tensor


@dataclass(frozen=True, slots=True)
class Truncation:
    """Per row [R]: `top_k` int64 (0 = all), `top_p` and `min_p` float32 (1 and 0 = all)."""

    top_k: Tensor
    top_p: Tensor
    min_p: Tensor


@dataclass(frozen=True, slots=True)
class Draw:
    """Per row [R]: `temperature` float32 (0 = greedy) and `keys` [R, 2] int64, two 32-bit words of counter state."""

    temperature: Tensor
    keys: Tensor


@dataclass(frozen=True, slots=True)
class SampleArgs:
    """The stages of the logits pipeline, in order; None skips a stage for the whole batch.

    `vocab` is the number of existing tokens: logits at and past it are never sampled. `masks` and `mask_rows`: as in
    `Legal`. `top`: number of alternatives to report, None: no log-probabilities. `masked_share` needs all logits.
    """

    vocab: int
    masks: Tensor | None = None
    mask_rows: Tensor | None = None
    bias: Bias | None = None
    penalties: Penalties | None = None
    draw: Draw | None = None
    truncation: Truncation | None = None
    top: int | None = None
    masked_share: bool = False

    @property
    def legal(self) -> Legal | None:
        """The tokens with relevant logits; None: all tokens."""
        return (
            None if self.masks is None or self.masked_share else Legal(self.masks, self.mask_rows)
        )


@dataclass(frozen=True, slots=True)
class Sampled:
    """One token per row. `tokens` [R] int64, `status` [R] int64 (`OK`, `NOT_FINITE`, `NOTHING_LEGAL`).

    A row is `NOT_FINITE` if the logit of a legal token is NaN or positive infinity (-inf is a probability of zero).
    Unless a row is `OK` its other values are undefined, except that its token is below `vocab`.

    `logprobs` [R] float32, `top_tokens` [R, top] int64, `top_logprobs` [R, top] and `masked` [R] float32 are None
    unless requested: natural logarithms under the model's distribution over legal tokens, after the mask and before all
    other stages; and the probability of all illegal tokens, 1 where logits are not finite.
    """

    tokens: Tensor
    status: Tensor
    logprobs: Tensor | None = None
    top_tokens: Tensor | None = None
    top_logprobs: Tensor | None = None
    masked: Tensor | None = None
