"""Sampling by Triton kernels, interpreted where there is no GPU, against the reference."""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest
import torch
from intaglio.kernels.sample import logits_pipeline, reference_logits
from intaglio.kernels.sample.logits_pipeline import TokenSampler, _Run
from intaglio.kernels.sample.truncate import MOST, SEARCH, TEST
from intaglio.kernels.sampling_contracts import OK, Draw, SampleArgs, Sampled, Truncation

from tests.support.legal import legal_tokens
from tests.support.picks import cases, compare, on_device

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
ROWS = 3
ALL = 6  # the last case has every stage


@pytest.fixture(autouse=True)
def _infinities_are_meant() -> Iterator[None]:
    """The interpreter computes with numpy, which warns where a device does not."""
    with np.errstate(all="ignore"):
        yield


def randn(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)) * 3


def picker(rows: int = ROWS) -> TokenSampler:
    return TokenSampler(torch.device(DEVICE), rows)


def check(logits: torch.Tensor, args: SampleArgs) -> None:
    got = picker(len(logits)).sample(logits.to(DEVICE), on_device(args, DEVICE))
    compare(got, reference_logits.sample(logits.clone(), args))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("case", range(ALL + 1))
def test_every_stage_equals_the_reference(case: int, dtype: torch.dtype) -> None:
    check(randn(ROWS, 36, seed=33).to(dtype), cases(33, 33, ROWS)[case])


@pytest.mark.parametrize("vocab", [1, 32])
def test_vocabularies_that_end_within_a_word(vocab: int) -> None:
    check(randn(2, vocab + 3, seed=vocab), cases(vocab, vocab, 2)[ALL])


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_several_tiles_and_every_dtype(dtype: torch.dtype) -> None:
    check(randn(1, 17_001).to(dtype), cases(17_001, 1, 1)[ALL])


def by_passes(logits: torch.Tensor, args: SampleArgs) -> tuple[_Run, dict[int, int]]:
    """A checked call with truncation, and the task of each row that is left to the flat pass, listed once."""
    run = _Run(logits.to(DEVICE), on_device(args, DEVICE))
    counters = torch.zeros(len(logits), dtype=torch.int32, device=DEVICE)
    run.tile_pass(counters)
    run.cut_pass()
    left = run.outputs.flat_rows.tolist()
    rows = left[1 : 1 + left[0]]
    assert len(set(rows)) == len(rows)
    todo = run.flat.task.tolist()
    run.flat_pass(counters)
    compare(run.sampled(), reference_logits.sample(logits.clone(), args))
    return run, {row: todo[row] for row in rows}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_flat_rows_are_cut_where_the_reference_cuts_them(dtype: torch.dtype) -> None:
    """So much may stay that whole rows are read again, and so little that all tries often fail."""
    rows = 6
    logits = (randn(rows, 17_001) / 6).to(dtype)
    truncation = Truncation(
        torch.tensor([0, 3000, 0, 9000, 1200, 0]),
        torch.tensor([0.95, 1.0, 0.1, 0.3, 0.9, 1.0]),
        torch.tensor([0.0, 0.0, 0.0, 0.0, 0.0, 0.1]),
    )
    temperature = torch.tensor([1.0, 0.7, 1.3, 1.0, 1.0, 0.7])
    draw = Draw(temperature, torch.arange(2 * rows).view(rows, 2))
    args = SampleArgs(17_001, draw=draw, truncation=truncation)
    kept = reference_logits.truncated(logits.float() / draw.temperature[:, None], truncation)
    assert torch.isfinite(kept).sum(1).min() > 400
    run, todo = by_passes(logits, args)
    assert {TEST.value, SEARCH.value} <= set(todo.values())
    candidates = run.outputs.candidate_tokens.view(rows, -1).cpu().long()
    missed = (kept.gather(1, candidates) == -math.inf).all(1)
    assert missed[list(todo)].any()


def test_wide_rows_are_settled_by_their_groups_where_that_is_certain() -> None:
    """Others are left, each once, and all tokens are those of the reference."""
    rows = 12
    logits = (randn(rows, 17_001) * (2 / 3)).bfloat16()
    truncation = Truncation(
        torch.zeros(rows, dtype=torch.int64), torch.full((rows,), 0.95), torch.zeros(rows)
    )
    draw = Draw(torch.ones(rows), torch.arange(2 * rows).view(rows, 2))
    args = SampleArgs(17_001, draw=draw, truncation=truncation)
    _, todo = by_passes(logits, args)
    kept = reference_logits.truncated(logits.float(), truncation)
    assert torch.isfinite(kept).sum(1).min() > MOST.value
    assert 0 < len(todo) < rows / 2
    assert set(todo.values()) == {TEST.value}


def test_two_programs_of_a_row_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same whichever of them is the last, one call after the other, also where a row is refused."""
    rows = 6
    monkeypatch.setattr(logits_pipeline, "processors", lambda _device: rows)
    chosen = picker(rows)
    bits = torch.Generator().manual_seed(1)
    masks = torch.randint(-(2**31), 2**31, (rows, 1250), generator=bits).to(torch.int32)
    masks[3], masks[1:3], masks[5] = 0, -1, -1
    for seed, dtype in enumerate((torch.float32, torch.bfloat16)):
        logits = randn(rows, 40_000).to(dtype)
        logits[1, 5], logits[2], logits[5, 39_000] = math.nan, -math.inf, math.inf
        keys = torch.arange(2 * rows).view(rows, 2) + 1000 * seed
        temperature = torch.arange(seed, seed + rows) % 2 * 0.7
        args = SampleArgs(40_000, masks=masks, draw=Draw(temperature, keys))
        got = chosen.sample(logits.to(DEVICE), on_device(args, DEVICE))
        compare(got, reference_logits.sample(logits.clone(), args))
        assert not chosen._counters.any()


def test_fewer_legal_tokens_than_top_k_asks_for() -> None:
    """Nothing is left out by top-k, and top-p sees what is legal, above and below a group's own largest logit."""
    logits = randn(4, 17_001).bfloat16()
    legal = torch.zeros(4, 17_024, dtype=torch.bool)
    for row, few in enumerate(([7], [7, 8, 1031, 16_999], range(40), range(0, 17_000, 340))):
        legal[row, list(few)] = True
    masks = (legal.view(4, -1, 32) << torch.arange(32)).sum(-1).to(torch.int32)
    truncation = Truncation(
        torch.full((4,), 50), torch.tensor([0.5, 0.8, 1.0, 0.9]), torch.zeros(4)
    )
    draw = Draw(torch.ones(4), torch.arange(8).view(4, 2))
    check(logits, SampleArgs(17_001, masks, draw=draw, truncation=truncation))


