"""The other Triton kernels, interpreted, against the float32 reference: norms, gates, linears, rotation, copies."""

from collections.abc import Callable

import pytest
import torch
from intaglio.kernels import reference
from intaglio.kernels.attention.rope_and_store import rope_and_store
from intaglio.kernels.contracts import (
    Activation,
    AddTo,
    Epilogue,
    Gate,
    Logits,
    Places,
    QKNorm,
    RmsNorm,
)
from intaglio.kernels.linear.epilogue import ADDED, GATED, NOTHING, After
from intaglio.kernels.linear.gemv import GemvShape, gemv
from intaglio.kernels.linear.linear import DenseWeight, most_rows
from intaglio.kernels.linear.rms_norm import rms_norm
from intaglio.kernels.linear.silu_gate import gate
from intaglio.kernels.linear.skinny import MOST_OF_TILE, MOST_ROWS, SkinnyShape, row_tiles, skinny

pytestmark = pytest.mark.skipif(torch.cuda.is_available(), reason="tests/gpu runs them there")


def randn(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


AFTER = [NOTHING, ADDED, *GATED.values()]


def width(after: After, outputs: int) -> int:
    """Outputs that are left after a product."""
    return outputs if after.activation is None else outputs // 2


def expected(
    x: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None,
    onto: torch.Tensor,
    *,
    norm: RmsNorm | None = None,
    after: After = NOTHING,
) -> torch.Tensor:
    """The meaning of the options of `gemv` and `skinny`, by the reference kernels."""
    epilogue: Epilogue | None = None
    if after.activation is not None:
        epilogue = Gate(after.activation)
    elif after.added:
        epilogue = AddTo(onto.clone())
    return reference.ReferenceWeight(weight, bias).matmul(x, norm, epilogue)


@pytest.mark.parametrize("normed", [False, True])
@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize("after", AFTER)
@pytest.mark.parametrize(("outputs", "inputs"), [(2, 16), (34, 96), (12, 130)])
def test_gemv_of_every_kind(
    after: After, normed: bool, biased: bool, outputs: int, inputs: int
) -> None:
    x, weight = randn(1, inputs), randn(outputs, inputs, seed=1)
    bias = randn(outputs, seed=2) if biased else None
    norm = RmsNorm(randn(inputs, seed=3), 1e-5) if normed else None
    out = randn(1, width(after, outputs), seed=4)
    right = expected(x, weight, bias, out, norm=norm, after=after)
    gemv(x, weight, bias, out, norm=norm, after=after, shape=GemvShape(4, 32, 1))
    torch.testing.assert_close(out, right, atol=2e-4, rtol=1e-4)


@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize("after", AFTER)
@pytest.mark.parametrize(
    ("rows", "outputs", "inputs", "splits"),
    [
        *[(2, 34, 64, 1), (17, 66, 130, 3), (5, 32, 96, 2)],
        *[(65, 34, 64, 1), (72, 66, 130, 3), (80, 32, 96, 2)],
        *[(73, 34, 64, 2), (79, 66, 130, 3), (80, 32, 96, 1)],
    ],
)
def test_skinny_of_every_kind(
    after: After, biased: bool, rows: int, outputs: int, inputs: int, splits: int
) -> None:
    x, weight = randn(rows, inputs), randn(outputs, inputs, seed=1)
    bias = randn(outputs, seed=2) if biased else None
    out = randn(rows, width(after, outputs), seed=4)
    counters = torch.zeros(8, dtype=torch.int32)
    right = expected(x, weight, bias, out, after=after)
    shape = SkinnyShape(
        row_tiles(rows), block_out=16, block_in=16, splits=splits, stages=2, warps=1
    )
    skinny(x, weight, bias, out, counters, after=after, shape=shape)
    torch.testing.assert_close(out, right, atol=2e-4, rtol=1e-4)
    assert not counters.any()


def test_rows_beyond_a_tile_have_a_small_one() -> None:
    tiles = {
        1: (16,),
        17: (32,),
        33: (64,),
        64: (64,),
        65: (64, 16),
        80: (64, 16),
        81: (64, 32),
        96: (64, 32),
    }
    assert {rows: row_tiles(rows) for rows in tiles} == tiles
    assert sum(row_tiles(MOST_ROWS)) == MOST_ROWS


def test_of_large_matrices_a_tile_of_rows_at_most_is_not_left_to_the_library() -> None:
    assert most_rows(3072, 1024) == MOST_ROWS
    assert most_rows(4096, 4096) == MOST_OF_TILE


@pytest.mark.parametrize("normed", [False, True])
@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize("rows", [1, 3, 80, 81])
def test_every_epilogue_follows_every_product(rows: int, biased: bool, normed: bool) -> None:
    """One row, several, and more than the kernels serve: those a kernel fuses and those that are launches."""
    outputs, inputs = 34, 48
    x, weight = randn(rows, inputs), randn(outputs, inputs, seed=1) / 4
    bias = randn(outputs, seed=2) if biased else None
    norm = RmsNorm(randn(inputs, seed=3), 1e-5) if normed else None
    post_norm = RmsNorm(randn(outputs, seed=4), 1e-5)
    dense = DenseWeight(weight, bias, torch.zeros(8, dtype=torch.int32))
    right = reference.ReferenceWeight(weight, bias)
    residual = randn(rows, outputs, seed=5)
    epilogues: list[Callable[[torch.Tensor], Epilogue | None]] = [
        lambda onto: None,
        lambda onto: Gate(Activation.SILU),
        lambda onto: Gate(Activation.GELU_TANH),
        lambda onto: AddTo(onto),
        lambda onto: AddTo(onto, post_norm),
        lambda onto: Logits(None, 2.0),
    ]
    for epilogue in epilogues:
        onto, theirs = residual.clone(), residual.clone()
        got = dense.matmul(x, norm, epilogue(onto))
        expected = right.matmul(x, norm, epilogue(theirs))
        torch.testing.assert_close(got, expected, atol=2e-4, rtol=1e-4)
        torch.testing.assert_close(onto, theirs, atol=2e-4, rtol=1e-4)


@pytest.mark.parametrize("width", [1, 31, 33, 96, 1024])
def test_norm(width: int) -> None:
    x, norm = randn(3, width), RmsNorm(randn(width, seed=1), 1e-6)
    right = reference.rms_norm(x, norm.weight, norm.eps)
    torch.testing.assert_close(rms_norm(x, norm), right, atol=1e-5, rtol=1e-5)
    wide = torch.cat((x, x), dim=1)[:, :width]
    torch.testing.assert_close(rms_norm(wide, norm), right, atol=1e-5, rtol=1e-5)
    onto = randn(3, width, seed=2)
    total = onto + right
    assert rms_norm(wide, norm, onto=onto) is onto
    torch.testing.assert_close(onto, total, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("activation", list(Activation))
@pytest.mark.parametrize("width", [1, 33, 1025])
def test_gate(width: int, activation: Activation) -> None:
    x = randn(2, 2 * width) * 4
    right = reference.gate(x, activation)
    torch.testing.assert_close(gate(x, activation), right, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("normed", [False, True])
@pytest.mark.parametrize(
    ("heads", "kv_heads", "dim"), [(1, 1, 16), (5, 1, 80), (6, 3, 64), (4, 2, 96)]
)
def test_rotation_norm_and_store(heads: int, kv_heads: int, dim: int, normed: bool) -> None:
    rows, block = 5, 4
    fused = randn(rows, heads + 2 * kv_heads, dim)
    angles = randn(50, dim // 2, seed=1)
    cos, sin = angles.cos(), angles.sin()
    positions = torch.tensor([3, 0, 49, 7, 1])
    for slots in (torch.tensor([5, -1, 12, 11]), torch.tensor([4, 5, 6, 7, 13], dtype=torch.int32)):
        places = Places(
            torch.cat((cos, cos), -1),
            torch.cat((-sin, sin), -1),
            positions.to(slots.dtype),
            slots,
        )
        norms = QKNorm(randn(dim, seed=2), randn(dim, seed=3), 1e-6) if normed else None
        caches = [torch.full((2, 4, block, kv_heads, dim), 7.0) for _ in range(2)]
        right = reference.rope_and_store(fused.clone(), places, norms, caches[0])
        got = rope_and_store(fused.clone(), places, norms, caches[1])
        torch.testing.assert_close(got, right, atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(caches[1], caches[0], atol=1e-5, rtol=1e-5)


def test_what_is_stored_in_one_byte_is_never_nan() -> None:
    """Of numbers that the type has and some that are too large: the interpreter rounds others wrongly at times."""
    dim, kv_heads = 16, 2
    fused = (randn(3, 3 + 2 * kv_heads, dim) * 100).to(torch.float8_e4m3fn).float()
    fused[:, :, 3] = 1000
    turns = torch.ones(4, dim), torch.zeros(4, dim)
    places = Places(*turns, torch.arange(3), torch.tensor([4, 2, 7]))
    kept = torch.zeros((2, 2, 4, kv_heads, dim), dtype=torch.float8_e4m3fn)
    rope_and_store(fused.clone(), places, None, kept)
    rows = kept.float().view(2, 8, kv_heads, dim)[:, places.slots]
    right = fused[:, 3:].view(3, 2, kv_heads, dim).transpose(0, 1).clamp(-448, 448)
    assert right.abs().max() == 448
    assert torch.equal(rows, right)
