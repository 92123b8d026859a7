"""The inline assembly of sums of rows, executed on the host, against plain sums.

The interpreter runs no assembly, so the products in `test_codes_gemv` do without it.
"""

import numpy as np
import pytest
from intaglio.kernels.quantised import row_sums

from tests.support.warp import THREADS, executed


@pytest.mark.parametrize("count", [2, 4, 8, 16])
def test_threads_exchange_rows_for_sums(count: int) -> None:
    """Each thread is left with a part of the sum of one row, in the order of threads."""
    numbers = np.random.default_rng(count).integers(-99, 99, (count, THREADS)).astype(np.float32)
    kept = list(numbers)
    for name in ("EXCHANGE_16", "EXCHANGE_8", "EXCHANGE_4", "EXCHANGE_2"):
        if len(kept) > 1:
            half = len(kept) // 2
            pairs = zip(kept[:half], kept[half:], strict=True)
            assembly = getattr(row_sums, name)
            text = str(getattr(assembly, "value", assembly))
            kept = [executed(text, {1: a, 2: b})[0].view(np.float32) for a, b in pairs]
    parts = kept[0].reshape(count, THREADS // count)
    assert (parts.sum(1) == numbers.sum(1)).all()
