"""Masks within a text that is copied from few places of a document, each made in one compiled call.

Does: write such a mask from the position of a cursor. Does not: keep masks, as making one takes about as long as
unpacking one that was kept; make them where the document has many such places, or where texts are compared
(`compute_masks`).
"""

from typing import Final

import numpy as np

from ..base.array_types import Words
from ..contract.work import ROW, spend
from ..jit.kernel import machine_code_of
from ..machine.byte_step import SITE
from ..machine.copied_texts import copied_place
from ..machine.cursor import Cursor, addresses_of
from .compute_masks import TokenIndex
from .copied_row import fill_copied
from .row_cache import NO_WORDS, Row

_FEW: Final = 64  # places: the loop holds the interpreter lock
_NOTHING_LEFT: Final = Row(
    None, None, NO_WORDS, undecided=np.empty(0, np.int32), may_end=False, checks=None
)


def fill_few(cursor: Cursor, index: TokenIndex, mask: Words) -> Row | None:
    """Overwrite `mask` within a copied text; None if that was not done.

    The row returned says what is left to do for this mask: nothing. It has no words.
    """
    copied = copied_place(cursor.machine.name(cursor.state))
    if copied is None or copied.high - copied.low > _FEW or not mask.flags.c_contiguous:
        return None
    texts, low, high, length, begun, skipped, least, close, outcome = copied
    number = cursor.machine.number(cursor.frames.item(cursor.depth - 1, SITE), outcome)
    scratch = index.acquire()
    try:
        found = machine_code_of(fill_copied)(
            addresses_of(cursor),
            scratch.addresses,
            texts.addresses,
            (low, high, length, begun, skipped, least, close, number),
            cursor.depth,
            len(cursor.output),
            mask,
        )
    finally:
        index.release(scratch)
    if found < 0:
        return None
    spend(ROW + (found >> 3))
    return _NOTHING_LEFT
