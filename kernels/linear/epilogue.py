"""Device functions and epilogue options that the matrix-product kernels share.

Does: load a tile of weights, with zeros for inputs past the end and for unneeded rows; compute activations; describe
the fused part of an epilogue. Does not: multiply.
"""

from typing import NamedTuple

import triton
import triton.language as tl

from ..contracts import Activation


class After(NamedTuple):
    """The part of an epilogue that a kernel fuses: a gate, or (`added`) an addition to the contents of the output."""

    activation: Activation | None = None
    added: bool = False

    @property
    def name(self) -> str | None:
        """The activation's name for `activated`."""
        return None if self.activation is None else self.activation.value


NOTHING = After()
ADDED = After(added=True)
GATED = {activation: After(activation) for activation in Activation}


@triton.jit
def activated(x: tl.tensor, ACTIVATION: tl.constexpr) -> tl.tensor:
    """The activation of float32 `x`; ACTIVATION is the value of a `contracts.Activation`."""
    tl.static_assert(ACTIVATION == "silu" or ACTIVATION == "gelu_tanh")
    z = x
    if ACTIVATION == "gelu_tanh":
        # 1.5957... is twice the square root of 2 / pi: 1 + tanh(z) = 2 * sigmoid(2 * z). Below -80 a sigmoid is 0.
        z = tl.maximum(1.5957691216057308 * x * (1 + 0.044715 * x * x), -80.0)
    return x * tl.sigmoid(z)


@triton.jit
def load_tile(
    at: tl.tensor,
    wanted: tl.tensor,
    k: tl.tensor,
    INPUTS: tl.constexpr,
    BLOCK_IN: tl.constexpr,
) -> tl.tensor:
    """Inputs `k` [BLOCK_IN] of the rows at `at` [rows, BLOCK_IN]; zeros past the end.

    `wanted` [rows]: the rows to load, the others are zeros; None: all rows.
    """
    there = None
    if INPUTS % BLOCK_IN != 0:
        there = (k < INPUTS)[None, :]
    if wanted is not None:
        there = wanted[:, None] if there is None else there & wanted[:, None]
    return tl.load(at) if there is None else tl.load(at, mask=there, other=0.0)
