"""Sampling from parts of a vocabulary against the reference on whole rows: the same token for every row."""

from dataclasses import replace

import pytest
import torch
from intaglio.engine.parallel.parallel_layout import ParallelLayout, TensorParallel
from intaglio.kernels.sample import reference_logits
from intaglio.kernels.sample.sharded_sampling import VocabularyPart, sample_part
from intaglio.kernels.sampling_contracts import OK, Bias, Draw, Penalties, SampleArgs, Sampled

from tests.support.threaded_ranks import on_ranks

ROWS = 64
VOCABULARIES = (300, 8192, 20_000, 40_001)
"""Less than a part of a tile, half a tile, and several tiles with the first one cut."""


def sampled(logits: torch.Tensor, args: SampleArgs, size: int) -> Sampled:
    """The result of all ranks, which agree."""

    def sample(parallel: TensorParallel) -> Sampled:
        own = ParallelLayout(size, parallel.layout.rank).tokens(logits.shape[1])
        part = VocabularyPart(own.start, own.stop - own.start)
        return sample_part(logits[:, own].clone(), args, part, parallel.communicator.all_gather)

    first, *others = on_ranks(size, sample)
    for other in others:
        for mine, yours in zip(_tensors(first), _tensors(other), strict=True):
            torch.testing.assert_close(mine, yours, rtol=0, atol=0, equal_nan=True)
    return first


def _tensors(found: Sampled) -> list[torch.Tensor]:
    fields = found.tokens, found.status, found.logprobs, found.top_tokens, found.masked
    return [field for field in fields if field is not None]


def rows(vocab: int, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """Logits, and masks of which a quarter of the tokens are legal; one row allows one token, one allows none."""
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn((ROWS, vocab), generator=generator) * 4
    words = torch.randint(
        -(2**31), 2**31, (2, ROWS, -(-vocab // 32)), generator=generator, dtype=torch.int64
    ).int()
    masks = words[0] & words[1]
    masks[1] = 0
    masks[1, masks.shape[1] // 2] = 4
    masks[2] = 0
    return logits, masks


def draw(seed: int = 1) -> Draw:
    generator = torch.Generator().manual_seed(seed)
    temperature = torch.rand(ROWS, generator=generator) * 2
    temperature[::7] = 0
    return Draw(temperature, torch.randint(0, 2**32, (ROWS, 2), generator=generator))


@pytest.mark.parametrize("size", [2, 3, 5])
@pytest.mark.parametrize("vocab", VOCABULARIES)
def test_parts_sample_the_token_of_the_whole_row(vocab: int, size: int) -> None:
    logits, masks = rows(vocab)
    mask_rows = torch.arange(ROWS, dtype=torch.int32)
    mask_rows[10:20] = -1
    plain = SampleArgs(vocab - 5, masks, mask_rows)
    for args in (plain, replace(plain, masks=None, mask_rows=None), replace(plain, draw=draw())):
        expected = reference_logits.sample(logits.clone(), args)
        found = sampled(logits, args, size)
        assert torch.equal(found.status, expected.status)
        usable = expected.status == OK
        assert torch.equal(found.tokens[usable], expected.tokens[usable])
        assert bool((found.tokens < args.vocab).all())


def test_a_part_may_have_no_token_that_exists() -> None:
    """A model may have more logits than the tokenizer has tokens."""
    logits, masks = rows(20_000)
    args = SampleArgs(300, masks[:, :10], None, draw=draw(), top=2)
    expected, found = reference_logits.sample(logits.clone(), args), sampled(logits, args, 3)
    usable = expected.status == OK
    assert torch.equal(found.status, expected.status)
    assert torch.equal(found.tokens[usable], expected.tokens[usable])


def test_equal_logits_in_two_parts_give_the_lowest_token() -> None:
    logits = torch.zeros(ROWS, 300)
    assert sampled(logits, SampleArgs(300), 2).tokens.tolist() == [0] * ROWS
    logits[:, 170:] = 1.0
    assert sampled(logits, SampleArgs(300), 2).tokens.tolist() == [170] * ROWS


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_row_that_is_not_finite_in_one_part_is_refused_whole(bad: float) -> None:
    logits, _ = rows(300)
    logits[3, 290] = bad
    logits[4, 2] = float("-inf")
    found = sampled(logits, SampleArgs(300, draw=draw()), 2)
    expected = reference_logits.sample(logits.clone(), SampleArgs(300, draw=draw()))
    assert torch.equal(found.status, expected.status)
    assert found.status[3] != OK
    assert found.status[4] == OK


def test_edits_and_reports_are_those_of_the_whole_row() -> None:
    logits, masks = rows(20_000)
    generator = torch.Generator().manual_seed(2)
    at = torch.arange(ROWS).repeat_interleave(3)
    tokens = torch.randint(0, 20_000, (3 * ROWS,), generator=generator)
    args = SampleArgs(
        20_000,
        masks,
        None,
        bias=Bias(at, tokens, torch.full((3 * ROWS,), 9.0)),
        penalties=Penalties(
            at,
            tokens.flip(0),
            torch.ones(3 * ROWS),
            torch.full((ROWS,), 1.4),
            torch.full((ROWS,), 0.3),
            torch.full((ROWS,), 0.2),
        ),
        draw=draw(),
        top=4,
        masked_share=True,
    )
    expected, found = reference_logits.sample(logits.clone(), args), sampled(logits, args, 3)
    usable = expected.status == OK
    assert torch.equal(found.status, expected.status)
    assert torch.equal(found.tokens[usable], expected.tokens[usable])
    for name in ("logprobs", "top_logprobs", "masked"):
        mine, theirs = getattr(found, name), getattr(expected, name)
        torch.testing.assert_close(mine[usable], theirs[usable], atol=1e-5, rtol=1e-5)
    several = usable.clone()
    several[1] = False  # one legal token: the others that are reported are arbitrary
    assert torch.equal(found.top_tokens[several], expected.top_tokens[several])  # type: ignore[index]
