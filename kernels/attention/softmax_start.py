"""The state of a running softmax before its first key; with attention sinks, after the sink.

Does: begin maxima, sums and weighted values. Does not: add keys (`split_kv.fold`), or know sequences.

A sink (Xiao et al. 2023; learnt for each head in gpt-oss) is one more score of a softmax, that of a key with a value of
zero. If a context is split, the program of one part counts it.
"""

import triton
import triton.language as tl

from ..runtime.tuples import Three

LOG2_E = tl.constexpr(1.4426950408889634)


@triton.jit
def begun(
    sinks_ptr: tl.tensor,
    head: tl.tensor,
    counted: tl.tensor,
    ROWS: tl.constexpr,
    BLOCK_DIM: tl.constexpr,
) -> Three:
    """The state of ROWS rows: (maxima, sums, weighted values [ROWS, BLOCK_DIM]).

    `head` [ROWS] is each row's query head. `sinks_ptr` points to the sinks of the heads, None for models without; they
    are counted if `counted`, None for always. Scores are in powers of two.
    """
    most = tl.full((ROWS,), float("-inf"), tl.float32)
    total = tl.zeros((ROWS,), tl.float32)
    if sinks_ptr is not None:
        sink = tl.load(sinks_ptr + head) * LOG2_E
        most = sink if counted is None else tl.where(counted, sink, most)
        total = total + 1.0 if counted is None else tl.where(counted, total + 1.0, total)
    return most, total, tl.zeros((ROWS, BLOCK_DIM), tl.float32)
