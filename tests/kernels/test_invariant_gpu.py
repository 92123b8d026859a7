"""Batch-invariant kernels of a GPU: the values of the others, interpreted or on a device; equal bits on a device."""

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from intaglio.kernels.contracts import Places, Ragged
from intaglio.kernels.dispatch import choose
from intaglio.kernels.invariant_gpu import SPLITS, InvariantGpuKernels
from intaglio.kernels.sample import reference_logits

from tests.support.paged import Heads, RawStep, make_raw_step, without_rows
from tests.support.picks import cases, compare, on_device

ON_DEVICE = torch.cuda.is_available()
DEVICE = torch.device("cuda" if ON_DEVICE else "cpu")
HOST = torch.device("cpu")
SHAPES = [
    ([20, 50], [3, 1]),
    ([50, 20, 18], [18, 4, 18]),
    ([70, 33, 5], [1, 1, 1]),
    ([130], [1]),
]


@pytest.fixture(autouse=True)
def _infinities_are_meant() -> Iterator[None]:
    """The interpreter computes with numpy, which warns where a device does not."""
    with np.errstate(all="ignore"):
        yield


def kernels(dtype: torch.dtype = torch.float32) -> InvariantGpuKernels:
    return InvariantGpuKernels(DEVICE, dtype)


@pytest.mark.parametrize(("lengths", "counts"), SHAPES)
@pytest.mark.parametrize("window", [None, 24])
@pytest.mark.parametrize("per_kv", [1, 7])
def test_attention_is_that_of_the_reference(
    lengths: list[int], counts: list[int], window: int | None, per_kv: int
) -> None:
    """Chunks of prompts, single tokens, a padding sequence, and sequences without rows."""
    step = make_raw_step(lengths, counts, Heads(2, per_kv, 16), normed=True, seed=2)
    heads, rows = 2 * per_kv, sum(counts)
    here, there = step.to(HOST), step.to(DEVICE)
    reference = choose(HOST).attend(
        step.ragged, step.places, heads, step.cache.shape, window=window
    )
    right = reference.run(here.fused, here.norms, here.cache)
    ragged = without_rows(there.ragged, at=1, more=2)
    attention = kernels().attend(ragged, there.places, heads, there.cache.shape, window=window)
    for _ in range(2):
        found = attention.run(there.fused.clone(), there.norms, there.cache)
    torch.testing.assert_close(found.cpu()[:rows], right, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(there.cache.cpu(), here.cache, atol=1e-4, rtol=1e-4)


def test_a_padding_sequence_is_zero_and_reads_no_key() -> None:
    step = make_raw_step([30, 20, 9], [1, 1, 1], Heads(2, 2, 16), normed=False, seed=1).to(DEVICE)
    step.ragged.context_lengths[1] = 0
    step.places.slots[1] = -1
    attention = kernels().attend(step.ragged, step.places, 4, step.cache.shape)
    step.cache[:, step.ragged.block_tables[1].long()] = float("nan")
    found = attention.run(step.fused, None, step.cache)
    assert bool((found[1] == 0).all())
    assert bool(found.isfinite().all())


@pytest.mark.parametrize("case", range(7))
def test_sampling_is_that_of_the_reference(case: int) -> None:
    """More programs for a row than it has tiles, and rows that no candidate ends."""
    logits = torch.randn((5, 9001), generator=torch.Generator().manual_seed(case)) * 3
    args = cases(9001, case, 5)[case]
    found = kernels().sample(logits.to(DEVICE), on_device(args, str(DEVICE)))
    compare(found, reference_logits.sample(logits.clone(), args))


def test_programs_of_a_row_do_not_depend_on_the_rows() -> None:
    """More rows than programs of a row, flat ones among them: their nuclei are wider than the list of one program."""
    rows, vocab = SPLITS + 3, 30_001
    logits = torch.randn((rows, vocab), generator=torch.Generator().manual_seed(1)) * 0.3
    args = cases(vocab, 5, rows)[4]
    together = kernels().sample(logits.to(DEVICE), on_device(args, str(DEVICE)))
    compare(together, reference_logits.sample(logits.clone(), args))


def test_codes_and_latents_have_no_such_kernels() -> None:
    assert kernels().coded((), None, torch.bfloat16) is None
    step = make_raw_step([5], [1], Heads(1, 1, 16), normed=False, seed=0)
    with pytest.raises(ValueError, match="latent"):
        kernels().attend(step.ragged, step.places, 1, (1, 9, 16, 1, 16))


def rows_of(step: RawStep, parts: list[tuple[int, int]]) -> tuple[torch.Tensor, Ragged, Places]:
    """Rows `first:end` of the step's only sequence as sequences of their own: (fused, ragged, places)."""
    rows = torch.cat([torch.arange(first, end) for first, end in parts]).to(DEVICE)
    before = int(step.ragged.context_lengths[0]) - step.fused.shape[0]
    starts = torch.tensor([0, *(end - first for first, end in parts)]).cumsum(0)
    ragged = Ragged(
        starts.int().to(DEVICE),
        torch.tensor([before + end for _, end in parts]).int().to(DEVICE),
        step.ragged.block_tables.expand(len(parts), -1).contiguous(),
    )
    places = Places(
        step.places.cos, step.places.sin, step.places.positions[rows], step.places.slots[rows]
    )
    return step.fused[rows].clone(), ragged, places


@pytest.mark.skipif(
    not ON_DEVICE, reason="needs a GPU: the interpreter's products depend on their size"
)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
@pytest.mark.parametrize("heads", [Heads(8, 4, 128), Heads(2, 7, 64)])
@pytest.mark.parametrize("window", [None, 100])
def test_a_token_has_the_same_bits_in_any_chunk(
    dtype: torch.dtype, heads: Heads, window: int | None
) -> None:
    """All keys are stored first: a chunk reads what an earlier step stored."""
    step = make_raw_step([600], [500], heads, normed=True, seed=3).to(DEVICE)
    norms = step.norms and type(step.norms)(
        step.norms.query.to(dtype), step.norms.key.to(dtype), step.norms.eps
    )
    places = Places(
        step.places.cos.to(dtype),
        step.places.sin.to(dtype),
        step.places.positions,
        step.places.slots,
    )
    typed = RawStep(step.fused.to(dtype), step.ragged, places, norms, step.cache.to(dtype))
    count = heads.kv * heads.per_kv

    def run(parts: list[tuple[int, int]]) -> torch.Tensor:
        fused, ragged, where = rows_of(typed, parts)
        given = typed.cache.shape
        return (
            kernels(dtype)
            .attend(ragged, where, count, given, window=window)
            .run(fused, norms, typed.cache)
        )

    whole = run([(0, 500)])
    for parts in ([(0, 1)], [(499, 500)], [(3, 70), (70, 71), (200, 459)], [(17, 19), (18, 40)]):
        wanted = torch.cat([whole[first:end] for first, end in parts])
        assert torch.equal(run(parts), wanted)


@pytest.mark.skipif(not ON_DEVICE, reason="needs a GPU")
@pytest.mark.parametrize("case", range(7))
def test_a_row_of_logits_has_the_same_results_among_any_others(case: int) -> None:
    vocab, rows = 151_936, 300
    logits = torch.randn((rows, vocab), generator=torch.Generator().manual_seed(case)).to(DEVICE)
    args = on_device(cases(vocab, case, rows)[case], "cuda")
    if args.bias is not None or args.penalties is not None:
        pytest.skip("pairs belong to all rows of a call")
    whole = kernels().sample(logits, args)
    for first, end in [(0, 1), (7, 9), (100, 170), (1, 299)]:
        draw, cut = args.draw, args.truncation
        part = type(args)(
            vocab=args.vocab,
            masks=args.masks
            if args.mask_rows is not None or args.masks is None
            else args.masks[first:end],
            mask_rows=None if args.mask_rows is None else args.mask_rows[first:end],
            draw=draw and type(draw)(draw.temperature[first:end], draw.keys[first:end]),
            truncation=cut
            and type(cut)(cut.top_k[first:end], cut.top_p[first:end], cut.min_p[first:end]),
            top=args.top,
        )
        found = kernels().sample(logits[first:end], part)
        assert torch.equal(found.tokens, whole.tokens[first:end])
        if args.top is not None:
            assert found.logprobs is not None
            assert whole.logprobs is not None
            assert torch.equal(found.logprobs, whole.logprobs[first:end])
