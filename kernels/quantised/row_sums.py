"""The sums of some rows over all threads of a program, inside the kernels: device functions.

Does: add up by exchanges between threads, each of which halves the rows that a thread holds. Does not: add tensors of
other sizes than a number a thread (`runtime.tuples.sums_of_rows`).

A sum of each row by itself takes five exchanges a row. If two threads exchange one row for another, the first has both
halves of one and the second those of the other: 16 rows take 16 exchanges instead of 80.
"""

import triton
import triton.language as tl

from ..runtime.tuples import Tensors, appended, sums_of_rows


def _exchange(bit: int) -> str:
    """$1 of both threads that differ in `bit` to the first of them, $2 to the second, added to what they have."""
    return (
        "{ .reg .b32 l; .reg .f32 k, s, r; .reg .pred p; "
        f"mov.u32 l, %laneid; and.b32 l, l, {bit}; setp.ne.u32 p, l, 0; "
        "selp.f32 k, $2, $1, p; selp.f32 s, $1, $2, p; "
        f"shfl.sync.bfly.b32 r, s, {bit}, 31, 0xFFFFFFFF; add.rn.f32 $0, k, r; }}"
    )


EXCHANGE_16, EXCHANGE_8, EXCHANGE_4, EXCHANGE_2 = (
    tl.constexpr(_exchange(1 << bit)) for bit in (4, 3, 2, 1)
)


@triton.jit
def _halved(rows: Tensors, EXCHANGE: tl.constexpr) -> Tensors:
    """The first half of the rows in threads without the bit of EXCHANGE, the second half in the others."""
    HALF: tl.constexpr = len(rows) // 2
    found = ()
    for i in tl.static_range(HALF):
        row = tl.inline_asm_elementwise(
            EXCHANGE, "=f,f,f", [rows[i], rows[HALF + i]], dtype=tl.float32, is_pure=False, pack=1
        )
        found = appended(found, row)
    return found


@triton.jit
def row_sums(rows: Tensors, FAST: tl.constexpr) -> tl.tensor:
    """The sum of each of some tensors [32 * warps] float32, a power of 2 up to 16, as one. FAST: compiled code."""
    COUNT: tl.constexpr = len(rows)
    if FAST and COUNT > 1:
        THREADS: tl.constexpr = rows[0].shape[0]
        kept = _halved(rows, EXCHANGE_16)
        if COUNT > 2:
            kept = _halved(kept, EXCHANGE_8)
        if COUNT > 4:
            kept = _halved(kept, EXCHANGE_4)
        if COUNT > 8:
            kept = _halved(kept, EXCHANGE_2)
        tl.static_assert(len(kept) == 1)
        # A warp's threads are in the order of the rows that they hold.
        parts = tl.reshape(kept[0], (THREADS // 32, COUNT, 32 // COUNT))
        total = tl.sum(tl.sum(parts, 2), 0)
    else:
        total = sums_of_rows(rows)
    return total
