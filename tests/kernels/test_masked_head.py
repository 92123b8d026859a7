"""The head with few legal tokens, interpreted: legal logits as ever, to the last bit; nothing else is written."""

import math
from collections.abc import Iterator

import pytest
import torch
from intaglio.kernels import reference
from intaglio.kernels.contracts import Logits, RmsNorm
from intaglio.kernels.linear.gemv import GemvShape, gemv
from intaglio.kernels.linear.linear import DenseWeight
from intaglio.kernels.linear.masked_head import MOST_MASKED_ROWS, HeadShape, legal_row, legal_words
from intaglio.kernels.linear.rms_norm import rms_norm
from intaglio.kernels.linear.skinny import SkinnyShape, row_tiles, skinny
from intaglio.kernels.reference_kernels import ReferenceKernels
from intaglio.kernels.sampling_contracts import Legal, SampleArgs

from tests.support.legal import legal_tokens, random_legal

pytestmark = pytest.mark.skipif(torch.cuda.is_available(), reason="tests/gpu runs them there")

UNTOUCHED = 77.0
SHARES = (0.0, 0.02, 0.3)


def randn(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


@pytest.fixture
def poisoned() -> Iterator[None]:
    """What torch does not fill is NaN."""
    torch.use_deterministic_algorithms(mode=True)
    yield
    torch.use_deterministic_algorithms(mode=False)


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize(
    ("rows", "width", "outputs"),
    [(1, 1, 1), (2, 31, 31), (3, 33, 33), (5, 64, 100), (7, 1100, 1070), (64, 40, 40)],
)
def test_words_of_all_rows_together(
    rows: int, width: int, outputs: int, share: float, free: bool
) -> None:
    """Of masks as wide as the head, narrower and wider."""
    legal = random_legal(rows, width, share, seed=rows, free=free)
    for each in (legal, Legal(legal.masks[:rows], None)):
        words = legal_words(each, rows, outputs)
        together = legal_tokens(each, outputs).any(0)
        got = legal_tokens(Legal(words[None], None), outputs)[0]
        assert torch.equal(got, together)


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize(("span", "biased"), [(4, False), (32, True)])
@pytest.mark.parametrize(("outputs", "inputs"), [(1, 16), (31, 32), (33, 130), (71, 33)])
def test_one_row(outputs: int, inputs: int, span: int, biased: bool, share: float) -> None:
    x, weight = randn(1, inputs), randn(outputs, inputs, seed=1)
    bias = randn(outputs, seed=2) if biased else None
    norm = RmsNorm(randn(inputs, seed=3), 1e-5)
    legal = random_legal(1, outputs, share, seed=outputs)
    dense, out = torch.empty(1, outputs), torch.full((1, outputs), UNTOUCHED)
    gemv(x, weight, bias, dense, norm=norm, shape=GemvShape(4, 32, 1))
    wanted = legal_words(legal, 1, outputs)
    legal_row(x, norm, weight, bias, wanted, out, HeadShape(span, 4, 32, 2, 1))
    assert torch.equal(out, torch.where(legal_tokens(legal, outputs), dense, UNTOUCHED))


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize(
    ("rows", "outputs", "inputs", "splits", "biased"),
    [
        *[(2, 31, 64, 1, True), (17, 66, 130, 3, False), (5, 130, 96, 2, True)],
        *[(64, 33, 48, 1, False), (65, 33, 48, 1, False), (72, 66, 130, 3, True)],
        *[(80, 31, 64, 1, True), (73, 33, 48, 2, False), (79, 66, 130, 3, False)],
    ],
)
def test_few_rows(
    rows: int, outputs: int, inputs: int, splits: int, biased: bool, share: float
) -> None:
    x, weight = randn(rows, inputs), randn(outputs, inputs, seed=1)
    bias = randn(outputs, seed=2) if biased else None
    legal = random_legal(rows, outputs, share / rows, seed=outputs)
    together = legal_tokens(legal, outputs).any(0)
    dense, out = torch.empty(rows, outputs), torch.full((rows, outputs), UNTOUCHED)
    counters = torch.zeros(16, dtype=torch.int32)
    shape = SkinnyShape(
        row_tiles(rows), block_out=16, block_in=16, splits=splits, stages=2, warps=1
    )
    skinny(x, weight, bias, dense, counters, shape=shape)
    wanted = legal_words(legal, rows, outputs)
    skinny(x, weight, bias, out, counters, legal=wanted, shape=shape)
    assert torch.equal(out, torch.where(together, dense, UNTOUCHED))
    assert not counters.any()


@pytest.mark.usefixtures("poisoned")
@pytest.mark.parametrize("rows", [1, 2, 4, 5, 64, 72, 96, 97])
@pytest.mark.parametrize("share", [0.02, 0.3])
def test_the_head_makes_what_is_legal(rows: int, share: float) -> None:
    """And for more rows than the kernels serve, or without masks, everything."""
    outputs, inputs = 170, 32
    x, weight = randn(rows, inputs), randn(outputs, inputs, seed=1)
    norm = RmsNorm(randn(inputs, seed=3), 1e-5)
    matrix = DenseWeight(weight, None, torch.zeros(16, dtype=torch.int32))
    right = reference.ReferenceWeight(weight).matmul(x, norm)
    given = ReferenceKernels().weight(weight).matmul(x, norm, Logits())
    assert torch.equal(given, right)
    whole = matrix.matmul(x, norm, Logits())
    torch.testing.assert_close(whole, right, atol=1e-4, rtol=1e-4)
    for free in (False, True):
        legal = random_legal(rows, 160, share / rows, seed=rows, free=free)
        got = matrix.matmul(x, norm, Logits(legal))
        together = legal_tokens(legal, outputs).any(0)
        torch.testing.assert_close(got[:, together], right[:, together], atol=1e-4, rtol=1e-4)
        if rows <= MOST_MASKED_ROWS:
            assert bool(got[:, ~together].isnan().all())
            assert bool(together.all()) == free
        else:
            assert not bool(got.isnan().any())
        capped = matrix.matmul(x, norm, Logits(legal, 3.0))[:, together]
        limits = 3 * (right[:, together] / 3).tanh()
        torch.testing.assert_close(capped, limits, atol=1e-4, rtol=1e-4)


def test_normed_rows_of_one_and_of_several_agree() -> None:
    x, weight, norm = randn(2, 96), randn(40, 96, seed=1), RmsNorm(randn(96, seed=2), 1e-5)
    legal = random_legal(1, 40, 0.4, seed=5)
    wanted = legal_words(legal, 1, 40)
    alone, together = torch.zeros(1, 40), torch.zeros(2, 40)
    legal_row(x[:1], norm, weight, None, wanted, alone)
    counters = torch.zeros(4, dtype=torch.int32)
    normed = rms_norm(x, norm)
    skinny(normed, weight, None, together, counters, legal=wanted)
    torch.testing.assert_close(together[:1], alone, atol=1e-4, rtol=1e-4)
    assert math.isfinite(float(alone.sum()))


def test_what_asks_for_removed_mass_asks_for_all_logits() -> None:
    masks, rows = torch.zeros((2, 1), dtype=torch.int32), torch.tensor([0, -1])
    legal = SampleArgs(32, masks, rows).legal
    assert legal is not None
    assert (legal.masks is masks, legal.rows is rows) == (True, True)
    assert SampleArgs(32).legal is None
