"""The end of a context that was cut into parts: results are left, counted, and merged by whoever comes last.

Does: weigh parts by their log-sum-exps (Dao et al. 2023, "Flash-Decoding"). Does not: know how contexts are cut.
"""

import triton
import triton.language as tl


@triton.jit
def _merge(
    partial_ptr: tl.tensor,
    lse_ptr: tl.tensor,
    pair: tl.tensor,
    parts: tl.tensor,
    out_ptr: tl.tensor,
    GROUP: tl.constexpr,
    DIM: tl.constexpr,
    BLOCK_DIM: tl.constexpr,
    SPLITS: tl.constexpr,
    MEMBERS: tl.constexpr,
) -> None:
    """Weigh `parts` partial results of a (sequence, key head) by their log-sum-exps; `out_ptr` is its first head's."""
    dim = tl.arange(0, BLOCK_DIM)
    every = tl.arange(0, SPLITS)
    for start in range(0, GROUP, MEMBERS):
        some = start + tl.arange(0, MEMBERS)
        rows = (pair * SPLITS + every)[:, None] * GROUP + some[None, :]
        real = (every < parts)[:, None] & (some < GROUP)[None, :]
        at = partial_ptr + rows[:, :, None] * DIM + dim[None, None, :]
        whole = real[:, :, None] & (dim < DIM)[None, None, :]
        part = tl.load(at, mask=whole, other=0.0, cache_modifier=".cg")
        lse = tl.load(lse_ptr + rows, mask=real, other=-1e30, cache_modifier=".cg")
        share = tl.exp2(lse - tl.max(lse, 0)[None, :])
        share = share / tl.sum(share, 0)[None, :]
        merged = tl.sum(part * share[:, :, None], 0)
        out_at = out_ptr + some[:, None] * DIM + dim[None, :]
        used = (some < GROUP)[:, None] & (dim < DIM)[None, :]
        tl.store(out_at, merged.to(out_ptr.dtype.element_ty), mask=used)


@triton.jit
def finish(
    most: tl.tensor,
    total: tl.tensor,
    acc: tl.tensor,
    used: tl.tensor,
    parts: tl.tensor,
    pair: tl.tensor,
    out_ptr: tl.tensor,
    partial_ptr: tl.tensor,
    lse_ptr: tl.tensor,
    arrived_ptr: tl.tensor,
    GROUP: tl.constexpr,
    GROUP_ROWS: tl.constexpr,
    DIM: tl.constexpr,
    BLOCK_DIM: tl.constexpr,
    SPLITS: tl.constexpr,
    MEMBERS: tl.constexpr,
) -> None:
    """Write the result of a lone part; of several, leave this one's, and merge them all if it is the last to come."""
    member = tl.arange(0, GROUP_ROWS)
    at = member[:, None] * DIM + tl.arange(0, BLOCK_DIM)[None, :]
    own = acc / total[:, None]
    if parts == 1:
        tl.store(out_ptr + at, own.to(out_ptr.dtype.element_ty), mask=used)
    elif SPLITS > 1:
        first = (pair * SPLITS + tl.program_id(1)) * GROUP
        tl.store(partial_ptr + first * DIM + at, own, mask=used)
        tl.store(lse_ptr + first + member, most + tl.log2(total), mask=member < GROUP)
        tl.debug_barrier()
        if tl.atomic_add(arrived_ptr + pair, 1, sem="acq_rel") == parts - 1:
            tl.debug_barrier()
            _merge(
                partial_ptr, lse_ptr, pair, parts, out_ptr, GROUP, DIM, BLOCK_DIM, SPLITS, MEMBERS
            )
            tl.store(arrived_ptr + pair, 0)
