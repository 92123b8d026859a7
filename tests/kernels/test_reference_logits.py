"""The logits pipeline against plain numpy and python oracles, and its draws against their distributions."""

import math
from itertools import pairwise

import numpy as np
import pytest
import torch
from intaglio.grammar.api import allow, empty_rows
from intaglio.kernels.sample import reference_logits
from intaglio.kernels.sample.reference_logits import gumbel, mask_bias, penalised, sample, truncated
from intaglio.kernels.sampling_contracts import (
    NOT_FINITE,
    NOTHING_LEGAL,
    OK,
    Bias,
    Draw,
    Penalties,
    SampleArgs,
    Truncation,
)

VOCABULARIES = (1, 31, 32, 33, 32001, 151936)


def randn(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)) * 3


def keys(count: int, seed: int = 1) -> torch.Tensor:
    generator = np.random.default_rng(seed)
    return torch.from_numpy(generator.integers(0, 2**32, (count, 2), dtype=np.int64))


def oracle_truncation(row: np.ndarray, top_k: int, top_p: float, min_p: float) -> set[int]:
    """The tokens that stay, from the definitions, one token at a time (no ties in the input)."""
    order = sorted(range(row.size), key=lambda t: -row[t])
    order = order[: top_k or row.size]
    weights = np.exp(row[order].astype(np.float64) - row.max())
    mass = weights / weights.sum()
    kept: list[int] = []
    total = 0.0
    for token, share in zip(order, mass, strict=True):
        if kept and total >= top_p:
            break
        kept.append(token)
        total += share
    return {t for t in kept if math.exp(row[t] - row.max()) >= min_p}


@pytest.mark.parametrize("vocab", VOCABULARIES)
def test_packed_masks_become_bias_for_any_vocabulary(vocab: int) -> None:
    dice = np.random.default_rng(vocab)
    rows = empty_rows(3, vocab)
    legal = [dice.random(vocab) < p for p in (0.5, 0.01, 1.0)]
    for row, bits in zip(rows, legal, strict=True):
        allow(row, np.flatnonzero(bits))
    got = mask_bias(torch.from_numpy(rows), vocab)
    assert got.shape == (3, vocab)
    assert torch.equal(got == 0, torch.from_numpy(np.array(legal)))
    assert bool(((got == 0) | (got == -math.inf)).all())


@pytest.mark.parametrize("vocab", VOCABULARIES)
def test_the_best_legal_token_is_picked(vocab: int) -> None:
    logits, rows = randn(2, vocab + 5, seed=vocab), empty_rows(2, vocab)
    logits[:, vocab:] = 100  # beyond the tokens that exist
    allow(rows[0], np.arange(0, vocab, 3))
    allow(rows[1], [vocab - 1])
    got = sample(logits.clone(), SampleArgs(vocab=vocab, masks=torch.from_numpy(rows)))
    assert got.status.tolist() == [OK, OK]
    assert got.tokens.tolist() == [int(logits[0, :vocab:3].argmax()) * 3, vocab - 1]


def test_tokens_past_a_narrow_mask_are_never_picked() -> None:
    logits, rows = torch.zeros(1, 100), empty_rows(1, 32)
    logits[0, 64:] = 50
    allow(rows[0], [3, 9])
    got = sample(logits, SampleArgs(vocab=100, masks=torch.from_numpy(rows)))
    assert got.tokens.tolist() == [3]


def test_non_contiguous_logits_and_masks() -> None:
    wide, rows = randn(4, 2 * 33), empty_rows(4, 64)
    allow(rows[0], [1, 40])
    allow(rows[2], [7])
    got = sample(wide[::2, ::2], SampleArgs(vocab=33, masks=torch.from_numpy(rows)[::2]))
    assert got.tokens.tolist() == [1, 7]


@pytest.mark.parametrize("poison", [math.nan, math.inf])
def test_a_poisoned_row_fails_alone(poison: float) -> None:
    logits, rows = randn(3, 40), empty_rows(3, 40)
    for row in rows:
        allow(row, [4, 5])
    clean = sample(logits.clone(), SampleArgs(vocab=40, masks=torch.from_numpy(rows)))
    logits[0, 30] = poison  # not a legal token: nobody asks for it
    logits[1, 5] = poison
    draw = Draw(torch.tensor([1.0, 1.0, 0.0]), keys(3))
    for args in (
        SampleArgs(vocab=40, masks=torch.from_numpy(rows)),
        SampleArgs(vocab=40, masks=torch.from_numpy(rows), draw=draw, top=2),
    ):
        got = sample(logits.clone(), args)
        assert got.status.tolist() == [OK, NOT_FINITE, OK]
        if args.draw is None:
            assert got.tokens[[0, 2]].tolist() == clean.tokens[[0, 2]].tolist()


