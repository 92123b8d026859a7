"""Merge of split-KV attention: partial results are stored and counted, and the last program to finish merges them.

Does: weigh parts by their log-sum-exps (Dao et al. 2023, "Flash-Decoding"). Does not: know how contexts are cut.
"""

import triton
import triton.language as tl

MERGED = 4096
"""Most numbers that a warp holds in a merge: 128 a thread."""


def members_merged(splits: int, dim: int, group: int, warps: int) -> int:
    """The number of rows that a program of `warps` warps merges at a time; their parts fit into registers."""
    room = warps * MERGED // int(triton.next_power_of_2(splits * dim))
    return max(1, min(room, int(triton.next_power_of_2(group))))


@triton.jit
def row_of(
    member: tl.tensor, GROUP: tl.constexpr, HEADS: tl.constexpr, DIM: tl.constexpr
) -> tl.tensor:
    """Offsets of a product's rows in the output, relative to the first head of the first token; a token has `GROUP`
    heads."""
    return member // GROUP * (HEADS * DIM) + member % GROUP * DIM


@triton.jit
def _merge(
    partial_ptr: tl.tensor,
    lse_ptr: tl.tensor,
    pair: tl.tensor,
    rows: tl.tensor,
    parts: tl.tensor,
    out_ptr: tl.tensor,
    GROUP: tl.constexpr,
    ROWS: tl.constexpr,
    HEADS: tl.constexpr,
    DIM: tl.constexpr,
    BLOCK_DIM: tl.constexpr,
    SPLITS: tl.constexpr,
    MEMBERS: tl.constexpr,
) -> None:
    """Merge `parts` partial results of `rows` rows of a (sequence, key head), weighed by their log-sum-exps."""
    dim = tl.arange(0, BLOCK_DIM)
    every = tl.arange(0, SPLITS)
    for start in range(0, rows, MEMBERS):
        some = start + tl.arange(0, MEMBERS)
        at = (pair * SPLITS + every)[:, None] * ROWS + some[None, :]
        real = (every < parts)[:, None] & (some < rows)[None, :]
        lse = tl.load(lse_ptr + at, mask=real, other=-1e30, cache_modifier=".cg")
        whole = real[:, :, None] & (dim < DIM)[None, None, :]
        part_at = partial_ptr + at[:, :, None] * DIM + dim[None, None, :]
        part = tl.load(part_at, mask=whole, other=0.0, cache_modifier=".cg")
        share = tl.exp2(lse - tl.max(lse, 0)[None, :])
        share = share / tl.sum(share, 0)[None, :]
        merged = tl.sum(part * share[:, :, None], 0)
        out_at = out_ptr + row_of(some, GROUP, HEADS, DIM)[:, None] + dim[None, :]
        used = (some < rows)[:, None] & (dim < DIM)[None, :]
        tl.store(out_at, merged.to(out_ptr.dtype.element_ty), mask=used)


@triton.jit
def finish(
    most: tl.tensor,
    total: tl.tensor,
    acc: tl.tensor,
    rows: tl.tensor,
    parts: tl.tensor,
    pair: tl.tensor,
    out_ptr: tl.tensor,
    partial_ptr: tl.tensor,
    lse_ptr: tl.tensor,
    arrived_ptr: tl.tensor,
    GROUP: tl.constexpr,
    ROWS: tl.constexpr,
    HEADS: tl.constexpr,
    DIM: tl.constexpr,
    BLOCK_DIM: tl.constexpr,
    SPLITS: tl.constexpr,
    MEMBERS: tl.constexpr,
) -> None:
    """Write the result of an unsplit context; of a split one, store this part, and merge all parts if it is the last to
    finish.

    Only the first `rows` rows of the product are valid; `out_ptr` points to the first. A row without keys in this part
    has `total` 0 and weight 0.
    """
    member = tl.arange(0, ROWS)
    dim = tl.arange(0, BLOCK_DIM)
    used = (member < rows)[:, None] & (dim < DIM)[None, :]
    total = tl.where(total > 0, total, 1.0)
    own = acc / total[:, None]
    if parts == 1:
        at = out_ptr + row_of(member, GROUP, HEADS, DIM)[:, None] + dim[None, :]
        tl.store(at, own.to(out_ptr.dtype.element_ty), mask=used)
    elif SPLITS > 1:
        first = (pair * SPLITS + tl.program_id(1)) * ROWS + member
        tl.store(partial_ptr + first[:, None] * DIM + dim[None, :], own, mask=used)
        tl.store(lse_ptr + first, most + tl.log2(total), mask=member < rows)
        tl.debug_barrier()
        if tl.atomic_add(arrived_ptr + pair, 1, sem="acq_rel") == parts - 1:
            tl.debug_barrier()
            _merge(
                partial_ptr, lse_ptr, pair, rows, parts, out_ptr,
                GROUP, ROWS, HEADS, DIM, BLOCK_DIM, SPLITS, MEMBERS,
            )  # fmt: skip
            tl.store(arrived_ptr + pair, 0)
