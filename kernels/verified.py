"""The verdict on drafts, as a message.

Does: define it. Does not: compare (`drafts`).
"""

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True, slots=True)
class Verified:
    """The accepted drafts of S sequences, and the token after them.

    `accepted` [S] int32: the number of leading drafts that equal the tokens sampled at their places. `tokens` [S]
    int64: the token sampled next, in place of the first draft that differs, or after the last draft. `status` [S]
    int64: the status of that token's row (see `Sampled`); any status but `OK` ends the accepted drafts and leaves the
    token undefined. A sequence without rows has 0, 0, `NOTHING_LEGAL`.
    """

    accepted: Tensor
    tokens: Tensor
    status: Tensor
