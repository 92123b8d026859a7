"""Sampling on the device against the reference on the host: awkward sizes, all stages, graphs, two calls at once."""

import math

import pytest
import torch
from intaglio.kernels.sample import reference_logits
from intaglio.kernels.sample.logits_pipeline import TokenSampler
from intaglio.kernels.sampling_contracts import OK, Draw, SampleArgs, Truncation

from tests.support.picks import cases, compare, on_device

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU"),
]
ROWS = 24
# Nearly all of the time is the compiler's: sizes, types and gaps between rows are mixed, not all combined.
VOCABULARIES = {
    torch.float32: (1, 31, 32, 33, 1000, 16384, 32001, 151936),
    torch.bfloat16: (1, 33, 1000, 40000, 151936),
    torch.float16: (31, 32001),
}
SIZES = [(vocab, dtype) for dtype, sizes in VOCABULARIES.items() for vocab in sizes]


@pytest.mark.parametrize("case", range(7))
@pytest.mark.parametrize(("vocab", "dtype"), SIZES)
def test_equals_the_reference(vocab: int, dtype: torch.dtype, case: int) -> None:
    picker = TokenSampler(torch.device("cuda"), ROWS)
    for seed in range(3):
        wide = torch.randn(
            ROWS, vocab + 8 * (vocab % 2), generator=torch.Generator().manual_seed(seed)
        )
        logits = (wide * 3).to(dtype)
        args = cases(vocab, seed, ROWS)[case]
        got = picker.sample(logits.cuda(), on_device(args))
        compare(got, reference_logits.sample(logits.clone(), args))


@pytest.mark.parametrize("poison", [math.nan, math.inf, -math.inf])
def test_poison_counts_where_it_is_legal(poison: float) -> None:
    picker = TokenSampler(torch.device("cuda"), ROWS)
    logits = torch.randn(ROWS, 40_000)
    for args in cases(40_000, 7, ROWS)[:5]:
        poisoned = logits.clone()
        poisoned[::3, 777] = poison
        poisoned[1::3, 39_999] = poison
        got = picker.sample(poisoned.cuda(), on_device(args))
        expected = reference_logits.sample(poisoned.clone(), args)
        assert torch.equal(got.status.cpu(), expected.status)
        ok = expected.status == OK
        assert torch.equal(got.tokens.cpu()[ok], expected.tokens[ok])


def test_wide_nuclei_and_flat_rows() -> None:
    picker = TokenSampler(torch.device("cuda"), 8)
    logits = torch.randn(8, 50_000, generator=torch.Generator().manual_seed(1)) * 0.5
    logits[3] = 1.0
    draw = Draw(torch.ones(8), torch.arange(16).view(8, 2))
    for top_k, top_p in ((0, 0.9), (30_000, 1.0), (20_000, 0.7)):
        truncation = Truncation(torch.full((8,), top_k), torch.full((8,), top_p), torch.zeros(8))
        args = SampleArgs(50_000, draw=draw, truncation=truncation)
        for dtype in (torch.float32, torch.bfloat16):
            got = picker.sample(logits.to(dtype).cuda(), on_device(args))
            compare(got, reference_logits.sample(logits.to(dtype), args))


@pytest.mark.parametrize(("rows", "vocab"), [(120, 70_000), (256, 20_000), (600, 20_000)])
def test_many_rows_of_few_programs_each(rows: int, vocab: int) -> None:
    """So many rows that two programs share one, call after call; and so many that each has its own."""
    picker = TokenSampler(torch.device("cuda"), rows)
    for seed in range(5):
        generator = torch.Generator().manual_seed(seed)
        logits = (torch.randn(rows, vocab, generator=generator) * 2).bfloat16()
        temperature = torch.tensor([1.0, 0.0, 0.8, 1.0]).repeat(rows // 4)
        keys = torch.randint(0, 2**32, (rows, 2), generator=generator)
        top_p = torch.tensor([1.0, 0.95, 0.9, 0.95]).repeat(rows // 4)
        truncation = Truncation(torch.zeros(rows, dtype=torch.int64), top_p, torch.zeros(rows))
        for cut in (None, truncation):
            args = SampleArgs(vocab, draw=Draw(temperature, keys), truncation=cut)
            got = picker.sample(logits.cuda(), on_device(args))
            compare(got, reference_logits.sample(logits.clone(), args))


def test_a_captured_graph_draws_anew_at_each_replay() -> None:
    picker = TokenSampler(torch.device("cuda"), ROWS)
    args = cases(32_001, 3, ROWS)[4]
    device = on_device(args)
    logits = torch.randn(ROWS, 32_001)
    static = logits.cuda()
    picker.sample(static, device)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        got = picker.sample(static, device)
    for seed in range(3):
        fresh = torch.randn(ROWS, 32_001, generator=torch.Generator().manual_seed(seed)) * 2
        static.copy_(fresh)
        graph.replay()
        compare(got, reference_logits.sample(fresh.clone(), args))


def test_the_same_call_gives_the_same_bits() -> None:
    picker = TokenSampler(torch.device("cuda"), 256)
    logits = torch.randn(256, 151_936, device="cuda").bfloat16()
    keys = torch.randint(0, 2**32, (256, 2), device="cuda")
    args = SampleArgs(151_936, draw=Draw(torch.ones(256, device="cuda"), keys), top=0)
    first = picker.sample(logits, args)
    assert first.logprobs is not None
    for _ in range(20):
        again = picker.sample(logits, args)
        assert again.logprobs is not None
        assert torch.equal(first.tokens, again.tokens)
        assert torch.equal(first.logprobs, again.logprobs)
    alone = picker.sample(
        logits[17:18], SampleArgs(151_936, draw=Draw(torch.ones(1, device="cuda"), keys[17:18]))
    )
    assert int(alone.tokens[0]) == int(first.tokens[17])
