"""Verification of drafts against sampled tokens, one program per sequence. Reference: `reference_verify.verify`.

Does: compare drafts with the tokens sampled at their places. Does not: sample. Sequences may own no rows, and rows no
sequence, so one captured graph serves any number of drafts.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

from ..sampling_contracts import Sampled
from ..verified import Verified

BLOCK = 32


@triton.jit(do_not_specialize_on_alignment=["tokens", "status", "given", "starts"])
def _verify(
    tokens: tl.tensor,
    status: tl.tensor,
    given: tl.tensor,
    starts: tl.tensor,
    accepted: tl.tensor,
    next_tokens: tl.tensor,
    next_status: tl.tensor,
    BLOCK: tl.constexpr,
) -> None:
    sequence = tl.program_id(0)
    begin = tl.load(starts + sequence).to(tl.int32)
    end = tl.load(starts + sequence + 1).to(tl.int32)
    first = end
    for block in range(begin, end, BLOCK):
        row = block + tl.arange(0, BLOCK)
        inside = row < end
        token = tl.load(tokens + row, mask=inside, other=0)
        # The last row has no draft; no token is negative.
        draft = tl.load(given + row + 1, mask=row + 1 < end, other=-1)
        sound = tl.load(status + row, mask=inside, other=0) == 0
        goes_on = sound & (token == draft.to(tl.int64))
        first = tl.minimum(first, tl.min(tl.where(inside & (goes_on == 0), row, end)))
    there = begin < end
    tl.store(accepted + sequence, tl.where(there, first - begin, 0))
    tl.store(next_tokens + sequence, tl.load(tokens + first, mask=there, other=0))
    tl.store(next_status + sequence, tl.load(status + first, mask=there, other=2))


def verify(sampled: Sampled, given: Tensor, starts: Tensor) -> Verified:
    """See `contracts.Kernels.verify`; one launch."""
    sequences = starts.shape[0] - 1
    accepted = sampled.tokens.new_empty(sequences, dtype=torch.int32)
    tokens, status = sampled.tokens.new_empty(sequences), sampled.tokens.new_empty(sequences)
    _verify[(sequences,)](
        sampled.tokens,
        sampled.status,
        given,
        starts,
        accepted,
        tokens,
        status,
        BLOCK=BLOCK,
        num_warps=1,
    )
    return Verified(accepted, tokens, status)