def test_the_largest_vocabulary() -> None:
    check(randn(1, 151_936).bfloat16(), cases(151_936, 2, 1)[3])


def test_rows_with_gaps_between_them() -> None:
    wide = randn(2 * ROWS, 100)
    check(wide[::2], cases(90, 3, ROWS)[3])
    with pytest.raises(ValueError, match="contiguous"):
        picker().sample(wide.to(DEVICE).T, SampleArgs(8))
    with pytest.raises(ValueError, match="at most 3 rows"):
        picker().sample(wide.to(DEVICE), SampleArgs(90))


def test_logits_are_left_as_they_were() -> None:
    logits = randn(ROWS, 50).to(DEVICE)
    before = logits.clone()
    picker().sample(logits, on_device(cases(50, 4, ROWS)[5], DEVICE))
    assert torch.equal(logits, before)


@pytest.mark.parametrize("poison", [math.nan, math.inf, -math.inf])
def test_poison_counts_where_it_is_legal(poison: float) -> None:
    args = cases(64, 5, ROWS)[3]
    logits = randn(ROWS, 64)
    logits[0, 7] = logits[1, 50] = poison
    got = picker().sample(logits.to(DEVICE), on_device(args, DEVICE))
    expected = reference_logits.sample(logits.clone(), args)
    assert torch.equal(got.status.cpu(), expected.status)
    sound = expected.status == OK
    assert torch.equal(got.tokens.cpu()[sound], expected.tokens[sound])


def by_kernel(logits: torch.Tensor, args: SampleArgs) -> Sampled:
    return picker(len(logits)).sample(logits.to(DEVICE), on_device(args, DEVICE))


@pytest.mark.parametrize("implementation", [by_kernel, reference_logits.sample])
@pytest.mark.parametrize("case", range(1, ALL + 1))
def test_what_is_forbidden_may_be_anything(
    case: int, implementation: Callable[[torch.Tensor, SampleArgs], Sampled]
) -> None:
    """A head may leave out logits of illegal tokens: no value there changes the answer."""
    args = cases(70, 8, ROWS)[case]
    assert args.legal is not None
    clean = randn(ROWS, 75, seed=case)
    junk = torch.tensor([math.nan, math.inf, -math.inf, 1e38, -1e38]).repeat(15)
    legal = legal_tokens(args.legal, 75)
    legal[:, 70:] = False
    poisoned = torch.where(legal, clean, junk)
    right, got = (implementation(logits.clone(), args) for logits in (clean, poisoned))
    ok = right.status == OK
    assert ok.any()
    assert torch.equal(got.status, right.status)
    for name in ("tokens", "logprobs", "top_tokens", "top_logprobs"):
        mine, theirs = getattr(got, name), getattr(right, name)
        assert (mine is None) == (theirs is None)
        if theirs is not None:
            seen = torch.ones_like(theirs[ok], dtype=torch.bool)
            if name == "top_tokens" and right.top_logprobs is not None:
                # Alternatives that are not legal have a log-probability of -inf.
                seen = right.top_logprobs[ok] > -math.inf
            assert torch.equal(mine[ok][seen], theirs[ok][seen])


@pytest.mark.parametrize("case", range(ALL + 1))
def test_the_masked_share_is_that_of_the_definition(case: int) -> None:
    args = replace(cases(70, 8, ROWS)[case], top=0, masked_share=True)
    logits = randn(ROWS, 75, seed=case)
    right = reference_logits.sample(logits.clone(), args)
    got = by_kernel(logits, args)
    assert right.masked is not None
    assert got.masked is not None
    ok = right.status == OK
    assert torch.allclose(got.masked.cpu()[ok], right.masked[ok], atol=1e-5)


@pytest.mark.parametrize(("top_k", "top_p"), [(0, 0.9), (2_000, 0.7)])
def test_truncation_that_keeps_thousands(top_k: int, top_p: float) -> None:
    logits = randn(1, 4_000, seed=9) * 0.1
    truncation = Truncation(torch.tensor([top_k]), torch.tensor([top_p]), torch.zeros(1))
    keys = torch.tensor([[3, 4]])
    check(logits, SampleArgs(4_000, draw=Draw(torch.ones(1), keys), truncation=truncation))


def test_ties_go_to_the_lowest_token() -> None:
    logits = torch.zeros(1, 20_000)
    logits[0, [19_000, 5_555, 16_384]] = 1.0
    assert picker().sample(logits.to(DEVICE), SampleArgs(20_000)).tokens.tolist() == [5_555]


def test_a_picker_may_be_used_again() -> None:
    same = picker()
    for seed in range(2):
        logits, args = randn(2, 20_000, seed=seed), cases(20_000, seed, 2)[2]
        got = same.sample(logits.to(DEVICE), on_device(args, DEVICE))
        compare(got, reference_logits.sample(logits.clone(), args))
