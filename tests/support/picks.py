"""Arguments for sampling that go through all its stages, and the comparison of two answers."""

import itertools
from typing import Any

import numpy as np
import torch
from intaglio.grammar.api import allow, empty_rows
from intaglio.kernels.sampling_contracts import (
    OK,
    Bias,
    Draw,
    Penalties,
    SampleArgs,
    Sampled,
    Truncation,
)


def on_device(args: SampleArgs, device: str = "cuda") -> SampleArgs:
    """A copy whose tensors are on `device`."""

    def moved(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return value.to(device)
        if value is None or isinstance(value, int):
            return value
        fields = {name: moved(getattr(value, name)) for name in value.__dataclass_fields__}
        return type(value)(**fields)

    result = moved(args)
    assert isinstance(result, SampleArgs)
    return result


def cases(vocab: int, seed: int, rows: int) -> list[SampleArgs]:
    """Arguments for `rows` rows: every stage alone and all of them together."""
    dice = np.random.default_rng(seed)
    masks = empty_rows(rows, vocab)
    for row, share in zip(masks, itertools.cycle((0.5, 1.0, 0.01, 0.0)), strict=False):
        allow(row, np.flatnonzero(dice.random(vocab) < share))
    temperature = torch.from_numpy(dice.choice([0.0, 1.0, 0.7, 1.5], rows)).float()
    draw = Draw(temperature, torch.from_numpy(dice.integers(0, 2**32, (rows, 2))))
    truncation = Truncation(
        torch.from_numpy(dice.choice([0, 1, 5, 50, vocab], rows)),
        torch.from_numpy(dice.choice([1.0, 0.9, 0.3, 0.0], rows)).float(),
        torch.from_numpy(dice.choice([0.0, 0.1, 1.0], rows)).float(),
    )
    pairs = np.unique(
        np.stack((dice.integers(0, rows, 300), dice.integers(0, vocab + 2, 300))), axis=1
    )
    owners, tokens = torch.from_numpy(pairs[0]), torch.from_numpy(pairs[1])
    bias = Bias(owners, tokens, torch.from_numpy(dice.normal(0, 3, len(owners))).float())
    penalties = Penalties(
        owners,
        tokens,
        torch.from_numpy(dice.integers(0, 4, len(owners))).float(),
        torch.from_numpy(dice.choice([1.0, 1.3], rows)).float(),
        torch.from_numpy(dice.choice([0.0, 0.5], rows)).float(),
        torch.from_numpy(dice.choice([0.0, 0.2], rows)).float(),
    )
    mask = torch.from_numpy(masks)
    which = torch.from_numpy(dice.integers(-1, rows, rows).astype(np.int32))
    return [
        SampleArgs(vocab),
        SampleArgs(vocab, mask),
        SampleArgs(vocab, mask, draw=draw),
        SampleArgs(vocab, mask, which, draw=draw, top=5),
        SampleArgs(vocab, mask, which, draw=draw, truncation=truncation, top=1),
        SampleArgs(vocab, mask, bias=bias, penalties=penalties, top=3),
        SampleArgs(vocab, mask, which, bias, penalties, draw, truncation, top=3),
    ]


def compare(got: Sampled, expected: Sampled) -> None:
    ok = expected.status == OK
    assert torch.equal(got.status.cpu(), expected.status)
    assert torch.equal(got.tokens.cpu()[ok], expected.tokens[ok])
    for name in ("logprobs", "top_logprobs"):
        mine, theirs = getattr(got, name), getattr(expected, name)
        assert (mine is None) == (theirs is None)
        if theirs is not None:
            torch.testing.assert_close(mine.cpu()[ok], theirs[ok], atol=2e-5, rtol=1e-5)
