"""Rows at temperature 0: the lowest token among the largest logits, as `pick_tile` finds it.

Does: remember for each octet the step that had its largest logit first, and read that one again. Does not: weigh, draw.
"""

import triton
import triton.language as tl

from .pick_kept import legal_only
from .pick_load import (
    appended,
    edited_rows,
    existing,
    fetch,
    fetch_masks,
    last_octets,
    octet_of,
    octets_of,
    place_of,
)
from .pick_row import better
from .pick_weights import LOWEST, OCTETS


@triton.jit
def outdo(values: tl.tensor, choices: tl.tensor, top: tl.tensor, first: tl.tensor) -> tl.tensor:
    """The largest logit so far of each octet, and the first step that had it, after one more tile; of the first try."""
    higher_now = top > values[0]
    new_values = (tl.where(higher_now, top, values[0]),)
    new_choices = (tl.where(higher_now, first, choices[0]),)
    for i in tl.static_range(1, len(values)):
        new_values, new_choices = appended(new_values, values[i]), appended(new_choices, choices[i])
    return new_values, new_choices


@triton.jit
def replaced(choices: tl.tensor, token: tl.tensor) -> tl.tensor:
    """The same token in every octet, as the choice of the first try."""
    new_choices = (choices[0] * 0 + token,)
    for i in tl.static_range(1, len(choices)):
        new_choices = appended(new_choices, choices[i])
    return new_choices


@triton.jit
def first_best(
    scores: tl.tensor,
    logits: tl.tensor,
    mask: tl.tensor,
    mask_row: tl.tensor,
    edited: tl.tensor,
    edit: tl.tensor,
    best: tl.tensor,
    row: tl.tensor,
    rows: tl.constexpr,
    paired: tl.constexpr,
    masked: tl.constexpr,
) -> tl.tensor:
    """The lowest token among the program's largest logits, found by reading once more the step that had one first.

    `best`, `row`: for each octet its largest logit, and the first row of the step, of `rows` rows, that had it first.
    """
    vocab = scores[3]
    high, first = tl.reduce((best, row), 0, better)
    token = tl.full((), 0x7FFFFFFF, tl.int32)
    if high != LOWEST:
        nil = tl.zeros((OCTETS,), tl.int32)
        here = first + nil
        words = fetch_masks(mask, mask_row, here, rows, masked)
        # Not only what is legal: the two loads need not wait for one another.
        raw = fetch(logits, scores[2], here, nil, rows, paired, massing=True)
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
