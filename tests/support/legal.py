"""Random masks for output heads and sampling, and the tokens they allow by the reference."""

import torch
from intaglio.kernels.contracts import WORD_BITS
from intaglio.kernels.sample.reference_logits import allowed
from intaglio.kernels.sampling_contracts import Legal


def random_legal(rows: int, width: int, share: float, *, seed: int, free: bool = False) -> Legal:
    """Masks for `width` tokens, a third more than rows, each row's its own choice; with `free`, the last row has none.

    Of each mask `share` of the tokens are allowed, in runs of 8 at most.
    """
    dice = torch.Generator().manual_seed(seed)
    count, words = rows + 1 + rows // 3, -(-width // WORD_BITS)
    runs = torch.rand((count, words * 4), generator=dice) < 2 * share
    bits = torch.rand((count, words * 4, 8), generator=dice) < 0.5
    allowed = (runs[:, :, None] & bits).view(count, words, WORD_BITS).to(torch.int64)
    masks = (allowed << torch.arange(WORD_BITS)).sum(-1)
    masks[:, -1] &= (1 << (width - (words - 1) * WORD_BITS)) - 1
    masks = torch.where(masks >= 1 << 31, masks - (1 << 32), masks).to(torch.int32)
    which = torch.randint(0, count, (rows,), generator=dice).to(torch.int32)
    if free:
        which[-1] = -1
    return Legal(masks, which)


def legal_tokens(legal: Legal, outputs: int) -> torch.Tensor:
    """bool [rows, outputs]: what is legal for each row."""
    return allowed(legal.masks, legal.rows, outputs)
