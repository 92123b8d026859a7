"""Batch-invariant kernels on this processor: the same bits in any number of rows, and the values of the others."""

import pytest
import torch
from intaglio.kernels.attention.chunk_agreement import chunks_agree
from intaglio.kernels.attention.reference_attention import ReferenceAttention, Workspace
from intaglio.kernels.contracts import PLAIN_SCALING, Places, Ragged, ScoreScaling
from intaglio.kernels.dispatch import choose
from intaglio.kernels.invariant import InvariantKernels
from torch import Tensor

CPU = torch.device("cpu")
SHAPE = (2, 9, 16, 2, 32)


def randn(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize(("outputs", "inputs"), [(96, 64), (40, 1300), (5, 37)])
def test_rows_of_products_have_the_same_bits(dtype: torch.dtype, outputs: int, inputs: int) -> None:
    kernels = choose(CPU, invariant=dtype)
    weight, x = kernels.weight(randn(outputs, inputs).to(dtype)), randn(300, inputs).to(dtype)
    whole = weight.matmul(x)
    for first, end in [(0, 1), (0, 2), (7, 10), (3, 20), (64, 130), (0, 299)]:
        assert torch.equal(weight.matmul(x[first:end]), whole[first:end])
    plain = choose(CPU).weight(randn(outputs, inputs).to(dtype)).matmul(x)
    limit = 1e-3 if dtype == torch.float32 else 0.3
    torch.testing.assert_close(whole, plain, atol=limit, rtol=limit)


def ragged(*ends_of: tuple[int, int]) -> Ragged:
    """Sequences over one block table, each as (first row, end of rows): row i is at position i."""
    starts = [0]
    for first, end in ends_of:
        starts.append(starts[-1] + end - first)
    ends = torch.tensor([end for _, end in ends_of], dtype=torch.int32)
    tables = torch.arange(1, SHAPE[1], dtype=torch.int32).expand(len(ends_of), -1)
    return Ragged(torch.tensor(starts, dtype=torch.int32), ends, tables)


def test_attention_of_single_rows_is_that_of_chunks() -> None:
    """The way where chunks do not agree: each row is a piece of its own."""
    cache, query = randn(*SHAPE), randn(128, 6, 32, seed=1)
    rows = torch.cat((query[:70], query[90:91], query[3:6]))
    step = ragged((0, 70), (90, 91), (3, 6))
    for scores in (PLAIN_SCALING, ScoreScaling(None, 5.0)):
        pieces = [
            ReferenceAttention(step, 6, SHAPE, Workspace(), scores, window, chunk).run(rows, cache)
            for window in (None, 20)
            for chunk in (64, 1)
        ]
        for chunks, alone in zip(pieces[::2], pieces[1::2], strict=True):
            torch.testing.assert_close(chunks, alone, atol=1e-5, rtol=1e-5)
        assert not torch.allclose(pieces[0], pieces[2]), "the window matters"


def test_chunks_are_used_only_where_they_agree() -> None:
    kernels = InvariantKernels(dtype=torch.float32)
    agree = chunks_agree(6, 2, 32, PLAIN_SCALING, torch.float32)
    cache, query = randn(*SHAPE), randn(128, 10, 32, seed=1)
    step = ragged((0, 70))
    places = _places(70)
    whole = kernels.attend(step, places, 6, SHAPE).run(query[:70].clone(), None, cache.clone())
    assert kernels._chunks == {(6, 2, 32, PLAIN_SCALING): 64 if agree else 1}
    assert whole.shape == (70, 6, 32)


def _places(rows: int) -> Places:
    cos, sin = torch.ones(rows, 32), torch.zeros(rows, 32)
    return Places(cos, sin, torch.arange(rows), torch.arange(16, 16 + rows))


def test_other_attention_of_prompts_is_refused() -> None:
    with pytest.raises(ValueError, match="depends on the rows"):
        choose(CPU, choose(CPU).attend, torch.float32)