def test_what_the_model_itself_rules_out_is_never_picked() -> None:
    """A logit of -inf is a probability of zero, and a row of nothing else has no legal token."""
    logits, rows = torch.full((2, 40), -math.inf), empty_rows(2, 40)
    logits[:, 7] = -50.0
    allow(rows[0], [4, 5, 7])
    allow(rows[1], [4, 5])
    for draw in (None, Draw(torch.ones(2), keys(2))):
        got = sample(logits.clone(), SampleArgs(40, torch.from_numpy(rows), draw=draw))
        assert got.status.tolist() == [OK, NOTHING_LEGAL]
        assert got.tokens[0] == 7


def test_a_row_without_a_legal_token_fails_alone() -> None:
    rows = empty_rows(2, 40)
    allow(rows[1], [6])
    for draw in (None, Draw(torch.ones(2), keys(2))):
        args = SampleArgs(vocab=40, masks=torch.from_numpy(rows), draw=draw, top=1)
        got = sample(randn(2, 40), args)
        assert got.status.tolist() == [NOTHING_LEGAL, OK]
        assert got.tokens[1] == 6


def test_logprobs_are_those_of_the_legal_distribution_before_anything_else() -> None:
    logits, rows = randn(2, 50), empty_rows(2, 50)
    legal = [2, 3, 30]
    allow(rows[0], legal)
    allow(rows[1], np.arange(50))
    args = SampleArgs(
        vocab=50,
        masks=torch.from_numpy(rows),
        bias=Bias(torch.tensor([0]), torch.tensor([3]), torch.tensor([100.0])),
        draw=Draw(torch.tensor([0.0, 0.7]), keys(2)),
        top=5,
    )
    got = sample(logits.clone(), args)
    assert got.tokens[0] == 3
    wide = logits.double()
    expected = wide[0, 3] - wide[0, legal].logsumexp(0)
    assert got.logprobs is not None
    assert got.top_tokens is not None
    assert got.top_logprobs is not None
    assert float(got.logprobs[0]) == pytest.approx(float(expected), abs=1e-5)
    assert set(got.top_tokens[0, :3].tolist()) == set(legal)
    assert got.top_logprobs[0, 3:].tolist() == [-math.inf] * 2
    free = wide[1].log_softmax(0)
    assert float(got.logprobs[1]) == pytest.approx(float(free[got.tokens[1]]), abs=1e-5)
    assert got.top_tokens[1].tolist() == free.topk(5).indices.tolist()


def test_the_masked_share_is_the_probability_of_illegal_tokens() -> None:
    logits, rows = randn(3, 50), empty_rows(3, 45)
    allow(rows[0], [2, 3, 30])
    allow(rows[1], np.arange(45))
    allow(rows[2], [4])
    logits[2, 5] = math.nan
    args = SampleArgs(vocab=45, masks=torch.from_numpy(rows), top=0, masked_share=True)
    assert args.legal is None  # a head computes all logits
    got = sample(logits.clone(), args).masked
    assert got is not None
    expected = 1 - logits[0, :45].double().softmax(0)[[2, 3, 30]].sum()
    assert got.tolist() == pytest.approx([float(expected), 0, 1], abs=1e-5)


def test_bias_is_added_and_ids_outside_are_ignored() -> None:
    logits = randn(2, 10)
    bias = Bias(torch.tensor([0, 1, 1]), torch.tensor([4, 2, 11]), torch.tensor([1.5, -2.0, 9.0]))
    expected = logits.clone()
    expected[0, 4] += 1.5
    expected[1, 2] -= 2.0
    assert torch.equal(reference_logits.biased(logits, bias), expected)


def test_penalties_equal_their_definitions_exactly() -> None:
    logits = torch.tensor([[2.0, -2.0, 1.0, 0.5], [2.0, -2.0, 1.0, 0.5]])
    # Row 0: token 0 in the prompt only, token 1 twice and token 2 once in the output. Row 1: no penalties.
    penalties = Penalties(
        rows=torch.tensor([0, 0, 0, 1]),
        tokens=torch.tensor([0, 1, 2, 1]),
        counts=torch.tensor([0.0, 2.0, 1.0, 1.0]),
        repetition=torch.tensor([2.0, 1.0]),
        presence=torch.tensor([0.25, 0.0]),
        frequency=torch.tensor([0.5, 0.0]),
    )
    got = penalised(logits.clone(), penalties)
    expected = [[1.0, -4.0 - 1.0 - 0.25, 0.5 - 0.5 - 0.25, 0.5], [2.0, -2.0, 1.0, 0.5]]
    assert got.tolist() == expected


