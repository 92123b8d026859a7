"""Greedy sampling (temperature 0) within the pass of `logits_pass`: the largest logit, ties broken by the lowest token.

Does: keep, for each octet, the first step with its largest logit, and read that step again at the end. Does not:
compute weights, draw.
"""

import triton
import triton.language as tl

from ..runtime.tuples import Tensors, appended
from .load import (
    edited_rows,
    existing,
    fetch,
    fetch_masks,
    last_octets,
    octet_of,
    octets_of,
    place_of,
)
from .pack import legal_only
from .reduce_row import better
from .sample_records import Leaders, MaskWords, Scores
from .token_weights import LOWEST, OCTETS


@triton.jit
def outdo(leaders: Leaders, top: tl.tensor, first: tl.tensor) -> Leaders:
    """Update, by one more tile, the largest logit of each octet and the first step that contained it.

    At temperature 0 only the first candidate is used; the others are unchanged.
    """
    higher_now = top > leaders.best[0]
    values = (tl.where(higher_now, top, leaders.best[0]),)
    choices = (tl.where(higher_now, first, leaders.choices[0]),)
    for i in tl.static_range(1, len(leaders.best)):
        values = appended(values, leaders.best[i])
        choices = appended(choices, leaders.choices[i])
    return Leaders(values, choices)


@triton.jit
def replaced(choices: Tensors, token: tl.tensor) -> Tensors:
    """The choices with the same token in every octet for the first candidate."""
    new_choices = (choices[0] * 0 + token,)
    for i in tl.static_range(1, len(choices)):
        new_choices = appended(new_choices, choices[i])
    return new_choices


@triton.jit
def first_best(
    scores: Scores,
    logits: tl.tensor,
    mask: MaskWords,
    mask_row: tl.tensor,
    edited: tl.tensor,
    edit: tl.tensor,
    best: tl.tensor,
    row: tl.tensor,
    rows: tl.constexpr,
    paired: tl.constexpr,
    masked: tl.constexpr,
) -> tl.tensor:
    """The lowest token among the program's largest logits, an int32 scalar.

    Reads the step again that had one first. `best`, `row` [WIDE]: for each octet its largest logit, and the first row
    of the step, of `rows` rows, that had it first.
    """
    vocab = scores.vocab
    high, first = tl.reduce((best, row), 0, better)
    token = tl.full((), 0x7FFFFFFF, tl.int32)
    if high != LOWEST:
        nil = tl.zeros((OCTETS,), tl.int32)
        here = first + nil
        words = fetch_masks(mask, mask_row, here, rows, masked)
        # Illegal logits are loaded as well, so that the two loads need not wait for each other.
        raw = fetch(logits, scores.stored, here, nil, rows, paired, ignore_masks=True)
        octets = octets_of(words, 0, nil, mask_row, rows, masked)
        legal = existing(octets, last_octets(vocab, octet_of(here), rows), vocab, here, rows)
        own = legal_only(raw, logits, legal, paired)
        if edit:
            own = edited_rows(own, edited, edit, here, paired)
        tokens = tl.where(own[0] == high, place_of(here, 0, paired), token)
        for i in tl.static_range(1, len(own)):
            at = place_of(here + i // 2, i % 2, paired)
            tokens = tl.minimum(tokens, tl.where(own[i] == high, at, token))
        token = tl.min(tokens)
    return token
