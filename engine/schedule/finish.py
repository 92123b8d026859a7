"""When a sequence is done.

Does: say it for one token. Does not: match stop strings (`text`), or know of aborts and deadlines.
"""

from ..sequence import Sequence
from ..types import Finish


def finish_after(seq: Sequence, token: int, end_tokens: frozenset[int]) -> Finish | None:
    """Why `seq` ends with `token`, its last; None if it goes on.

    Under a grammar an end token is the end of the output, so `ignore_eos` means nothing there. An end counts before a
    limit: an output whose end token is the last that `max_tokens` allows is whole.
    """
    sampling = seq.request.sampling
    if token in end_tokens and not (sampling.ignore_eos and seq.request.constraint is None):
        return Finish.STOP
    if token in sampling.stop_token_ids:
        return Finish.STOP
    return Finish.LENGTH if len(seq.tokens) > seq.most_computed else None