@pytest.mark.parametrize("seed", range(40))
def test_truncation_keeps_what_the_definitions_keep(seed: int) -> None:
    dice = np.random.default_rng(seed)
    rows, vocab = 5, int(dice.integers(1, 60))
    logits = randn(rows, vocab, seed=seed)
    top_k = dice.choice([0, 1, 3, 20, 500], rows)
    top_p = dice.choice([1.0, 0.9, 0.5, 0.01, 0.0], rows)
    min_p = dice.choice([0.0, 0.05, 0.5, 1.0], rows)
    options = Truncation(
        torch.from_numpy(top_k), torch.from_numpy(top_p).float(), torch.from_numpy(min_p).float()
    )
    got = truncated(logits, options)
    for r in range(rows):
        kept = set(torch.nonzero(got[r] > -math.inf)[:, 0].tolist())
        assert kept == oracle_truncation(logits[r].numpy(), top_k[r], top_p[r], min_p[r])
        assert torch.equal(got[r, list(kept)], logits[r, list(kept)])


def test_ties_at_the_edge_of_a_truncation_all_stay() -> None:
    logits = torch.tensor([[1.0, 0.0, 0.0, -1.0]])
    options = Truncation(torch.tensor([2]), torch.tensor([1.0]), torch.tensor([0.0]))
    assert (truncated(logits, options) > -math.inf).tolist() == [[True, True, True, False]]


def test_masked_tokens_stay_out_of_a_truncation() -> None:
    logits = torch.tensor([[-math.inf, 2.0, -math.inf, 1.0]])
    options = Truncation(torch.tensor([3]), torch.tensor([0.999]), torch.tensor([0.0]))
    assert (truncated(logits, options) > -math.inf).tolist() == [[False, True, False, True]]


DRAWS = 20_000


@pytest.mark.parametrize(
    ("temperature", "top_k", "top_p", "min_p"),
    [
        (1.0, 0, 1.0, 0.0),
        (0.5, 0, 1.0, 0.0),
        (1.0, 4, 1.0, 0.0),
        (1.0, 0, 0.8, 0.0),
        (2.0, 0, 1.0, 0.2),
    ],
)
def test_draws_follow_the_distribution(
    temperature: float, top_k: int, top_p: float, min_p: float
) -> None:
    """Chi-square over many keys: what a hash that is not uniform, or a wrong noise, fails."""
    row = np.array([1.0, 0.5, 0.0, -0.5, -1.0, 0.7, -2.0, 0.2])
    scaled = row / temperature
    kept = sorted(oracle_truncation(scaled, top_k, top_p, min_p))
    expected = np.exp(scaled[kept]) / np.exp(scaled[kept]).sum() * DRAWS
    ones = torch.ones(DRAWS)
    got = sample(
        torch.from_numpy(row).float().expand(DRAWS, -1).clone(),
        SampleArgs(
            vocab=row.size,
            draw=Draw(ones * temperature, keys(DRAWS)),
            truncation=Truncation((ones * top_k).long(), ones * top_p, ones * min_p),
        ),
    )
    counts = np.bincount(got.tokens.numpy(), minlength=row.size)
    assert counts.sum() == counts[kept].sum() == DRAWS
    statistic = ((counts[kept] - expected) ** 2 / expected).sum()
    freedom = len(kept) - 1
    assert statistic < freedom + 5 * math.sqrt(2 * freedom) + 5


def test_neighbouring_keys_and_tokens_draw_independently() -> None:
    """Correlation of noise between keys that differ by one, and between tokens side by side."""
    at = torch.arange(2000)
    noise = gumbel(torch.stack((at, torch.zeros_like(at)), 1), torch.arange(200))
    assert float(noise.mean()) == pytest.approx(0.5772, abs=0.01)
    assert float(noise.var()) == pytest.approx(math.pi**2 / 6, abs=0.02)
    for a, b in ((noise[:-1], noise[1:]), (noise[:, :-1], noise[:, 1:])):
        pair = torch.stack((a.reshape(-1), b.reshape(-1)))
        assert abs(float(torch.corrcoef(pair)[0, 1])) < 0.01
    assert all(not torch.equal(a, b) for a, b in pairwise(noise[:50]))


def test_a_draw_depends_on_its_keys_and_not_on_its_company() -> None:
    logits, key = randn(8, 500), keys(8)
    temperature = torch.tensor([0.0, 1.0, 0.7, 1.3, 0.0, 1.0, 2.0, 0.1])
    together = sample(logits.clone(), SampleArgs(vocab=500, draw=Draw(temperature, key))).tokens
    for r in range(8):
        args = SampleArgs(vocab=500, draw=Draw(temperature[r : r + 1], key[r : r + 1]))
        assert sample(logits[r : r + 1].clone(), args).tokens[0] == together[r]
    greedy = temperature == 0
    assert torch.equal(together[greedy], logits.argmax(-1)[greedy])
    assert not torch.equal(together, logits.argmax(-1))


def test_no_legal_token_is_out_of_reach_and_none_illegal_within() -> None:
    rows = empty_rows(1, 64)
    allow(rows[0], [5, 60])
    masks = torch.from_numpy(rows).expand(400, -1)
    draw = Draw(torch.ones(400), keys(400))
    got = sample(torch.zeros(400, 64), SampleArgs(vocab=64, masks=masks, draw=draw))
    assert set(got.tokens.tolist()) == {5, 60}
