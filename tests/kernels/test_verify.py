"""Accepted drafts: the kernel, interpreted where there is no GPU, and the reference against a plain loop."""

import random
from collections.abc import Callable, Sequence

import pytest
import torch
from intaglio.kernels.drafts.verify import verify
from intaglio.kernels.reference_kernels import ReferenceKernels
from intaglio.kernels.sample import reference_logits
from intaglio.kernels.sampling_contracts import OK, Draw, SampleArgs, Truncation
from intaglio.kernels.verified import Verified

from tests.support.drafts import Drafted, accepted, answers, random_drafts

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
VOCAB = 40


def by_kernel(case: Drafted) -> Verified:
    there = case.to(DEVICE)
    return verify(there.drawn, there.given, there.starts)


def by_reference(case: Drafted) -> Verified:
    return ReferenceKernels().verify(case.drawn, case.given, case.starts)


BOTH = pytest.mark.parametrize("implementation", [by_kernel, by_reference])
Verify = Callable[[Drafted], Verified]


@BOTH
@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
@pytest.mark.parametrize(("sequences", "longest"), [(1, 3), (7, 9), (3, 80)])
def test_equals_a_plain_loop(
    sequences: int, longest: int, dtype: torch.dtype, implementation: Verify
) -> None:
    for seed in range(25):
        case = random_drafts(seed, sequences, longest, dtype)
        assert answers(implementation(case)) == accepted(case)


@BOTH
def test_what_stands_is_as_long_as_it_may_be(implementation: Verify) -> None:
    """All of many drafts, across the blocks that a program reads."""
    case = random_drafts(0, 1, 1, torch.int32)
    for rows in (1, 31, 32, 33, 64, 65):
        tokens = torch.arange(rows)
        given = torch.cat((torch.tensor([7]), tokens[:-1]))
        whole = Drafted(
            type(case.drawn)(tokens, torch.zeros(rows, dtype=torch.int64)),
            given,
            torch.tensor([0, rows]),
        )
        assert answers(implementation(whole)) == [(rows - 1, rows - 1, OK)]


def logits_after(context: Sequence[int]) -> torch.Tensor:
    """A small language: a row of logits [VOCAB] that depends on the last three tokens."""
    dice = torch.Generator().manual_seed(hash(tuple(context[-3:])) & 0xFFFF)
    return torch.randn(VOCAB, generator=dice) * 1.5


def arguments(positions: Sequence[int], temperature: float) -> SampleArgs:
    """As an engine asks: noise by seed and position."""
    ones = torch.ones(len(positions))
    keys = torch.tensor([[11, position] for position in positions])
    truncation = Truncation((ones * 20).long(), ones * 0.95, ones * 0.0)
    return SampleArgs(VOCAB, draw=Draw(ones * temperature, keys), truncation=truncation)


def plain(length: int, temperature: float) -> list[int]:
    """Tokens one after the other."""
    tokens = [1]
    while len(tokens) < length:
        row = logits_after(tokens)[None]
        tokens.append(
            int(reference_logits.sample(row, arguments([len(tokens)], temperature)).tokens)
        )
    return tokens


@BOTH
@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize("right", [0.0, 0.6, 1.0])
def test_drafts_change_no_token(right: float, temperature: float, implementation: Verify) -> None:
    """Whatever the drafts, the tokens are those without any: so their distribution is the model's."""
    dice = random.Random(5)
    expected = plain(120, temperature)
    tokens, steps = [1], 0
    while len(tokens) < len(expected):
        steps += 1
        count = len(tokens)
        hints = expected[count : count + dice.randint(0, 6)]
        drafts = [t if dice.random() < right else dice.randrange(VOCAB) for t in hints]
        given = [tokens[-1], *drafts]
        rows = torch.stack([logits_after(tokens + drafts[:i]) for i in range(len(given))])
        positions = range(count, count + len(given))
        drawn = reference_logits.sample(rows, arguments(positions, temperature))
        found = answers(
            implementation(
                Drafted(drawn, torch.tensor(given), torch.tensor([0, len(given)])),
            )
        )
        (accepted, token, status) = found[0]
        assert status == OK
        tokens += [*drafts[:accepted], token]
    assert tokens[: len(expected)] == expected
    assert (steps < 50) == (right == 1.0)
