"""Reference implementation of `Kernels.verify` in plain torch."""

import torch
from torch import Tensor

from ..sampling_contracts import NOTHING_LEGAL, OK, Sampled
from ..verified import Verified


def verify(sampled: Sampled, given: Tensor, starts: Tensor) -> Verified:
    """For each sequence, the longest prefix of its drafts that matches the sampled tokens, and the next token."""
    rows, sequences = sampled.tokens.shape[0], starts.shape[0] - 1
    row = torch.arange(rows, device=given.device)
    owner = torch.bucketize(row, starts[1:], right=True)
    owned = (row >= starts[0]) & (owner < sequences)
    ends = starts[1:].gather(0, owner.clamp(max=sequences - 1))
    drafts = torch.cat((given[1:], given[:1]))
    stops = owned & ((row == ends - 1) | (sampled.status != OK) | (sampled.tokens != drafts))
    first = torch.full((sequences,), rows, device=given.device)
    first.scatter_reduce_(0, owner[stops], row[stops], "amin")
    empty = starts[1:] == starts[:-1]
    place = first.masked_fill(empty, 0)
    return Verified(
        (first - starts[:-1]).masked_fill(empty, 0).int(),
        sampled.tokens[place].masked_fill(empty, 0),
        sampled.status[place].masked_fill(empty, NOTHING_LEGAL),
    )
